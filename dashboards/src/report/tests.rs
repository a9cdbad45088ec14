//! Tests of the whole report, on small, large and hostile documents.

use serde_json::{Value, json};

use super::{Document, PLOTS, html, plain, svg};

/// Creates a run with all data that a plot may need; times are scaled to `seconds`.
fn run(strategy: &str, seed: u64, seconds: f64) -> Value {
    let series: Vec<Value> = (0..100)
        .map(|index| {
            let window = f64::from(10 + (index + i32::try_from(seed).unwrap()) % 50);
            json!({
                "t_s": f64::from(index) * seconds / 100.0, "sent": index % 7 * 10, "succeeded": index % 5 * 10,
                "rejected": index % 3, "failed": 0, "in_flight": window - 1.0, "window": window,
                "ssthresh": if index < 20 { 1024.0 } else { 30.0 }, "server_cap": 50.0,
            })
        })
        .collect();
    json!({
        "schema_version": 1, "mode": "simulated", "strategy": strategy, "seed": seed,
        "config": { "version": "0.1.0", "command_line": ["--simulate", "--strategy", strategy],
                    "workload": { "ops": 2000, "clients": 1 } },
        "ops": { "total": 2000, "succeeded": 2000, "given_up": 0, "unfinished": 0 },
        "attempts": { "total": 2000 + seed, "rejected": seed }, "amplification": 1.1, "efficiency": 0.9,
        "makespan_s": seconds, "makespan_complete": true, "optimal_makespan_s": seconds * 0.8,
        "op_latency_ms": { "count": 2000, "min": 1.0, "p50": 100.0 * seconds, "p75": 200.0 * seconds,
                           "p90": 300.0 * seconds, "p95": 310.0 * seconds, "p99": 320.0 * seconds,
                           "p999": 330.0 * seconds, "max": 340.0 * seconds },
        "stalled_at_s": null, "warnings": [], "series": series,
    })
}

fn document(runs: &[Value]) -> Document {
    Document::read(&[("a.json".to_owned(), json!({ "runs": runs }).to_string())]).unwrap()
}

fn places(svg: &str) -> Vec<f64> {
    let paths = svg.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"));
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-';
    paths
        .flat_map(|path| path.split(|letter| !is_number(letter)).filter(|text| !text.is_empty()).map(number))
        .collect()
}

