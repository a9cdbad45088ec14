//! Text that is printed on stderr before and during runs.

use std::fmt::Write as _;
use std::time::Duration;

use experiments::Experiment;
use mockserver::core::Config;
use tailback::StrategySpec;

use crate::runner::experiment::workload_text;
use crate::text::{labelled_to_stderr, seconds, thousands, wrapped};

/// Maximum number of warnings about probable mistakes that a command prints. A sweep may have one warning at each of thousands of points.
const MAX_DOUBTS: usize = 8;

/// Returns the first lines of a run. `unasked` is present if the server was not asked whether it is a mockserver.
pub fn announcement(
    experiment: &Experiment,
    unasked: Option<&str>,
    server: &str,
    model: Option<&Config>,
) -> String {
    let is_foreign = experiment.is_default_strategy && model.is_none();
    let strategy = match (is_foreign, unasked) {
        (false, None) => experiment.strategy.to_string(),
        (false, Some(unasked)) => format!("{} · {unasked}", experiment.strategy),
        (true, None) => format!("{} by default (not a mockserver)", experiment.strategy),
        (true, Some(unasked)) => format!("{} by default · {unasked}", experiment.strategy),
    };
    let first = wrapped(&format!("{strategy} · {}", workload_text(experiment)), "", "  ");
    let mut text = format!("{first}\n{server}\n");
    if let Some(model) = model {
        let _ = writeln!(text, "{}", wrapped(&model.describe(), "", "  "));
    }
    if matches!(experiment.run.workload.arrivals, loadgen_core::ArrivalProcess::Closed { .. }) {
        let note = "a closed loop sends fewer ops to a slow server, which hides waiting";
        let _ = writeln!(text, "{}", wrapped(note, "note: ", "      "));
    }
    text
}

pub fn progress(done: usize, of: usize, elapsed: Duration) -> String {
    let mut text = format!("{} of {} runs", thousands(done as u64), thousands(of as u64));
    if done > 0 {
        let left = elapsed.as_secs_f64() * (of - done) as f64 / done as f64;
        let _ = write!(text, "   eta {}", seconds(left));
    }
    text
}

/// Prints a warning for each strategy that can run but is probably a mistake. Equal warnings are printed only once.
pub fn doubts<'a>(strategies: impl IntoIterator<Item = &'a StrategySpec>) {
    let mut doubts: Vec<String> = Vec::new();
    for doubt in strategies.into_iter().flat_map(StrategySpec::doubts) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
        if doubts.len() > MAX_DOUBTS {
            doubts.truncate(MAX_DOUBTS);
            doubts.push("similar warnings at further points".to_owned());
            break;
        }
    }
    for doubt in doubts {
        labelled_to_stderr("warning: ", &doubt);
    }
}
