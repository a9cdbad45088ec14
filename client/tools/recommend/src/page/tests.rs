//! Tests of the page of a recommendation, on small and hostile documents.

use serde_json::{Value, json};

use crate::page::page;
use crate::page::rows::rows;

const TODAY: usize = 0;

fn candidate(changes: &[&str], excess: &[Option<f64>]) -> Value {
    let worst = excess.iter().copied().try_fold(0.0_f64, |worst, excess| Some(worst.max(excess?)));
    json!({
        "strategy": "none", "in_flight": 20, "changes": changes, "by_code": false, "eligible": true,
        "excess_points": excess, "worst_excess_points": worst,
        "undone": excess.iter().map(|excess| excess.map(|points| points / 100.0)).collect::<Vec<_>>(),
        "cost": excess,
    })
}

fn by_code(strategy: &str, excess: &[Option<f64>]) -> Value {
    let mut setting = candidate(&[strategy], excess);
    setting["by_code"] = json!(true);
    setting["eligible"] = json!(false);
    setting
}

/// Creates a document of two servers and these candidates, the first of which is today's setting.
fn document(candidates: &[Value], chosen: usize) -> crate::recommendation::Recommendation {
    let run = json!({ "candidate": 0, "ops_succeeded": 9, "done_share": 0.9, "makespan_s": 2.0, "attempts": 10,
                      "attempts_per_success": 1.1 });
    let figures = json!({ "undone": 0.1, "least_undone": 0.1, "most_undone": 0.1, "makespan_s": 2.0,
                          "attempts_per_success": null, "rejected_per_100_ops": 3.0 });
    let document = json!({
        "schema_version": 1, "decision": if chosen == TODAY { "keep" } else { "change" }, "goal": "finish",
        "settings": [], "today": TODAY, "chosen": chosen,
        "assumptions": [{ "key": "service-time", "nominal": "2s", "plausible": "1s..6s", "assumed": true }],
        "servers": [{ "changes": {}, "drawn": false },
                    { "changes": { "service-time": "6s", "requests.own": "no" }, "drawn": true }],
        "candidates": candidates,
        "nominal": { "seed": 1, "today": run, "other": null },
        "fresh": { "other": chosen, "seeds": 4, "servers": [], "today": figures, "of_other": figures, "points": 0.0,
                   "points_low": 0.0, "points_high": 0.0, "cost_ratio": 1.0, "better": 0, "same": 0, "worse": [] },
        "look_ups": [], "search_attempts": 1_596_060, "left_out": { "servers": 0, "candidates": 2 },
        "again": "loadgen compare",
    });
    serde_json::from_value(document).unwrap()
}

fn several() -> crate::recommendation::Recommendation {
    let candidates = [
        candidate(&[], &[Some(0.0), Some(90.0)]),
        by_code("none+aimd", &[Some(0.0), Some(0.5)]),
        candidate(&["5 workers"], &[Some(12.0), None]),
        candidate(&["retries=9", "2 workers"], &[Some(30.0), Some(1.0)]),
        candidate(&["2 workers"], &[Some(0.0), Some(35.2)]),
        candidate(&["retries=9"], &[Some(0.0), Some(0.2)]),
    ];
    document(&candidates, 4)
}

fn lines() -> Vec<(&'static str, String)> {
    let line = |label, words: &str| (label, words.to_owned());
    vec![
        line("Set", "2 workers"),
        line("Undone", "today 45 %"),
        line("", "44 points less"),
        line("Again", "loadgen compare"),
    ]
}

#[test]
fn the_answer_is_a_heading_and_a_list() {
    let mut document = several();
    document.library_settings = Some("OpenAI(\n)".to_owned());
    let page = page(&document, &lines());
    assert!(page.contains("<h1>Set 2 workers.</h1>"), "{page}");
    assert!(page.contains("<dt>Undone</dt><dd><div>today 45 %</div><div>44 points less</div></dd>"));
    assert!(page.contains("<dt>Again</dt><dd><pre class=\"command\">loadgen compare</pre></dd>"));
    assert!(page.contains("<pre>OpenAI(\n)</pre>"));
    assert!(page.contains("6 settings on 2 servers, with 1 596 060 attempts"));
    assert!(page.contains("left out 2 settings, because"), "{page}");
}