#[test]
fn every_figure_fits_its_frame_from_20_ms_to_ten_minutes() {
    for seconds in [0.02, 1.0, 25.0, 600.0] {
        let runs = ["aimd", "full-jitter"].into_iter().flat_map(|name| (1..=6).map(move |seed| (name, seed)));
        let document = document(&runs.map(|(name, seed)| run(name, seed, seconds)).collect::<Vec<_>>());
        let mut drawn = 0;
        for entry in PLOTS {
            let plots = (entry.draw)(&document);
            drawn += plots.len();
            let svg = svg(&plots);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{} {seconds}", entry.name);
            assert!(
                places(&svg).iter().all(|place| (-12.0..=480.0).contains(place)),
                "{} {seconds}",
                entry.name
            );
            let text = plain(&plots, 80);
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{}\n{text}", entry.name);
        }
        assert!(drawn >= 9, "{drawn} plots of {seconds} s");
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let mut foreign = run("aimd", 1, 25.0);
    foreign["config"]["target"] = json!("https://api.example.com/v1");
    foreign["warnings"] = json!(["see http://example.com/"]);
    let page = html(&document(&[foreign, run("none", 1, 20.0)]));
    assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"));
    for attribute in ["src=", "href=", "url(", "@import"] {
        for rest in page.split(attribute).skip(1) {
            let value: String = rest.chars().take_while(|letter| *letter != '>').collect();
            assert!(!value.contains("http://") && !value.contains("https://"), "{attribute} {value:.80}");
            assert!(attribute == "href=" && value.starts_with("'data:"), "{attribute} {value:.80}");
        }
    }
    assert!(!page.contains(" style=") && page.matches("<script").count() == 1);
}

#[test]
fn what_others_wrote_stays_text() {
    let name = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}";
    let mut hostile = run(name, 1, 5.0);
    hostile["warnings"] = json!([name]);
    hostile["config"]["command_line"] = json!([name]);
    hostile[name] = json!(name);
    let cells = [1, 2].map(|ops| {
        json!({
            "experiment": name, "label": name, "strategy": name, "at": { "ops": ops, name: name },
            "figures": { "attempts.total": { "mean": ops }, name: { "mean": ops } },
        })
    });
    let mut drawn = run("none", 1, 5.0);
    drawn["label"] = json!(name);
    drawn["series"] = json!(null);
    drawn["calls"] = json!({ "every": 1, "t_s": [0.0, 1.0], "op": [0, 1] });
    let scenario = json!({ "scenarios": [{
        "name": name, "claims": [{ "says": name, "ours": name, "published": name, "verdict": "holds" }],
        "cells": cells, "title": name, "about": name, "source": name,
    }, {
        "name": name, "seed": 1, "claims": [{ "says": name, "ours": name, "published": name, "verdict": "holds", "note": name }],
        "cells": cells, "title": name, "about": name, "source": name, "plots": [
            { "name": name, "draw": "calls", "title": name, "shows": name, "note": name, "claims": [0], "runs": [drawn] },
            { "name": name, "draw": "summary", "title": name, "cells": [0, 1], "time_unit": { "s": 1, "name": name },
              "columns": [{ "title": name, "figure": "attempts.total" }] },
        ],
    }] });
    let compared =
        json!({ "runs": [hostile, run("none", 2, 6.0)], "comparison": { "pairs": [{ "words": name }] } });
    let files = [("a".to_owned(), compared.to_string()), ("b".to_owned(), scenario.to_string())];
    let document = Document::read(&files).unwrap();
    let svgs: String = PLOTS.iter().map(|entry| svg(&(entry.draw)(&document))).collect();
    for text in [html(&document), svgs] {
        assert!(!text.contains("<img") && !text.contains("alert(1)</script>") && !text.contains('\u{202e}'));
        assert!(text.matches("<script").count() <= 1);
    }
}

#[test]
fn a_report_contains_what_its_file_has_and_nothing_else() {
    let mut later = run("aimd", 1, 5.0);
    later["config"]["novel"] = json!({ "of": "a later version" });
    let page = html(&document(&[later.clone()]));
    assert!(
        page.contains("  &quot;novel&quot;: {\n    &quot;of&quot;: &quot;a later version&quot;\n  },"),
        "{page}"
    );
    assert!(!page.contains("warm_up"), "an earlier version did not know it");
    let links: Vec<&str> = page.split("href='data:application/json;charset=utf-8,").collect();
    assert_eq!(links.len(), 2);
    let whole = json!({ "runs": [later] }).to_string().replace(' ', "%20");
    assert!(links[1].starts_with(&whole), "{:.300}", links[1]);
}

#[test]
fn strange_numbers_draw_nothing_strange() {
    let mut strange = run("aimd", 1, 1.0);
    strange["makespan_s"] = json!(-5);
    strange["series"] =
        json!([{ "t_s": 0, "sent": u32::MAX }, { "t_s": 1e-9, "sent": 0, "window": 1e14 }, { "t_s": 1e14 }]);
    strange["op_latency_ms"] = json!({ "count": 0, "max": 1e14 });
    let mut empty = run("none", 1, 1.0);
    empty["series"] = json!([]);
    empty["ops"] = json!({ "total": 0, "succeeded": 0, "given_up": 0 });
    empty["makespan_complete"] = json!(false);
    for runs in [vec![strange.clone()], vec![empty.clone()], vec![strange, empty]] {
        let page = html(&document(&runs));
        assert!(!page.contains("NaN"), "{page}");
    }
}

