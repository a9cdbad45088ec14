//! `loadgen survey`: settings that reproduce the saved runs, the conclusions from the saved survey, and refusals.

use serde_json::Value;

use crate::support::{Folder, loadgen};

const SAVED: &str = include_str!("../docs/tailback-survey.json");

/// Some of its settings: concurrency limits with one client and with four, and rate limits of several kinds.
const SETTINGS: [u64; 6] = [0, 3, 57, 399, 402, 499];

fn saved() -> Value {
    serde_json::from_str(SAVED).expect("it is JSON")
}

fn names(survey: &Value) -> Vec<&str> {
    let names = survey["strategies"].as_array().expect("strategies");
    names.iter().map(|name| name.as_str().expect("a name")).collect()
}

fn row<'a>(survey: &'a Value, group: &str) -> &'a Value {
    let named = |list: &'a Value, key: &str, name: &str| {
        list.as_array().expect("a list").iter().find(|entry| entry[key] == name).expect("it is there")
    };
    named(&named(&survey["groups"], "name", group)["rows"], "strategy", "tailback")
}

#[test]
fn the_saved_runs_come_out_again_to_the_last_bit() {
    let saved = saved();
    let (seed, strategies) = (saved["seed"].to_string(), names(&saved).join(","));
    let settings = SETTINGS.map(|number| number.to_string()).join(",");
    let words = ["survey", "--seed", &seed, "--strategies", &strategies, "--settings", &settings];
    let again = loadgen(&[&words[..], &["--json", "-", "--quiet"]].concat()).exits(0).json();
    let again = again["settings"].as_array().expect("settings");
    assert_eq!(again.len(), SETTINGS.len());
    for (number, setting) in SETTINGS.iter().zip(again) {
        let before =
            saved["settings"].as_array().unwrap().iter().find(|setting| setting["number"] == *number);
        assert_eq!(
            Some(setting),
            before,
            "docs/tailback-survey.json is not current; make it again with the command in docs/tailback.md"
        );
    }
}

/// Source: the acceptance bounds of the strategy, on settings that were not used for tuning.
#[test]
fn tailback_needs_less_than_aimd_at_limits_not_tuned_for() {
    let saved = saved();
    for (group, time, attempts) in [("concurrency limits", 0.965, 0.92), ("rate limits", 1.0, 0.65)] {
        let row = row(&saved, group);
        let mean = |figure: &str| row[figure]["mean"].as_f64().expect("a mean");
        assert!(mean("time") <= time && mean("attempts") <= attempts, "{group}: {row}");
        assert_eq!(row["unfinished_alone"], 0, "{group}: aimd finishes where tailback does not");
    }
    let share = |group: &str| {
        let row = row(&saved, group);
        row["slower"].as_f64().unwrap() / row["settings"].as_f64().unwrap()
    };
    assert!(share("concurrency limits") <= 0.08, "{}", share("concurrency limits"));
    let fairness = &row(&saved, "concurrency limits, four clients, at least 4 slots each")["fairness"];
    assert!(fairness.as_f64().unwrap() >= 0.95, "{fairness}");
}

#[test]
fn a_survey_is_written_as_rows_and_read_again() {
    let folder = Folder::new();
    let words = "survey -s aimd,none --concurrency-limits 2 --rate-limits 1 --repeats 2 --seed 5";
    let text =
        folder.loadgen(&format!("{words} --json survey.json --csv runs.csv --plot plot.svg")).exits(0).stdout;
    let read = folder.loadgen("survey --from survey.json").exits(0).stdout;
    assert_eq!(text, read);
    let runs = folder.read("runs.csv");
    assert_eq!(runs.lines().count(), 1 + 3 * 2 * 2, "{runs}");
    assert!(folder.read("plot.svg").contains("time ÷ aimd"));
}

#[test]
fn surveys_that_cannot_be_made_are_refused() {
    let refused = |args: &str, words: &[&str]| {
        let folder = Folder::new();
        folder.write("other.json", "{\"runs\": []}");
        folder.loadgen(&format!("survey {args}")).exits(2).says(words);
    };
    refused("-s none,aimd --reference cubic", &["`cubic` (--reference)", "none, aimd"]);
    refused("--settings 500", &["`500` (--settings)", "from 0 to 499"]);
    refused("--concurrency-limits 0 --rate-limits 0", &["draw at least one"]);
    refused("--json - --csv -", &["two outputs are directed to stdout (`-`)"]);
    refused("--json one --csv ./one", &["`./one` is named for two outputs"]);
    refused("--plot plot.png", &["plot.png", "SVG"]);
    refused("--from other.json", &["`other.json` (--from) is not a survey"]);
    refused("--from other.json --seed 2", &["--seed"]);
    refused("-s aimd", &["name at least two"]);
}
