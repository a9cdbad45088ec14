//! Presets in virtual time have the same findings as `loadgen` itself as a command.

use serde_json::Value;

use super::findings;
use crate::support::loadgen;

/// Presets with different retry rules.
const PRESETS: [&str; 12] = [
    "openai",
    "urllib3-usual",
    "stripe",
    "got",
    "ky",
    "axios-retry",
    "octokit",
    "google-api-core",
    "undici",
    "curl",
    "anthropic",
    "kubernetes-python",
];

fn judged(args: &[&str]) -> Value {
    loadgen(&[&["judge", "--quiet", "--json", "-"], args].concat()).json()
}

fn compare(preset: &str, only: &[&str]) {
    let strategy = format!("preset:{preset}");
    let simulated = judged(&[only, &["--strategy", &strategy]].concat());
    let program = env!("CARGO_BIN_EXE_loadgen");
    let command =
        [program, "--strategy", &strategy, "--target", "{url}", "--in-flight", "1", "--ops", "1", "--quiet"];
    let real = judged(&[only, &["--"], &command].concat());
    for severity in ["fail", "warn"] {
        assert_eq!(findings(&simulated, severity), findings(&real, severity), "{preset}");
    }
}

#[test]
fn a_preset_is_judged_alike_in_virtual_time_and_as_a_command() {
    compare("openai", &["--only", "503,429,throttled,400,milliseconds,garbage,lost"]);
    compare("got", &["--only", "throttled,date,zero,long"]);
}

/// Each preset takes as long as its longest delays, and as the advice of 70 s, for which virtual time also waits.
#[test]
#[ignore = "judges 12 presets in real time, in some twenty minutes"]
fn twelve_presets_are_judged_alike_in_all_situations() {
    for preset in PRESETS {
        compare(preset, &["--patient"]);
    }
}
