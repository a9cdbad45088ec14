//! Runs that are stopped before their end: when they stop, and the share of ops done.

use serde_json::Value;

use crate::support::loadgen;

fn simulated(args: &[&str]) -> Value {
    loadgen(&[&["--simulate", "--no-tui", "--quiet", "--json", "-"], args].concat()).exits(0).json()
}

/// Long means more than a minute.
#[test]
fn long_outages_are_waited_out_and_endless_ones_are_stalls() {
    for planned in [["--outages", "5s..66s"], ["--schedule", "5s..200s down"]] {
        let result = simulated(&[&["-s", "aimd"], &planned[..]].concat());
        assert_eq!(result["ops"]["succeeded"], 2000, "{planned:?}");
        assert_eq!(result["stalled_at_s"], Value::Null);
    }
    let result = simulated(&["-s", "aimd", "--schedule", "5s down"]);
    let stalled_at = result["stalled_at_s"].as_f64().unwrap();
    assert!((65.0..67.0).contains(&stalled_at), "{stalled_at}");
}

#[test]
fn shares_are_of_all_offered_ops_and_stopped_runs_have_no_rank() {
    let load = ["--preset", "openai", "--rate", "12/s", "--duration", "5m", "--repeats", "3"];
    let strategies =
        ["--strategies", "preset:openai", "--strategies", "preset:openai,max-attempts=11,cap=60s"];
    let compare = [&["compare", "--simulate", "--no-tui"], &load[..], &strategies[..]].concat();
    let document = loadgen(&[&compare[..], &["-q", "--json", "-"]].concat()).exits(0).json();
    let runs = document["runs"].as_array().unwrap();
    let (of_ends, of_stalls) = runs.split_at(3);
    for (ends, stalls) in of_ends.iter().zip(of_stalls) {
        assert!(stalls["stalled_at_s"].is_number() && stalls["share_is_lower_bound"] == true);
        assert_eq!(ends["share_is_lower_bound"], false);
        // A run that ends has seen all ops that its seed offers.
        let offered = &ends["ops"]["total"];
        assert_eq!((&ends["ops"]["offered"], &stalls["ops"]["offered"]), (offered, offered));
        assert!(stalls["ops"]["total"].as_u64() < offered.as_u64(), "{}", stalls["ops"]);
        let share = stalls["ops"]["succeeded"].as_f64().unwrap() / offered.as_f64().unwrap();
        assert_eq!(stalls["done_share"].as_f64(), Some(share));
        assert_eq!(stalls["makespan_complete"], false);
    }
    let ranks: Vec<_> = document["comparison"]["strategies"].as_array().unwrap().iter().collect();
    assert_eq!((&ranks[0]["strategy"], &ranks[0]["rank"]), (&"preset:openai".into(), &1.into()));
    assert_eq!(ranks[1]["rank"], Value::Null);
    let text = loadgen(&compare).exits(0).stdout;
    assert!(text.contains("≥ 4") && text.contains("3 of 3"), "{text}");
    let text = loadgen(&[&compare[..], &["--explain"]].concat()).exits(0).stdout;
    assert!(text.contains("stalled in every run: ≥ 4"), "{text}");
    let failed = "preset:openai,max-attempts=11,cap=60s";
    loadgen(&[&compare[..], &["-q", "--fail-if", "done_share < 0.47"]].concat()).exits(99).says(&[failed]);
}

/// Otherwise the number depends on the client.
#[test]
fn a_closed_loop_offers_a_known_number_of_ops_only_if_all_of_them_arrive() {
    let offered = |args: &[&str]| {
        let result = simulated(&[&["-s", "aimd", "--in-flight", "20"], args].concat());
        (result["ops"]["offered"].clone(), result["done_share"].as_f64().unwrap())
    };
    assert_eq!(offered(&["--duration", "5s"]), (Value::Null, 1.0));
    assert_eq!(offered(&["--ops", "100"]), (100.into(), 1.0));
    assert_eq!(offered(&["--ops", "100", "--duration", "1h"]), (100.into(), 1.0));
    // Arrivals end at whichever comes first, so ops that never arrive are not missing.
    let both = ["--ops", "1k", "--duration", "5s"];
    assert_eq!(offered(&both), (Value::Null, 1.0));
    let whole = ["--simulate", "-s", "aimd", "--in-flight", "20", "--no-tui", "--deadline", "1h"];
    let fails = ["--fail-if", "done_share<1", "--fail-if", "late_share>0"];
    let run = loadgen(&[&whole[..], &both, &fails].concat()).exits(0);
    assert!(run.stdout.contains("aimd: all 180 ops done in 5.40 s"), "{}", run.stdout);
}
