//! `--delay-noise` by the built program: its effects, the figures that it leaves unchanged, its record, and refusals.

use serde_json::Value;

use crate::support::{loadgen, loadgen_in};

fn simulated(args: &[&str]) -> Value {
    loadgen(&[&["--simulate", "--quiet", "--json", "-"], args].concat()).exits(0).json()
}

fn compared(strategies: &str, args: &[&str]) -> Vec<[f64; 2]> {
    let first =
        ["compare", "--simulate", "--quiet", "--json", "-", "--repeats", "8", "--strategies", strategies];
    let compared = loadgen(&[&first, args].concat()).exits(0).json();
    let runs = compared["runs"].as_array().expect("runs");
    let mean = |strategy: &str, figure: &dyn Fn(&Value) -> &Value| {
        let of = runs.iter().filter(|run| run["strategy"] == strategy);
        let values: Vec<f64> = of.map(|run| figure(run).as_f64().expect("a number")).collect();
        assert_eq!(values.len(), 8, "{strategy}");
        values.iter().sum::<f64>() / 8.0
    };
    let figures = |strategy| {
        [mean(strategy, &|run| &run["makespan_s"]), mean(strategy, &|run| &run["attempts"]["total"])]
    };
    strategies.split(',').map(figures).collect()
}

/// For strategies that read latencies, within 3 %.
#[test]
fn default_noise_affects_strategies_like_a_random_network() {
    let strategies = "aimd,bbr,preset:vector";
    let by_default = compared(strategies, &[]);
    let random = compared(strategies, &["--network-delay", "uniform(99ms,101ms)"]);
    for (name, (noisy, random)) in strategies.split(',').zip(by_default.iter().zip(&random)) {
        for (noisy, random) in noisy.iter().zip(random) {
            assert!((noisy / random - 1.0).abs() < 0.03, "{name}: {noisy} and {random}");
        }
    }
    let [makespan_s, attempts] = by_default[0];
    assert!((makespan_s - 25.2).abs() < 0.05 && (attempts - 2088.0).abs() <= 3.0, "{:?}", by_default[0]);
}

#[test]
fn attempts_take_up_to_the_noise_longer_and_0_is_exact() {
    let latency = |args: &[&str]| {
        let run = simulated(&[&["-s", "none", "--ops", "50", "--rate", "10/s"], args].concat());
        ["min", "max"].map(|figure| run["attempt_latency_ms"][figure].as_f64().expect("a latency"))
    };
    let [min, max] = latency(&["--delay-noise", "0"]);
    assert_eq!((min, max), (600.0, 600.0));
    let [min, max] = latency(&[]);
    assert!(600.0 < min && min < 600.05 && 600.15 < max && max < 600.2, "{min} to {max}");
    let [min, max] = latency(&["--delay-noise", "40ms", "--network-delay", "0"]);
    assert!(500.0 < min && min < 510.0 && 530.0 < max && max < 540.0, "{min} to {max}");
}

#[test]
fn the_lower_bound_is_the_same_with_and_without_noise() {
    let bound = |noise| simulated(&["--delay-noise", noise])["optimal_makespan_s"].clone();
    assert_eq!(bound("0"), bound("50ms"));
}

#[test]
fn records_of_simulated_runs_have_the_noise_to_repeat_them() {
    let told = |args: &[&str]| simulated(args)["config"]["delay_noise"].clone();
    assert_eq!((told(&[]), told(&["--delay-noise", "0"])), ("200us".into(), "0s".into()));
    let printed = loadgen(&["--simulate", "--print-config", "--delay-noise", "3ms"]).exits(0).json();
    assert_eq!(printed["delay_noise"], "3ms");
    let http = loadgen(&["--print-config"]).exits(0).json();
    assert!(http.get("delay_noise").is_none(), "{http}");
    let typed = simulated(&["-s", "bbr", "--delay-noise", "200us"]);
    let mut usual = simulated(&["-s", "bbr"]);
    usual["config"]["command_line"] = typed["config"]["command_line"].clone();
    assert_eq!(typed, usual);
}

#[test]
fn the_noise_is_varied_by_a_sweep() {
    let once = ["sweep", "--simulate", "--quiet", "--json", "-", "--repeats", "1", "--strategies", "bbr"];
    let swept = loadgen(&[&once[..], &["--vary", "delay-noise=0,200us"]].concat()).exits(0).json();
    let runs = swept["runs"].as_array().expect("runs");
    let attempts: Vec<_> = runs.iter().map(|run| run["attempts"]["total"].as_u64()).collect();
    assert_eq!(attempts.len(), 2);
    assert_ne!(attempts[0], attempts[1]);
}

#[test]
fn over_http_the_flag_is_refused() {
    for command in
        [&["-s", "aimd"][..], &["compare", "--strategies", "aimd,none"], &["sweep", "--vary", "ops=5,6"]]
    {
        let left = loadgen(&[command, &["--delay-noise", "0"]].concat()).exits(2);
        left.says(&["`--delay-noise` has no effect over HTTP", "--simulate"]);
    }
    let swept = ["sweep", "--strategies", "aimd", "--vary", "delay-noise=0,1ms"];
    loadgen(&swept).exits(2).says(&["`--delay-noise` has no effect over HTTP"]);
}

#[test]
fn over_http_the_key_of_a_scenario_is_ignored() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut text = "name = \"noisy\"\ntitle = \"Noise of ten seconds\"\nrepeats = 1\n".to_owned();
    text += "[workload]\nops = 3\narrivals = \"burst\"\ndelay_noise = \"10s\"\n";
    text += "[server]\nservice_time = \"10ms\"\nnetwork_delay = \"0s\"\n[strategies]\nnone = \"none\"\n";
    text += "[experiment.only]\ncolumns = [{ title = \"makespan s\", figure = \"makespan_s\" }]\n";
    text += "[http]\nexperiments = [\"only\"]\ntime_scale = 1.0\nrepeats = 1\n";
    std::fs::write(directory.path().join("noisy.toml"), &text).expect("it can be written");
    let makespan_s = |more: &[&str]| {
        let args = ["reproduce", "--scenario", "noisy.toml", "--quiet", "--json", "-"];
        let left = loadgen_in(directory.path(), &[&args[..], more].concat());
        assert_eq!(left.status.code(), Some(0), "{}", String::from_utf8_lossy(&left.stderr));
        let document: Value = serde_json::from_slice(&left.stdout).expect("JSON");
        document["scenarios"][0]["cells"][0]["figures"]["makespan_s"]["mean"].as_f64().expect("a makespan")
    };
    // The makespan is that of the longest of three network delays of up to ten seconds. An attempt takes a hundredth of a second.
    let (in_virtual_time, over_http) = (makespan_s(&[]), makespan_s(&["--http"]));
    assert!(in_virtual_time > 1.0 && over_http < 1.0, "{in_virtual_time} s and {over_http} s");
}