#[test]
fn a_report_of_150_runs_is_small() {
    let names = ["aimd", "exponential", "full-jitter", "none", "constant"];
    let runs = names.into_iter().flat_map(|name| (1..=30).map(move |seed| run(name, seed, 30.0)));
    let size = html(&document(&runs.collect::<Vec<_>>())).len();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn the_table_is_ranked_and_a_shared_command_appears_once() {
    let compared = |strategy, seconds| {
        let mut run = run(strategy, 1, seconds);
        run["config"]["command_line"] = json!(["compare", "--strategies", "none,aimd"]);
        run
    };
    let page = html(&document(&[compared("none", 50.0), compared("aimd", 25.0)]));
    let place = |name: &str| page.find(&format!("<td><code>{name}</code>")).unwrap();
    assert!(place("aimd") < place("none"));
    assert_eq!(page.matches("loadgen compare --strategies none,aimd</pre>").count(), 1);
}

#[test]
fn an_oscillating_window_is_drawn_as_its_mean_and_range() {
    let mut long = run("aimd", 1, 600.0);
    let points = (0..600).map(|second| {
        json!({ "t_s": second, "sent": 1, "succeeded": 1, "rejected": 0, "failed": 0, "in_flight": 40,
                "window": if second % 2 == 0 { 45.0 } else { 55.0 }, "server_cap": 50.0 })
    });
    long["series"] = points.collect();
    let plots = (super::Entry::named("window").unwrap().draw)(&document(&[long]));
    let window = plots[0].series.iter().find(|series| series.label == "window").unwrap();
    assert_eq!((window.points.len(), window.points[50].1), (100, 50.0));
    assert_eq!((window.band[50].1, window.band[50].2), (45.0, 55.0));
    let cap = plots[0].series.iter().find(|series| series.label == "server's cap").unwrap();
    assert!(cap.band.is_empty() && plots[0].note.contains("means over 6 s"), "{}", plots[0].note);
}

/// In both forms of a series: lists of points, and compact columns.
#[test]
fn gauges_of_a_strategy_get_their_own_plots() {
    let mut whole = run("bucket", 1, 3.0);
    let point = |t_s: f64| {
        json!({ "t_s": t_s, "sent": 1, "succeeded": 1, "rejected": 0,
                "gauges": [{ "name": "tokens", "unit": "", "value": 10.0 - t_s },
                           { "name": "rate", "unit": "per s", "value": if t_s > 0.0 { Some(t_s) } else { None } }] })
    };
    whole["series"] = [0.0, 1.0, 2.0].map(point).into_iter().collect();
    let mut compact = whole.clone();
    compact["series"] = json!({ "step_s": 1.0, "sent": [1, 1, 1], "gauges": [
        { "name": "tokens", "unit": "", "values": [10.0, 9.0, 8.0] },
        { "name": "rate", "unit": "per s", "values": [null, 1.0, 2.0] },
    ] });
    compact["label"] = json!("bucket");
    let kept = json!({ "scenarios": [{ "name": "kept", "plots": [
        { "name": "course", "draw": "window", "title": "Window", "runs": [compact] },
    ] }] });
    let kept = Document::read(&[("b.json".to_owned(), kept.to_string())]).unwrap();
    let whole = (super::Entry::named("window").unwrap().draw)(&document(&[whole]));
    for plots in [whole, super::plots_named(&kept, "course")] {
        let tokens = plots.iter().find(|plot| plot.title == "Tokens over time").unwrap();
        assert_eq!(tokens.series[0].points, [(0.0, 10.0), (1.0, 9.0), (2.0, 8.0)]);
        let rate = plots.iter().find(|plot| plot.title == "Rate over time").unwrap();
        assert_eq!(
            (rate.y.label.as_str(), &rate.series[0].points[1..]),
            ("rate (per s)", &[(1.0, 1.0), (2.0, 2.0)][..])
        );
        assert!(rate.series[0].points[0].1.is_nan());
    }
}

fn headline(document: &Document) -> String {
    // Numbers contain non-breaking spaces.
    let page = html(document).replace('\u{a0}', " ");
    page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap().to_owned()
}

fn ranking(document: &Document) -> Vec<(String, String)> {
    let page = html(document);
    let rows = page.split("<table class=\"ranking\">").nth(1).unwrap().split("</table>").next().unwrap();
    let rows = rows.split("<tbody>").nth(1).unwrap().split("<tr").skip(1);
    let row = |row: &str| {
        let mark = row.split("<td>").nth(1)?.split('<').next()?;
        let name = row.split("<code>").nth(1)?.split('<').next()?;
        Some((mark.to_owned(), name.to_owned()))
    };
    rows.filter_map(row).collect()
}

#[test]
fn the_answer_is_the_heading_above_stopped_strategies() {
    let stalled = |seed| {
        let mut stalled = run("immediate", seed, 0.6);
        stalled["ops"] = json!({ "total": 2000, "succeeded": 50, "given_up": 0 });
        stalled["makespan_complete"] = json!(false);
        stalled["stalled_at_s"] = json!(60.0);
        stalled["share_is_lower_bound"] = json!(true);
        stalled
    };
    let runs = (1_u32..=6).flat_map(|seed| {
        let drift = f64::from(seed) / 100.0;
        [
            run("oracle", seed.into(), 20.0),
            stalled(seed.into()),
            run("full-jitter", seed.into(), 50.0 + drift),
            run("aimd", seed.into(), 25.0 - drift),
        ]
    });
    let document = document(&runs.collect::<Vec<_>>());
    assert_eq!(
        headline(&document),
        "<code>aimd</code> finished first: 25.0 s, 2.00× sooner than <code>full-jitter</code> (2.00–2.01)."
    );
    let page = html(&document).replace('\u{a0}', " ");
    let below = "<p class=\"incomplete\">Incomplete: <code>immediate</code> stalled in every run: ≥ 2.50 % of its ops that arrived succeeded.</p>";
    assert!(page.contains(below), "{page}");
    let rows = ranking(&document);
    let rows: Vec<(&str, &str)> = rows.iter().map(|(mark, name)| (mark.as_str(), name.as_str())).collect();
    assert_eq!(rows, [("1", "aimd"), ("2", "full-jitter"), ("!", "immediate"), ("*", "oracle")]);
    // Legends and pictures are in the same order.
    let labels: Vec<&str> = document.strategies.iter().map(|strategy| strategy.label.as_str()).collect();
    assert_eq!(labels, ["aimd", "full-jitter", "immediate", "oracle"]);
}

#[test]
fn strategies_are_compared_over_the_seeds_that_all_of_them_have() {
    let runs = [run("aimd", 1, 20.0), run("aimd", 2, 10.0), run("none", 2, 15.0), run("none", 3, 5.0)];
    let shared = document(&runs);
    assert_eq!(
        headline(&shared),
        "<code>aimd</code> finished first in the only run: 10.0 s; next <code>none</code>, 15.0 s."
    );
    assert!(document(&[run("aimd", 1, 20.0), run("none", 2, 15.0)]).ranking.is_none());
}

#[test]
fn strategies_that_give_up_are_ranked_by_their_share() {
    let gives_up = |name: &str, succeeded: u64| {
        let mut run = run(name, 1, 0.6);
        run["ops"] = json!({ "total": 2000, "succeeded": succeeded, "given_up": 2000 - succeeded });
        run["makespan_complete"] = json!(false);
        run
    };
    let runs =
        vec![gives_up("none", 400), gives_up("preset", 1000), run("aimd", 1, 25.0), run("oracle", 1, 20.0)];
    let some_undone = document(&runs);
    assert_eq!(headline(&some_undone), "<code>aimd</code> finished first in the only run: 25.0 s.");
    let names: Vec<String> = ranking(&some_undone).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["aimd", "preset", "none", "oracle"]);
    assert!(html(&some_undone).contains("makespans are compared only among strategies that did every op"));
    let plots = (super::Entry::named("share").unwrap().draw)(&some_undone);
    assert_eq!(plots[0].title, "Attempts per success against ops done");
    let front = plots[0].series.last().unwrap();
    assert_eq!(
        (front.label.as_str(), front.points.as_slice()),
        ("Pareto front of means", &[(100.0, 1.0005)][..])
    );
    let all_done = document(&runs[2..]);
    assert!((super::Entry::named("share").unwrap().draw)(&all_done).is_empty());
}

