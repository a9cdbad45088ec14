//! Figures match their labels, on the terminal, in JSON and in the report.

use serde_json::Value;

use crate::support::loadgen;

fn simulated(args: &[&str]) -> Value {
    loadgen(&[&["--simulate", "--no-tui", "--quiet", "--json", "-"], args].concat()).exits(0).json()
}

#[test]
fn ops_left_undone_by_the_drain_are_warned_of_if_simulated() {
    let cut = ["-s", "full-jitter", "--rate", "1000/s", "--duration", "2s", "--drain", "1s"];
    let result = simulated(&cut);
    let unfinished = result["ops"]["unfinished"].as_u64().unwrap();
    assert!(unfinished > 0, "{}", result["ops"]);
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("unfinished when the time of `--drain` was over"), "{warnings}");
    let left = loadgen(&[&["--simulate", "--no-tui"], &cut[..]].concat()).exits(0);
    assert!(left.stdout.contains("unfinished when the time of `--drain` was over"), "{}", left.stdout);
    // A stall has its own explanation.
    let stalled = simulated(&["-s", "immediate", "--max-busy", "10", "--ops", "500"]);
    assert!(stalled["stalled_at_s"].is_number());
    assert_eq!(stalled["warnings"], Value::Array(Vec::new()));
}

#[test]
fn a_constant_latency_is_reported_exactly() {
    // 100 ms of network and 500 ms of service, or 50 ms for a rejection. The oracle is never queued or rejected.
    let result = simulated(&["-s", "oracle", "--ops", "500", "--delay-noise", "0"]);
    let figures = ["min", "mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"];
    for kind in ["attempt_latency_ms", "success_latency_ms"] {
        for figure in figures {
            assert_eq!(result[kind][figure], 600.0, "{kind}.{figure}: {}", result[kind]);
        }
        assert_eq!((&result[kind]["count"], &result[kind]["stdev"]), (&500.into(), &0.0.into()));
    }
    let result = simulated(&["-s", "full-jitter", "--ops", "2000", "--delay-noise", "0"]);
    for figure in figures {
        assert_eq!(result["rejection_latency_ms"][figure], 150.0, "{}", result["rejection_latency_ms"]);
    }
}

#[test]
fn percentiles_over_http_lie_between_minimum_and_maximum() {
    let quick =
        ["--no-tui", "--quiet", "--json", "-", "--ops", "60", "--max-busy", "10", "--time-scale", "0.05"];
    let result = loadgen(&quick).exits(0).json();
    for kind in ["op_latency_ms", "attempt_latency_ms", "success_latency_ms"] {
        let figure = |name: &str| result[kind][name].as_f64().unwrap();
        let rising: Vec<f64> =
            ["min", "p50", "p75", "p90", "p95", "p99", "p999", "max"].into_iter().map(figure).collect();
        assert!(rising.is_sorted(), "{}", result[kind]);
        assert!((figure("min")..=figure("max")).contains(&figure("mean")), "{}", result[kind]);
    }
    let lag = &result["generator"]["send_lag_ms"];
    assert!(lag["p99"].as_f64() <= lag["max"].as_f64(), "{lag}");
}

/// It is the mean of the durations, not of their logarithm.
#[test]
fn help_and_errors_define_the_mean_of_lognormal() {
    let help = loadgen(&["--help"]).exits(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("`lognormal(MEAN,SIGMA)` (MEAN of the durations, SIGMA of their logarithm)"),
        "{help}"
    );
    loadgen(&["--simulate", "--service-time", "lognormal(500ms)"])
        .exits(2)
        .says(&["`lognormal(MEAN,SIGMA)`"]);
}

/// It ends them at once. One that decides at the retry sheds them after their wait.
#[test]
fn a_retry_budget_that_decides_at_the_failure_sheds_no_op() {
    let run = |ask: &str| {
        let strategy = format!("constant:delay=10s+retry-budget:max=20,ask={ask}");
        simulated(&["-s", &strategy, "--ops", "500", "--rate", "500/s"])
    };
    let (failure, retry) = (run("failure"), run("retry"));
    for (result, why) in [(&failure, "rejected"), (&retry, "shed")] {
        let given_up = result["ops"]["given_up"].as_u64().unwrap();
        assert!(given_up > 0, "{result}");
        assert_eq!(result["given_up_after"][why].as_u64(), Some(given_up), "{}", result["given_up_after"]);
    }
    assert_eq!(failure["attempts"]["shed"], 0);
    assert!(retry["attempts"]["shed"].as_u64().unwrap() > 0);
    // The default is unchanged: without a check at the failure, an op waits for 10 s before it is shed.
    assert_eq!(retry, {
        let mut plain =
            simulated(&["-s", "constant:delay=10s+retry-budget:max=20", "--ops", "500", "--rate", "500/s"]);
        for key in ["strategy", "config"] {
            plain[key] = retry[key].clone();
        }
        plain
    });
}

