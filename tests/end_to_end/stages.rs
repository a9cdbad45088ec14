//! Rates that change in stages, over HTTP and in virtual time.

use serde_json::Value;

use crate::support::{Folder, MockServer, loadgen, measure};

const STAGES: &str = "20/s for 500ms; 20/s..200/s for 1s; 0/s for 500ms; 100/s for 500ms";

/// Returns the arrival instants of all ops, in seconds, from the samples of a run.
fn arrivals(folder: &Folder, file: &str) -> Vec<f64> {
    let samples = folder.read(file);
    let samples = samples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = samples.filter(|sample| sample["attempt"] == 1);
    let mut arrivals: Vec<f64> = first.map(|sample| sample["arrived_s"].as_f64().unwrap()).collect();
    arrivals.sort_by(f64::total_cmp);
    arrivals
}

#[test]
fn ops_arrive_at_the_same_instants_over_http_and_in_virtual_time() {
    let server = MockServer::start(&["--service-time", "1ms", "--network-delay", "0"]);
    let url = server.url();
    for arrivals_by in ["uniform", "poisson"] {
        let folder = Folder::new();
        let load = ["--rate", STAGES, "--arrivals", arrivals_by, "-s", "none", "--samples"];
        let [real, simulated] = ["real", "simulated"].map(|name| folder.path(name).display().to_string());
        let result = measure(&[&load[..], &[&real, "--target", &url]].concat());
        let workload = &result["config"]["workload"];
        assert_eq!((workload["rate"].as_str(), workload["rate_per_s"].as_f64()), (Some(STAGES), None));
        assert_eq!(
            (workload["duration"].as_str(), workload["drain"].as_str()),
            (Some("2s 500ms"), Some("1m"))
        );
        assert!(workload["ops"].is_null(), "{workload}");
        measure(&[&load[..], &[&simulated, "--simulate"]].concat());
        assert_eq!(arrivals(&folder, "real"), arrivals(&folder, "simulated"), "{arrivals_by}");
        if arrivals_by == "uniform" {
            assert_eq!(arrivals(&folder, "real").len(), 10 + 110 + 50);
        }
    }
}

#[test]
fn a_range_changes_over_the_duration_and_ops_may_end_it_earlier() {
    let base = ["--simulate", "-s", "none", "--arrivals", "uniform"];
    let ops = |more: &[&str]| measure(&[&base[..], more].concat())["ops"]["total"].as_u64().unwrap();
    assert_eq!(ops(&["--rate", "10/s..100/s", "--duration", "10s"]), 550);
    assert_eq!(ops(&["--rate", "10/s..100/s for 10s"]), 550);
    assert_eq!(ops(&["--rate", "10/s..100/s for 10s", "--ops", "30"]), 30);
    assert_eq!(ops(&["--rate", "600..0/m for 10s", "--drain", "1s"]), 50);
}

#[test]
fn what_stages_exclude_is_refused() {
    let stages = ["--rate", "1/s for 10s"];
    for (more, words) in [
        (&["--rate", "1/s..2/s"][..], "needs `--duration`"),
        (&["--rate", "1/s for 10s", "--duration", "5s"], "`--duration` has no effect"),
        (&["--rate", "1/s for 10s", "--arrivals", "burst"], "leave out `burst` or the rate"),
        (&["--rate", "1/s; 2/s for 1s"], "the stage `1/s` has no time"),
    ] {
        loadgen(&[&["--simulate"], more].concat()).exits(2).says(&[words]);
    }
    loadgen(&[&["recommend", "--strategy", "none", "--within", "5s"][..], &stages].concat())
        .exits(2)
        .says(&["must be one rate here"]);
    let vary = ["sweep", "--simulate", "--strategies", "none", "--vary", "rate=1/s for 10s,2/s for 10s"];
    loadgen(&vary).exits(2).says(&["must be one rate at every point"]);
}

#[test]
fn loads_whose_rate_changes_are_not_added_up() {
    let server = MockServer::start(&["--service-time", "1ms", "--network-delay", "0"]);
    let folder = Folder::new();
    for seed in ["1", "2"] {
        let file = folder.path(seed).display().to_string();
        let args =
            ["--rate", "10/s..20/s", "--duration", "500ms", "-s", "none", "--target", &server.url(), "-q"];
        loadgen(&[&args[..], &["--seed", seed, "--json", &file]].concat()).exits(0);
    }
    let [one, other] = ["1", "2"].map(|name| folder.path(name).display().to_string());
    loadgen(&["merge", "--together", &one, &other]).exits(2).says(&["its rate changes"]);
}