/// The comparison at the top of the README has 17 runs with ops that were unfinished, and four strategies with 500 ms a success.
#[test]
fn equal_warnings_and_equal_values_are_said_once_for_a_strategy_and_for_a_plot() {
    let unfinished = |name: &str, seed: u64, ops: u64, work_ms: f64| {
        let mut run = run(name, seed, 20.0);
        run["ops"] = json!({ "total": 2000, "succeeded": 2000 - ops, "given_up": ops });
        run["makespan_complete"] = json!(false);
        run["server_work_per_success_ms"] = json!(work_ms);
        run["warnings"] = json!([format!("{ops} ops were unfinished")]);
        run
    };
    let page = |last_ms: f64| {
        let mut runs: Vec<Value> = (1..=9).map(|seed| unfinished("aimd", seed, 10 * seed, 500.0)).collect();
        runs.extend((1..=9).map(|seed| unfinished("none", seed, 20 * seed, last_ms)));
        html(&document(&runs))
    };
    let one = page(500.3);
    let list = one.split_once("<ul class=\"warnings\">").unwrap().1.split_once("</ul>").unwrap().0;
    assert_eq!(list.matches("<li>").count(), 2, "{list}");
    assert!(
        list.contains("10–90 ops were unfinished") && list.contains("20–180 ops were unfinished"),
        "{list}"
    );
    let heading = "<h3>Server time per success";
    let left_out = |page: &str| {
        let sentence = page.split_once("all strategies have one value: ").map_or("", |(_, rest)| rest);
        sentence
            .split('<')
            .next()
            .unwrap_or_default()
            .contains("Server time per success against ops done (500 ms)")
    };
    assert!(left_out(&one) && !one.contains(heading));
    let two = page(501.0);
    assert!(!left_out(&two) && two.contains(heading));
}

