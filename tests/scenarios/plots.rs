//! Plots of the built-in scenarios: all have data, and show the effects that their sources describe.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "small counts are exact"
)]

use std::sync::LazyLock;

use reproduce::scenario::EMBEDDED;
use serde_json::Value;

use crate::support::{built_in, reproduce_text, scenario_of};

static ALL: LazyLock<Vec<Value>> =
    LazyLock::new(|| EMBEDDED.iter().map(|(name, _)| scenario_of(built_in(name))).collect());

fn scenarios() -> impl Iterator<Item = &'static Value> {
    ALL.iter()
}

fn plot(scenario: &str, name: &str) -> &'static Value {
    let scenario = scenarios().find(|one| one["name"] == scenario).unwrap();
    let mut plots = scenario["plots"].as_array().unwrap().iter();
    plots.find(|plot| plot["name"] == name).unwrap_or_else(|| panic!("no plot {name}"))
}

fn run<'a>(plot: &'a Value, label: &str) -> &'a Value {
    plot["runs"].as_array().unwrap().iter().find(|run| run["label"] == label).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

fn between(series: &Value, key: &str, from_s: f64, to_s: f64) -> f64 {
    let step_s = series["step_s"].as_f64().unwrap();
    let at = |index: usize| index as f64 * step_s;
    let counts = numbers(&series[key]);
    counts
        .iter()
        .enumerate()
        .filter(|(index, _)| (from_s..to_s).contains(&at(*index)))
        .map(|(_, count)| count)
        .sum()
}

/// Returns half the mean squared difference of neighbouring counts, divided by the mean count: about 1 for random calls, even if their rate
/// changes slowly, and far more if they cluster.
fn clustering(times_s: &[f64], from_s: f64, to_s: f64, step_s: f64) -> f64 {
    let mut counts = vec![0.0; ((to_s - from_s) / step_s).round() as usize];
    for at in times_s.iter().filter(|at| (from_s..to_s).contains(*at)) {
        let last = counts.len() - 1;
        counts[(((at - from_s) / step_s) as usize).min(last)] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let pairs = counts.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0]) / 2.0);
    pairs.sum::<f64>() / (counts.len() - 1) as f64 / mean
}