const COMPARE: [&str; 6] = ["compare", "--simulate", "--no-tui", "--ops", "500", "--repeats"];

#[test]
fn intervals_of_differences_say_the_level_that_they_have() {
    let args = ["6", "--strategies", "aimd,full-jitter,exponential:jitter=0.5", "--json", "-"];
    let document = loadgen(&[&COMPARE[..], &args].concat()).exits(0).json();
    let pairs = document["comparison"]["pairs"].as_array().unwrap();
    let mut levels = Vec::new();
    for pair in pairs {
        let level = pair["level"].as_f64().unwrap();
        let digits = format!("{:.2}", level * 100.0);
        let told = format!("({} %: ", digits.trim_end_matches('0').trim_end_matches('.'));
        let words = pair["words"].as_str().unwrap();
        assert!(
            words.contains(&told) || words.contains(&format!("({:.1} %: ", level * 100.0)),
            "{level}: {words}"
        );
        levels.push(level);
    }
    assert!(levels.iter().any(|level| *level > 0.96), "three comparisons are corrected: {levels:?}");
    let text = loadgen(&[&COMPARE[..], &args[..3], &["--explain"]].concat()).exits(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("so that all intervals hold together in 95 % of comparisons"), "{text}");
}

#[test]
fn page_and_terminal_have_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let args = ["5", "--strategies", "aimd,full-jitter", "--json", "-", "--html", page.to_str().unwrap()];
    let ended = loadgen(&[&COMPARE[..], &args].concat()).exits(0);
    let page = std::fs::read_to_string(&page).unwrap();
    let (_, heading) = page.split_once("<h1>").unwrap();
    let heading = heading.split("</h1>").next().unwrap().replace('\u{a0}', " ");
    let heading = heading.replace("<code>", "").replace("</code>", "");
    let screen = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(heading.contains(" sooner than ") && screen.contains(&heading), "{heading}\n{screen}");
    assert!(page.contains("Means over runs; below them, 5th to 95th percentile."));
}

#[test]
fn a_skewed_sample_is_warned_of_and_offers_its_median() {
    let args = ["--simulate", "--no-tui", "-s", "exponential:jitter=0.5", "--ops", "500", "--repeats", "30"];
    let text = loadgen(&args).exits(0).stdout;
    assert!(text.contains("skewed") && text.contains("median") && text.contains("(--explain)"), "{text}");
    let text = loadgen(&[&args[..], &["--explain"]].concat()).exits(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("! makespan s is skewed over these 30 runs"), "{text}");
    assert!(text.contains("by order statistics"), "{text}");
    let summary =
        loadgen(&[&args[..], &["--quiet", "--json", "-"]].concat()).exits(0).json()["summary"].clone();
    let makespan = &summary["makespan_s"];
    assert_eq!(makespan["skewed"], true, "{makespan}");
    assert!(makespan["skewness"].as_f64().unwrap() > 1.2, "{makespan}");
    let median = &makespan["median_interval"];
    assert_eq!(median["by"], "order-statistics");
    assert!(
        median["low"].as_f64() <= makespan["p50"].as_f64()
            && makespan["p50"].as_f64() <= median["high"].as_f64()
    );
    assert!((median["level"].as_f64().unwrap() - 0.957_226).abs() < 1e-6, "{median}");
}

#[test]
fn a_tie_wins_no_headline_of_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let sweep = [
        "sweep",
        "--simulate",
        "--no-tui",
        "--strategies",
        "aimd,aimd:beta=0.89",
        "--vary",
        "max-busy=30,50",
    ];
    let few = ["--ops", "300", "--repeats", "6", "--json", "-", "--html", page.to_str().unwrap()];
    let left = loadgen(&[&sweep[..], &few].concat()).exits(0);
    for best in left.json()["sweep"]["best"].as_array().unwrap() {
        assert_eq!(best["pairs"][0]["verdict"], "equivalent", "{best}");
        assert_eq!(best["winner"], Value::Null);
        assert!(best["words"].as_str().unwrap().contains("tie for the least makespan"), "{best}");
    }
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h1>No strategy is distinguishably first at any of 2 points.</h1>"));
}
