//! One small pairing through both drivers in this process: the document, the texts and the exit code.

#[path = "../../../../../tests/machines/published.rs"]
mod published;

use std::time::Duration;

use clap::Parser;
use experiments::Experiment;
use loadgen_core::{ArrivalProcess, RunConfig, Workload};
use mockserver::core::Config;
use serde_json::Value;
use vocabulary::Distribution;

use super::*;

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    parity: ParityArgs,
}

/// A hundred ops at a cap of ten, which take a third of a second in real time.
fn small() -> Pairing {
    let arrivals = ArrivalProcess::Poisson { rate_per_s: 100.0 };
    let workload = Workload { arrivals, ops: Some(100), duration: None };
    let server = Config {
        max_busy: 10,
        service_time: Distribution::Constant(Duration::from_millis(200)),
        network_delay: Distribution::Constant(Duration::from_millis(50)),
        ..Config::default()
    };
    let run = RunConfig { workload, ..RunConfig::default() };
    let strategy = "aimd".parse().expect("it is a strategy");
    let experiment =
        Experiment { time_scale: scale(0.15).expect("it is a scale"), ..Experiment::of_run(strategy, run) };
    Pairing { name: "small".to_owned(), experiment, server }
}

/// The document lists every compared figure, and whether it is within its band.
#[test]
fn parity_succeeds_only_if_all_figures_agree() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("parity.json");
    let path = file.to_str().expect("a plain path");
    let flags =
        ["parity", "--json", path, "--quiet", "--repeats", "5", "--time-scale", "0.15", "--threads", "1"];
    let args = Flags::try_parse_from(flags).expect("they are flags").parity;
    let exports = Exports::prepare(&args.exports.asked, &Layout::default(), &[]).expect("it can be written");
    let exit = compare_all(&args, &[small(), small()], exports, &Interrupt::default()).expect("it runs");
    let text = std::fs::read_to_string(&file).expect("the document was written");
    let document: Value = serde_json::from_str(&text).expect("it is JSON");
    published::assert_valid("Parity", &document);
    let pairings = document["pairings"].as_array().expect("a list");
    assert_eq!(pairings.len(), 2);
    let mut all_agree = true;
    for pairing in pairings {
        let figures = pairing["figures"].as_array().expect("a list");
        assert!(figures.len() >= 7, "{pairing}");
        for figure in figures {
            let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number in {figure}"));
            let off = (number(&figure["http"]) - number(&figure["simulated"]["mean"])).abs();
            let agrees = off <= number(&figure["band"]);
            assert_eq!(figure["agrees"], agrees, "{figure}");
            all_agree &= agrees;
        }
    }
    let expected = if all_agree { ExitCode::SUCCESS } else { Exit::Unmet.into() };
    assert_eq!(format!("{exit:?}"), format!("{expected:?}"));
}

#[test]
fn a_drawn_setting_names_the_number_that_reproduces_it() {
    let scale = scale(0.2).expect("it is a scale");
    let drawn = || pairing::at_seed_scale(42, scale).expect("it can be drawn");
    let names: Vec<String> = drawn().into_iter().map(|pairing| pairing.name).collect();
    assert_eq!(names.len(), 6);
    assert!(names[5].contains("--draw 42"), "{names:?}");
    let server = |pairings: Vec<Pairing>| pairings.into_iter().next_back().map(|last| last.server);
    assert_eq!(server(drawn()), server(drawn()));
    assert_ne!(server(drawn()), server(pairing::at_seed_scale(43, scale).expect("it can be drawn")));
}