#[test]
fn every_figure_of_every_scenario_has_all_that_it_is_drawn_from() {
    let mut figures = 0;
    for scenario in scenarios() {
        let cells = scenario["cells"].as_array().unwrap();
        for plot in scenario["plots"].as_array().unwrap() {
            figures += 1;
            let told = format!("{} {}", scenario["name"], plot["name"]);
            let said = ["shows", "note"].iter().any(|key| !plot[key].as_str().unwrap().is_empty());
            assert!(said, "{told} says nothing");
            match plot["runs"].as_array() {
                None => {
                    let own: Vec<u64> =
                        plot["cells"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
                    let there =
                        own.iter().all(|cell| cells[usize::try_from(*cell).unwrap()]["figures"].is_object());
                    assert!(own.len() > 1 && there, "{told}");
                }
                Some(runs) => {
                    assert!(!runs.is_empty(), "{told}");
                    for run in runs {
                        let kept = ["series", "calls", "clients", "steps", "waits"].map(|key| &run[key]);
                        assert_eq!(kept.iter().filter(|value| !value.is_null()).count(), 1, "{told}");
                        assert!(
                            kept.iter().all(|value| value.to_string().len() < 100_000),
                            "{told} is large"
                        );
                    }
                }
            }
        }
    }
    assert!(figures >= 40, "{figures}");
}

#[test]
fn every_claim_that_a_figure_could_show_stands_beside_one() {
    for scenario in scenarios() {
        let claims = scenario["claims"].as_array().unwrap().len();
        let plots = scenario["plots"].as_array().unwrap();
        let shown: usize = plots.iter().map(|plot| plot["claims"].as_array().unwrap().len()).sum();
        assert!(shown + 3 >= claims && shown <= claims, "{}: {shown} of {claims}", scenario["name"]);
    }
}

#[test]
fn exponential_backoff_floods_the_server_at_first() {
    let rate = &run(plot("sync-musings", "request-rate-log"), "exponential")["series"];
    assert!(between(rate, "sent", 1.0, 3.0) > 6000.0, "thousands per second");
    assert!(between(rate, "succeeded", 1.0, 3.0) < 3.0, "essentially none");
    assert!(between(rate, "succeeded", 5.0, 15.0) > 800.0, "then the server works");
    let calm = &run(plot("sync-musings", "aimd-rate"), "aimd")["series"];
    assert!(between(calm, "rejected", 4.0, 25.0) < 40.0 && between(calm, "succeeded", 4.0, 24.0) > 1500.0);
}

#[test]
fn the_window_stays_near_the_cap_with_0_9_and_swings_with_0_5() {
    let course = |name, label| {
        let series = &run(plot("sync-musings", name), label)["series"];
        let window = numbers(&series["window"]);
        let settled = &window[window.len() / 5..window.len() * 9 / 10];
        settled.iter().fold((f64::MAX, 0.0_f64), |(low, high), window| (low.min(*window), high.max(*window)))
    };
    let ((low, high), (lower, higher)) = (course("window-09", "aimd"), course("window-05", "aimd 0.5"));
    assert!(low > 40.0 && high < 56.0, "{low} {high}");
    assert!(lower < 30.0 && higher > 45.0, "{lower} {higher}");
    let (lowest, _) = course("window-tahoe", "tahoe 0.5");
    assert!(lowest <= 20.0, "back to the initial value: {lowest}");
}

#[test]
fn calls_cluster_without_jitter_and_not_with_full_jitter() {
    let calls = plot("occ", "calls");
    let of = |label| clustering(&numbers(&run(calls, label)["calls"]["t_s"]), 1.0, 4.0, 0.05);
    let (plain, jittered) = (of("exponential"), of("full"));
    assert!(plain > 10.0 * jittered && jittered < 4.0, "{plain} {jittered}");
    let gaps = |name, label| {
        let sent = numbers(&run(plot("occ", name), label)["steps"]["sent"]);
        sent[4..44].iter().filter(|count| **count == 0.0).count()
    };
    let (plain, jittered) = (gaps("calls-exponential", "exponential"), gaps("calls-full", "full"));
    assert!(plain > 25 && jittered < 8, "{plain} {jittered}");
    let spread = plot("retry-delays", "spread");
    let of = |label| clustering(&numbers(&run(spread, label)["calls"]["t_s"]), 0.05, 3.0, 0.05);
    assert!(of("exponential") > 10.0 * of("full jitter"));
}

#[test]
fn the_tables_of_delays_are_the_documents_own() {
    let means = |name, label| -> Vec<f64> {
        let waits = run(plot("retry-delays", name), label)["waits"].as_array().unwrap();
        waits.iter().map(|wait| (wait["mean_s"].as_f64().unwrap() * 1e3).round()).collect()
    };
    assert_eq!(means("delays", "linear"), [100.0, 200.0, 300.0, 400.0, 500.0]);
    assert_eq!(means("delays", "exponential"), [100.0, 200.0, 400.0, 800.0, 1600.0]);
    let within = |label, ranges: [(f64, f64); 5]| {
        let waits = run(plot("retry-delays", "jitter"), label)["waits"].as_array().unwrap();
        for (wait, (low, high)) in waits.iter().zip(ranges) {
            let [min, max] = ["min_s", "max_s"].map(|key| wait[key].as_f64().unwrap() * 1e3);
            // 2000 draws come close to both ends.
            let width = high - low;
            assert!(
                min >= low && min < low + width * 0.02 && max <= high && max > high - width * 0.02,
                "{label} {wait}"
            );
        }
    };
    within("full jitter", [(0.0, 100.0), (0.0, 200.0), (0.0, 400.0), (0.0, 800.0), (0.0, 1600.0)]);
    within(
        "equal jitter",
        [(100.0, 200.0), (200.0, 400.0), (400.0, 800.0), (800.0, 1600.0), (1600.0, 3200.0)],
    );
}

#[test]
fn the_service_is_seen_step_by_step() {
    let first = numbers(&run(plot("exploring-backoff", "first-requests"), "EB")["steps"]["first"]);
    assert_eq!(first.iter().sum::<f64>(), 800.0);
    assert!(first[10..38].iter().sum::<f64>() >= 160.0 && first[1000..].iter().sum::<f64>() == 0.0);
    let steps = |name, label| &run(plot("exploring-backoff", name), label)["steps"];
    let none = steps("nb-service", "NB");
    let [sent, turned, queued] = ["sent", "turned_away", "queued"].map(|key| numbers(&none[key]));
    assert!(sent.len() > 3600 && turned[200..3000].iter().all(|count| (21.0..=25.0).contains(count)));
    assert!(queued[200..3000].iter().all(|count| *count == 5.0) && queued.last() == Some(&0.0));
    assert_eq!(sent.iter().sum::<f64>() - turned.iter().sum::<f64>(), 800.0);
    let exponential = numbers(&steps("eb-service", "EB")["sent"]);
    assert!(exponential.len() < 1050, "it recovers");
}

#[test]
fn every_client_has_a_place_in_the_order_of_latency() {
    let of = |name, label| {
        let clients = &run(plot("exploring-backoff", name), label)["clients"];
        (numbers(&clients["latency_s"]), numbers(&clients["attempts"]))
    };
    let ((none, hammering), (exponential, patient)) = (of("nb-clients", "NB"), of("eb-clients", "EB"));
    assert_eq!((none.len(), exponential.len()), (800, 800));
    assert!(none.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!(none[799] > 30.0 && exponential[799] < 10.0 && exponential[400] < 0.06);
    assert!(hammering[799] > 300.0 && patient.iter().all(|attempts| *attempts < 60.0));
}

#[test]
fn a_scenario_of_ones_own_may_ask_for_figures_too() {
    let text = "name = \"mine\"\ntitle = \"Mine\"\nrepeats = 3\n\
                [workload]\nops = 40\n[strategies]\na = \"exponential\"\nb = \"aimd\"\n\
                [experiment.main]\ncolumns = [{ title = \"attempts\", figure = \"attempts.total\" }]\n\
                [plot.calls]\ndraw = \"calls\"\ntitle = \"Calls\"\n\
                [plot.rate]\ndraw = \"rate\"\ntitle = \"Rate\"\nstrategies = [\"b\"]\n\
                [plot.cost]\ndraw = \"summary\"\ntitle = \"Cost\"\n\
                [plot.steps]\ndraw = \"service\"\ntitle = \"Steps\"\nstep = \"100ms\"\nseries = [\"queued\"]\n";
    let scenario = reproduce_text(text);
    let plots = scenario["plots"].as_array().unwrap();
    let names: Vec<&str> = plots.iter().map(|plot| plot["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["calls", "rate", "cost", "steps"]);
    assert_eq!(plots[0]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(plots[1]["runs"][0]["label"], "b");
    assert_eq!(
        (&plots[2]["cells"], &plots[2]["columns"][0]["title"]),
        (&serde_json::json!([0, 1]), &serde_json::json!("attempts"))
    );
    assert!(
        plots[3]["runs"][0]["steps"]["sent"].is_null() && plots[3]["runs"][0]["steps"]["queued"].is_array()
    );
}