#[test]
fn texts_of_the_document_stay_text() {
    let name = "</svg><script>alert(1)</script>\"'><img src=x>\u{202e}";
    let mut hostile = several();
    for candidate in &mut hostile.candidates {
        candidate.strategy = name.to_owned();
        candidate.changes = vec![name.to_owned(); 3];
    }
    hostile.servers[1].changes.insert(name.to_owned(), name.to_owned());
    hostile.assumptions[0].key = name.to_owned();
    hostile.assumptions[0].plausible = name.to_owned();
    let lines = [("Set", name.to_owned()), ("Again", name.to_owned())];
    hostile.library_settings = Some(name.to_owned());
    let page = page(&hostile, &lines);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{202e}'), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("</svg>").count(), 1);
}

#[test]
fn the_page_loads_and_runs_nothing() {
    let page = page(&several(), &lines());
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    assert!(page.contains(policy), "{page}");
    assert!(
        !page.contains("src=")
            && !page.contains("href=")
            && !page.contains("url(")
            && !page.contains(" style=")
    );
}

#[test]
fn every_known_excess_is_one_mark() {
    let page = page(&several(), &lines());
    assert_eq!(page.matches("class=\"dot").count(), 11);
    assert!(page.contains("<title>requests.own=no, service-time=6s: 35.2 points</title>"), "{page}");
    assert!(page.contains("<title>nominal server: 12 points</title>"), "{page}");
    assert_eq!(page.matches("class=\"dot ring\"").count(), 2);
}

#[test]
fn rows_are_ordered_by_their_group_and_their_worst_excess() {
    let document = several();
    let rows = rows(&document);
    let rows: Vec<(String, String)> = rows.iter().map(|row| (row.setting.name(), row.marks())).collect();
    let rows: Vec<(&str, &str)> = rows.iter().map(|(name, marks)| (name.as_str(), marks.as_str())).collect();
    let expected = [
        ("2 workers", "chosen"),
        ("today's setting", ""),
        ("retries=9", ""),
        ("retries=9 and 2 workers", ""),
        ("5 workers", "dropped after 1 of 2 servers"),
        ("none+aimd", "needs code"),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_setting_that_was_dropped_has_a_lower_bound_of_its_worst_excess() {
    let document = several();
    let worst: Vec<String> = rows(&document).iter().map(crate::page::rows::Row::worst_text).collect();
    assert_eq!(worst, ["35.2", "90", "0.200", "30", "≥ 12", "0.500"]);
}

#[test]
fn a_setting_that_is_kept_has_no_rings() {
    let document = document(&[candidate(&[], &[Some(0.0), Some(0.0)])], TODAY);
    let page = page(&document, &[("Keep", "none with 20 workers".to_owned())]);
    assert!(page.contains("<h1>Keep none with 20 workers.</h1>"), "{page}");
    assert!(page.contains("today's setting – chosen</text>"), "{page}");
    assert!(page.contains("today's setting, which is kept") && !page.contains("Rings"));
    assert!(!page.contains("class=\"dot ring\"") && !page.contains("NaN"));
}

#[test]
fn a_long_label_is_cut_but_keeps_its_marks() {
    let long = ["word"; 60].join(" ");
    let document = document(&[candidate(&[], &[Some(0.0)]), by_code(&long, &[Some(0.0)])], TODAY);
    let page = page(&document, &lines());
    assert!(page.contains("… needs code</text>"), "{page}");
    assert!(
        page.contains(&format!("<title>{long} – needs code</title>"))
            && page.contains(&format!("<td>{long}"))
    );
}

#[test]
fn a_picture_has_at_most_45_rows() {
    let other = |index: usize| candidate(&[&format!("{index} workers")], &[Some(index as f64), Some(0.0)]);
    let candidates: Vec<Value> =
        std::iter::once(candidate(&[], &[Some(0.0), Some(0.0)])).chain((1..50).map(other)).collect();
    let page = page(&document(&candidates, TODAY), &lines());
    assert_eq!(page.matches("class=\"dot").count(), 90);
    assert!(
        page.contains("The table has 5 more settings.") && page.contains("<td>49 workers</td>"),
        "{page}"
    );
}

#[test]
fn a_document_without_servers_draws_nothing_strange() {
    let mut document = document(&[candidate(&[], &[])], TODAY);
    (document.servers, document.assumptions) = (Vec::new(), Vec::new());
    let page = page(&document, &[]);
    assert!(page.contains("<h1>Keep today's setting.</h1>") && !page.contains("NaN"), "{page}");
}

#[test]
fn the_same_document_is_the_same_page() {
    assert_eq!(page(&several(), &lines()), page(&several(), &lines()));
}