#[test]
fn of_many_strategies_those_on_the_pareto_front_are_named() {
    let gives_up = |index: u64| {
        let mut run = run(&format!("s{index}"), 1, 0.6);
        // All send the same number of attempts, so the strategy that does most ops needs the fewest for each.
        run["ops"] = json!({ "total": 2000, "succeeded": 1000 + index, "given_up": 1000 - index });
        run["makespan_complete"] = json!(false);
        run
    };
    let document = document(&(0..20).map(|index| gives_up(index * 10)).collect::<Vec<_>>());
    let plots = (super::Entry::named("share").unwrap().draw)(&document);
    let labels: Vec<&str> = plots[0].series.iter().map(|series| series.label.as_str()).collect();
    assert_eq!(labels, ["Pareto front of means", "19 others", "s190"]);
}

/// A strategy with an oracle in any part never wins.
#[test]
fn the_headline_is_ranked_by_the_figure_of_the_comparison() {
    let mut runs = ["fixed-window:window=60+oracle", "aimd", "none"].map(|name| run(name, 1, 20.0));
    runs[1]["attempts"]["total"] = json!(3000);
    runs[1]["makespan_s"] = json!(10.0);
    let by = |path: &str| {
        let compared = json!({ "runs": runs, "comparison": { "by": path } });
        headline(&Document::read(&[("a.json".to_owned(), compared.to_string())]).unwrap())
    };
    assert!(by("attempts.total").starts_with("<code>none</code> needed fewest attempts"));
    assert!(by("makespan_s").starts_with("<code>aimd</code> finished first"));
    // Older documents have no ranking.
    assert!(headline(&document(&runs)).starts_with("<code>aimd</code> finished first"));
}

#[test]
fn one_strategy_is_answered_with_its_time_and_its_lower_bound() {
    let runs = [(10.0, 5.0), (30.0, 30.0)].map(|(seconds, bound)| {
        let mut run = run("aimd", 1, seconds);
        run["optimal_makespan_s"] = json!(bound);
        run
    });
    let document = document(&runs);
    let expected = "<code>aimd</code>: all 2 000 ops done in 20.0 s (no client can be faster than 17.5 s).";
    assert_eq!(headline(&document), expected);
    // Mean of 100 % and 0 % above the bound; a ratio of means would be 20 / 17.5.
    assert!(html(&document).contains("<th>over the lower bound</th><td>50.0 %</td>"));
}

#[test]
fn several_configurations_are_shown_once_with_differences() {
    let with = |name: &str, attempts: &str| {
        let mut run = run(name, 1, 20.0);
        run["config"]["max_attempts"] = json!(attempts);
        run["config"]["strategy"] = json!([{ "name": name, "parameters": { "beta": "0.5" } }]);
        run
    };
    let page = html(&document(&[with("aimd", "unlimited"), with("none", "3")]));
    assert_eq!(page.matches("<details class=\"config\">").count(), 1);
    assert!(page.contains("<dt><code>none</code></dt><dd>none beta=0.5; max_attempts 3</dd>"), "{page}");
}
