//! Derived figures of the built program, recomputed from its samples.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

fn run(args: &[&str]) -> (Value, Vec<Value>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let samples = directory.path().join("samples.ndjson");
    let output = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .args(["--simulate", "--json", "-", "--quiet", "--samples"])
        .arg(&samples)
        .args(args)
        .output()
        .expect("the program was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&samples).expect("the samples were written");
    let parsed = text.lines().map(|line| serde_json::from_str(line).expect("a line is an object"));
    (serde_json::from_slice(&output.stdout).expect("the result is JSON"), parsed.collect())
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

fn near(one: f64, other: f64, off: f64) {
    assert!((one - other).abs() <= off, "{one} and {other} are more than {off} apart");
}

#[test]
fn the_window_of_the_first_seed_fits_soon_and_goes_beyond_once() {
    let (result, samples) = run(&["--strategy", "aimd", "--ops", "2000"]);
    // A rejection holds a slot for 50 ms.
    let rejected = samples.iter().filter(|sample| sample["outcome"] == "rejected").count() as f64;
    near(number(&result, "wasted_server_s"), rejected * 0.05, 1e-9);
    let window = &result["window"];
    // At most 80 attempts in flight, against a cap of 50.
    let mut steps: Vec<(u64, i64)> = samples
        .iter()
        .flat_map(|sample| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "an instant of a run"
            )]
            let nanos = |key| (number(sample, key) * 1e9).round() as u64;
            [(nanos("sent_s"), 1), (nanos("ended_s"), -1)]
        })
        .collect();
    // At equal times, attempts end before others are sent.
    steps.sort_unstable();
    let mut in_flight = 0;
    let most = steps.iter().map(|(_, step)| {
        in_flight += step;
        in_flight
    });
    near(number(window, "overshoot"), most.max().expect("there are samples") as f64 - 50.0, 0.0);
    // After convergence the window stays above 44. Samples report the window after each attempt.
    let arrivals = samples.iter().map(|sample| number(sample, "arrived_s"));
    let converged_s = arrivals.fold(f64::MAX, f64::min) + number(window, "convergence_s");
    let after = |sample: &&Value| number(sample, "ended_s") > converged_s;
    let for_five = |sample: &&Value| number(sample, "ended_s") <= converged_s + 3.0;
    let windows: Vec<f64> =
        samples.iter().filter(after).filter(for_five).map(|sample| number(sample, "window")).collect();
    assert!(windows.len() > 100, "{}", windows.len());
    assert!(windows.iter().all(|window| (45.0..=55.0).contains(window)), "{windows:?}");
    let is_before = |sample: &&Value| number(sample, "ended_s") < converged_s - 1e-9;
    let before = samples.iter().filter(is_before).filter(|sample| sample["outcome"] == "rejected").count();
    near(number(window, "rejected_before_convergence"), before as f64, 0.0);
    assert_eq!(result["fairness"], Value::Null, "one client has nobody to share with");
    assert_eq!(result["late_share"], Value::Null);
}

#[test]
fn lateness_and_the_slowest_client_are_those_of_the_samples() {
    let args = ["--strategy", "full-jitter", "--clients", "7", "--deadline", "12s", "--ops", "1500"];
    let (result, samples) = run(&args);
    let succeeded: Vec<&Value> = samples.iter().filter(|sample| sample["outcome"] == "succeeded").collect();
    let latency = |sample: &Value| (number(sample, "ended_s") - number(sample, "arrived_s")) * 1e3;
    let in_time = succeeded.iter().filter(|sample| latency(sample) <= 12_000.0).count() as f64;
    near(number(&result, "late_share"), 1.0 - in_time / 1500.0, 1e-12);
    assert!(in_time < 1500.0, "the deadline means something here");
    let mut clients: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for sample in &succeeded {
        let client = clients.entry(sample["client"].as_u64().expect("a client")).or_default();
        *client = (client.0 + latency(sample), client.1 + 1.0);
    }
    let mut means: Vec<(f64, u64)> = clients.iter().map(|(id, (sum, count))| (sum / count, *id)).collect();
    means.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (slowest_ms, slowest) = means[6];
    let fairness = &result["fairness"];
    assert_eq!(fairness["slowest_client"], slowest);
    near(number(fairness, "slowest_mean_ms"), slowest_ms, 0.01);
    near(number(fairness, "slowest_over_median"), slowest_ms / means[3].0, 1e-4);
    for index in ["jain", "jain_whole_run"] {
        assert!((1.0 / 7.0..=1.0).contains(&number(fairness, index)), "{fairness}");
    }
}

#[test]
fn clients_that_are_served_in_turn_share_evenly() {
    // All ops arrive at once at a server with one slot, which serves them in order of arrival, so all clients are treated equally.
    let even = run(&["--strategy", "fixed-window:window=1", "--clients", "4", "--ops", "200"]).0;
    assert!(number(&even["fairness"], "jain_whole_run") > 0.99, "{}", even["fairness"]);
}

#[test]
fn ops_within_the_warm_up_are_in_no_latency() {
    let args = ["--strategy", "aimd", "--ops", "800", "--warm-up", "500ms"];
    let (result, samples) = run(&args);
    let after = |key: &'static str| move |sample: &&&Value| number(sample, key) >= 0.5;
    let succeeded: Vec<&Value> = samples.iter().filter(|sample| sample["outcome"] == "succeeded").collect();
    let ops: Vec<f64> = succeeded
        .iter()
        .filter(after("arrived_s"))
        .map(|sample| number(sample, "ended_s") - number(sample, "arrived_s"))
        .collect();
    assert!(ops.len() > 100 && ops.len() < 700, "{}", ops.len());
    near(number(&result["op_latency_ms"], "count"), ops.len() as f64, 0.0);
    near(number(&result["op_latency_ms"], "mean"), ops.iter().sum::<f64>() * 1e3 / ops.len() as f64, 0.01);
    let sent = succeeded.iter().filter(after("sent_s")).count() as f64;
    near(number(&result["success_latency_ms"], "count"), sent, 0.0);
    assert_eq!((&result["ops"]["succeeded"], &result["config"]["warm_up"]), (&800.into(), &"500ms".into()));
}
