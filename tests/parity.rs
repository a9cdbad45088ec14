//! The two drivers against each other, through the built program.

#[path = "machines/published.rs"]
mod published;

use std::process::{Command, Output};

use serde_json::Value;

fn loadgen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadgen")).args(args).output().expect("the program was built")
}

/// Every attempt's place in the order of sending, its op, what became of it, and the window after that.
fn decisions(args: &[&str], simulate: bool) -> Vec<(u64, u64, u64, String, Option<f64>)> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("samples.ndjson");
    let path = file.to_str().expect("a plain path");
    let mut all = vec!["--samples", path, "--quiet"];
    all.extend(args);
    if simulate {
        all.push("--simulate");
    } else {
        // A server of its own, and time enough that no hiccup of the machine swaps two events.
        all.extend(["--reject-status", "503", "--time-scale", "3"]);
    }
    let left = loadgen(&all);
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    let text = std::fs::read_to_string(&file).expect("the samples were written");
    text.lines()
        .map(|line| {
            let sample: Value = serde_json::from_str(line).expect("a line is an object");
            let number = |key: &str| sample[key].as_u64().unwrap_or_else(|| panic!("{key} in {line}"));
            let outcome = sample["outcome"].as_str().expect("an outcome").to_owned();
            (number("serial"), number("op"), number("attempt"), outcome, sample["window"].as_f64())
        })
        .collect()
}

/// Arrivals every 50 ms, and everything else so that no two events come within some 10 ms of each other.
const DETERMINISTIC: &[&str] = &[
    "--arrivals",
    "uniform",
    "--rate",
    "20/s",
    "--ops",
    "60",
    "--max-busy",
    "3",
    "--service-time",
    "130ms",
    "--reject-time",
    "22ms",
    "--network-delay",
    "31ms",
];

#[test]
fn both_drivers_decide_the_same_in_the_same_order() {
    let strategies =
        ["aimd:initial=2", "fixed-window:window=4", "aimd:initial=8,beta=0.5", "constant:delay=140ms"];
    std::thread::scope(|scope| {
        for strategy in strategies {
            scope.spawn(move || {
                let args: Vec<&str> =
                    ["--strategy", strategy].into_iter().chain(DETERMINISTIC.iter().copied()).collect();
                let (simulated, real) = (decisions(&args, true), decisions(&args, false));
                assert!(simulated.len() >= 60, "{strategy}: {} attempts", simulated.len());
                assert_eq!(simulated, real, "{strategy}");
            });
        }
    });
}

/// What the machine may add to a band: it is shared with whatever else runs, and this is no test of it.
const WIDER: f64 = 2.0;

#[test]
fn both_drivers_agree_at_the_first_seeds_scale_and_in_a_setting_drawn_at_random() {
    let left = loadgen(&["parity", "--time-scale", "0.4", "--json", "-"]);
    // The summary goes to stderr, and names the draw with which it can be repeated.
    let told = String::from_utf8_lossy(&left.stderr);
    assert!(told.contains("--draw "), "{told}");
    let result: Value = serde_json::from_slice(&left.stdout).expect("the comparison is JSON");
    published::assert_valid("Parity", &result);
    let pairings = result["pairings"].as_array().expect("a list");
    assert_eq!(pairings.len(), 4, "{told}");
    let mut all_agree = true;
    for pairing in pairings {
        let figures = pairing["figures"].as_array().expect("a list");
        assert!(figures.len() >= 7, "{pairing}");
        // An unoptimised build on a busy machine may be too slow for so many attempts a second, and then says so: such a
        // run tells nothing about the drivers.
        let too_slow = pairing["bottleneck"] == true;
        for figure in figures {
            let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number in {figure}"));
            let off = (number(&figure["http"]) - number(&figure["simulated"]["mean"])).abs();
            let band = number(&figure["band"]);
            assert_eq!(figure["agrees"] == true, off <= band, "{figure}");
            assert!(off <= WIDER * band || too_slow, "{figure}\n{told}");
            all_agree &= off <= band;
        }
    }
    assert_eq!(left.status.code(), Some(i32::from(!all_agree)), "{told}");
}
