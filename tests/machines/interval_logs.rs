//! Tests of `--hdr`: read with `HdrHistogram`'s own reader, a log has the same figures as the JSON of the same runs.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::Value;

use crate::support::Folder;

struct Interval {
    tag: String,
    start: Duration,
    length: Duration,
    max_ms: f64,
    histogram: Histogram<u64>,
}

fn intervals(text: &str) -> Vec<Interval> {
    let interval = |entry| match entry {
        LogEntry::Interval(interval) => {
            let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
            Some(Interval {
                tag: interval.tag().unwrap().as_str().to_owned(),
                start: interval.start_timestamp(),
                length: interval.duration(),
                max_ms: interval.max(),
                histogram: Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap(),
            })
        }
        LogEntry::StartTime(time) | LogEntry::BaseTime(time) => {
            assert_eq!(time, Duration::ZERO);
            None
        }
    };
    IntervalLogIterator::new(text.as_bytes()).filter_map(|entry| interval(entry.unwrap())).collect()
}

/// Compares every interval with the run in its place. Percentiles are interpolated, so they are between neighbours in
/// the histogram.
fn agree(log: &[Interval], runs: &[Value]) {
    assert_eq!(log.len(), runs.len());
    for (interval, run) in log.iter().zip(runs) {
        assert_eq!(interval.tag.replace(';', ","), run["strategy"].as_str().unwrap());
        let figures = &run["op_latency_ms"];
        assert_eq!(interval.histogram.len(), figures["count"].as_u64().unwrap());
        for (key, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
            let at = |quantile| interval.histogram.value_at_quantile(quantile) as f64 / 1e3;
            let (one, share) = (1.0 / interval.histogram.len() as f64, 1e-3);
            let band = at(quantile - one) * (1.0 - share)..=at(quantile + one) * (1.0 + share);
            let expected = figures[key].as_f64().unwrap();
            assert!(band.contains(&expected), "{key}: {expected} {band:?}");
        }
        let max = figures["max"].as_f64().unwrap();
        // The histogram keeps three digits, and the log three decimals.
        assert!((interval.max_ms - max).abs() <= max * 2e-3 + 1e-3, "{} {max}", interval.max_ms);
        // The clock starts at zero, but the makespan at the first arrival.
        let makespan = run["makespan_s"].as_f64().unwrap();
        let length = interval.length.as_secs_f64();
        assert!((0.0..0.1).contains(&(length - makespan + 1e-3)), "{length} {makespan}");
    }
    for pair in log.windows(2) {
        let end = pair[0].start + pair[0].length;
        assert!(pair[1].start.abs_diff(end) <= Duration::from_millis(2), "runs stand end to end");
    }
}

fn runs(folder: &Folder, name: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&folder.read(name)).unwrap();
    document["runs"].as_array().cloned().unwrap_or_else(|| vec![document.clone()])
}

#[test]
fn a_log_of_real_runs_has_the_percentiles_of_the_result() {
    let folder = Folder::new();
    let server = "--service-time 2ms --reject-time 1ms --network-delay 0 --max-busy 5";
    folder.done(&format!("--quiet --ops 300 {server} --repeats 2 --hdr a.hlog --json a.json"));
    let log = folder.read("a.hlog");
    agree(&intervals(&log), &runs(&folder, "a.json"));
    assert!(log.starts_with("#[Histogram log format version 1.3]\n") && log.contains("#seed 2\n"), "{log}");
}

#[test]
fn a_log_of_a_comparison_distinguishes_strategies_by_tag() {
    let folder = Folder::new();
    let compare = "compare --simulate --quiet --ops 2000 --repeats 2 --strategies aimd:beta=0.5,initial=9,full-jitter,oracle";
    folder.done(&format!("{compare} --threads 1 --hdr a.hlog --json a.json"));
    folder.done(&format!("{compare} --threads 4 --hdr b.hlog"));
    assert_eq!(folder.read("a.hlog"), folder.read("b.hlog"));
    let log = intervals(&folder.read("a.hlog"));
    agree(&log, &runs(&folder, "a.json"));
    assert_eq!(log.iter().filter(|interval| interval.tag == "aimd:beta=0.5;initial=9").count(), 2);
}

#[test]
fn a_run_in_which_nothing_succeeds_is_an_empty_interval() {
    let folder = Folder::new();
    let ended = folder.loadgen("--simulate --quiet --ops 30 --strategy none --reject-first 1 --hdr a.hlog");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let log = intervals(&folder.read("a.hlog"));
    assert_eq!((log.len(), log[0].histogram.len()), (1, 0));
    assert!(log[0].length > Duration::ZERO);
    let ended = folder.loadgen("--simulate --ops 20 --hdr a.hlog --json a.hlog");
    assert!(ended.code == Some(2) && ended.stderr.contains("named for two outputs"), "{ended:?}");
}
