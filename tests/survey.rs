//! Survey of `docs/tailback.md`: settings whose flags reproduce the saved runs, and conclusions from the saved figures.

use serde_json::{Value, json};

use crate::support::loadgen;

const SAVED: &str = include_str!("../docs/tailback-survey.json");

/// Numbers of some settings: concurrency limits with one client and with four, rate limits of several kinds, and limits with advice.
const SETTINGS: [usize; 8] = [0, 3, 57, 399, 402, 499, 500, 699];

fn saved() -> Value {
    serde_json::from_str(SAVED).expect("it is JSON")
}

fn row<'a>(survey: &'a Value, group: &str) -> &'a Value {
    row_of(survey, group, "tailback")
}

fn row_of<'a>(survey: &'a Value, group: &str, strategy: &str) -> &'a Value {
    let named = |list: &'a Value, key: &str, name: &str| {
        list.as_array().expect("a list").iter().find(|entry| entry[key] == name).expect("it is there")
    };
    named(&named(&survey["groups"], "name", group)["rows"], "strategy", strategy)
}

/// Returns the figures of a run that the survey saves, in the same way as `benches/survey.py`.
fn figures(run: &Value) -> Value {
    let ops = &run["ops"];
    let offered = ops["offered"].as_u64().or(ops["total"].as_u64()).expect("a count");
    let end = if run["stalled_at_s"].is_null() { &run["makespan_s"] } else { &run["stalled_at_s"] };
    let undone = offered - ops["succeeded"].as_u64().expect("a count");
    let early = &run["advice"]["early_shared"];
    json!([end, run["attempts"]["total"], undone, offered, run["fairness"]["jain"], early])
}

#[test]
fn the_saved_runs_come_out_again_to_the_last_bit() {
    let saved = saved();
    let names: Vec<&str> =
        saved["strategies"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let (strategies, repeats) = (names.join(","), saved["repeats"].to_string());
    for number in SETTINGS {
        let setting = &saved["settings"][number];
        assert_eq!(setting["number"], number);
        let common = ["compare", "--simulate", "--strategies", &strategies, "--repeats", &repeats];
        let flags = setting["flags"].as_str().unwrap().split(' ');
        let words: Vec<&str> = common.into_iter().chain(flags).chain(["--json", "-", "--quiet"]).collect();
        let document = loadgen(&words).exits(0).json();
        let again: Vec<Value> = document["runs"].as_array().unwrap().iter().map(figures).collect();
        let before = setting["runs"].as_array().unwrap().iter().flat_map(|runs| runs.as_array().unwrap());
        assert!(
            again.iter().eq(before),
            "setting {number} of docs/tailback-survey.json is not current; make it again with the command in docs/tailback.md: {again:?}"
        );
    }
}

/// Source: the acceptance bounds of the strategy, on settings that were not used for tuning.
#[test]
fn tailback_needs_less_than_aimd_at_limits_not_tuned_for() {
    let saved = saved();
    for (group, time, attempts) in
        [("concurrency limits without advice", 0.965, 0.92), ("rate limits", 1.0, 0.65)]
    {
        let row = row(&saved, group);
        let mean = |figure: &str| row[figure]["mean"].as_f64().expect("a mean");
        assert!(mean("time") <= time && mean("attempts") <= attempts, "{group}: {row}");
        assert_eq!(row["unfinished_alone"], 0, "{group}: aimd finishes where tailback does not");
    }
    let share = |group: &str| {
        let row = row(&saved, group);
        row["slower"].as_f64().unwrap() / row["settings"].as_f64().unwrap()
    };
    let slower = share("concurrency limits without advice");
    assert!(slower <= 0.08, "{slower}");
    let fairness = &row(&saved, "concurrency limits, four clients, at least 4 slots each")["fairness"];
    assert!(fairness.as_f64().unwrap() >= 0.95, "{fairness}");
}

/// Source: the acceptance bounds of the third round. `hold=off` is the rule before it, but for quotas.
#[test]
fn tailback_obeys_and_is_the_fastest_that_does() {
    let saved = saved();
    let group = "limits with advice";
    for polite in ["tailback", "hold+aimd"] {
        for group in [group, "concurrency limits", "rate limits"] {
            assert_eq!(row_of(&saved, group, polite)["early"], 0, "{polite}, {group}");
        }
    }
    let mean = |group: &str, strategy: &str| {
        row_of(&saved, group, strategy)["time"]["mean"].as_f64().expect("a mean")
    };
    let fastest = mean(group, "tailback");
    for slower in ["aimd", "full-jitter", "aws-adaptive", "preset:vector", "hold+aimd"] {
        assert!(fastest < mean(group, slower), "{slower}: {}", mean(group, slower));
    }
    for (group, price) in [("slots, one client", 1.6), ("slots, 4 or 20 clients", 2.0)] {
        let group = format!("limits with advice: {group}");
        let ratio = mean(&group, "tailback") / mean(&group, "tailback:hold=off");
        assert!(ratio <= price, "{group}: {ratio}");
    }
}
