//! The two drivers against each other, through the built program.

#[path = "machines/published.rs"]
mod published;

use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// One test at a time: what another does to the machine would show as a difference between the drivers.
fn the_machine() -> MutexGuard<'static, ()> {
    static FREE: Mutex<()> = Mutex::new(());
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn loadgen(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadgen")).args(args).output().expect("the program was built")
}

/// What became of an attempt.
#[derive(Debug, PartialEq)]
struct Decision {
    /// Its place in the order of sending, its op, which attempt of that it is, and the outcome.
    attempt: (u64, u64, u64, String),
    /// The window after that.
    window: Option<f64>,
}

/// Every attempt in the order of their ends, with the times of these.
fn decisions(args: &[&str], simulate: bool) -> (Vec<Decision>, Vec<f64>) {
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
            let attempt = (number("serial"), number("op"), number("attempt"), outcome);
            let decision = Decision { attempt, window: sample["window"].as_f64() };
            (decision, sample["ended_s"].as_f64().expect("an end"))
        })
        .unzip()
}

/// Puts attempts that end at one instant of virtual time in the order of sending: two requests that are sent at once over
/// two connections may arrive in either order, and nothing that is decided depends on it.
fn without_ties(mut decisions: Vec<Decision>, ends: &[f64]) -> Vec<Decision> {
    let mut windows = Vec::new();
    for decision in &mut decisions {
        windows.push(decision.window.take());
    }
    let mut from = 0;
    for tied in ends.chunk_by(|one, next| one.total_cmp(next).is_eq()) {
        let to = (from + tied.len()).min(decisions.len());
        decisions[from.min(to)..to].sort_by(|one, other| one.attempt.cmp(&other.attempt));
        from += tied.len();
    }
    // The window follows from how many have ended, whoever they were.
    decisions.into_iter().zip(windows).map(|(decision, window)| Decision { window, ..decision }).collect()
}

/// Arrivals every 50 ms, and everything else so that no two events come within some 10 ms of each other, but for attempts
/// that a growing window sends at one instant.
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
    let _alone = the_machine();
    let strategies =
        ["aimd:initial=2", "fixed-window:window=4", "aimd:initial=8,beta=0.5", "constant:delay=140ms"];
    std::thread::scope(|scope| {
        for strategy in strategies {
            scope.spawn(move || {
                let args: Vec<&str> =
                    ["--strategy", strategy].into_iter().chain(DETERMINISTIC.iter().copied()).collect();
                let ((simulated, ends), (real, _)) = (decisions(&args, true), decisions(&args, false));
                assert!(simulated.len() >= 60, "{strategy}: {} attempts", simulated.len());
                assert_eq!(without_ties(simulated, &ends), without_ties(real, &ends), "{strategy}");
            });
        }
    });
}

/// What the machine may add to a band: it is shared with whatever else runs, and this is no test of it.
const WIDER: f64 = 2.0;

#[test]
fn both_drivers_agree_at_the_first_seeds_scale_and_in_a_setting_drawn_at_random() {
    let _alone = the_machine();
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

/// 150 submitters that look before they start, at a service that breaks down when all start at once.
const LOOKING_FIRST: &[&str] = &[
    "--strategy",
    "ethernet:threshold=600,cost=100ms+thain:base=1s,factor=2,cap=1h",
    "--policy",
    "descriptor-pool:descriptors=3000",
    "--network-delay",
    "0s",
    "--in-flight",
    "150",
    "--duration",
    "40s",
    "--drain",
    "0s",
    "--deadline",
    "300s",
    "--timeout",
    "1h",
    "--quiet",
    "--json",
    "-",
];

#[test]
fn over_http_too_nobody_takes_the_carrier_between_look_and_start() {
    let _alone = the_machine();
    let figures = |driver: &[&str]| {
        let left = loadgen(&[LOOKING_FIRST, driver].concat());
        let result: Value = serde_json::from_slice(&left.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&left.stderr)));
        ["/ops/succeeded", "/attempts/total", "/server/crashes"]
            .map(|figure| result.pointer(figure).and_then(Value::as_u64).expect("a count"))
    };
    let (simulated, real) = (figures(&["--simulate"]), figures(&["--time-scale", "0.1"]));
    assert_eq!((simulated[0], simulated[2]), (97, 0));
    // When all looked before any started, half of the jobs were left and the service had crashed.
    assert_eq!(real[2], 0, "{real:?}");
    for (real, simulated) in real.into_iter().zip(simulated).take(2) {
        assert!(real.abs_diff(simulated) * 5 < simulated, "{real} over HTTP, {simulated} simulated");
    }
}
