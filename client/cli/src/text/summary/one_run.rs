//! Summary of one run: the answer, rows of figures, the load, warnings, and with `--explain` the details.

use std::fmt::Write as _;

use experiments::Experiment;
use experiments::runs::one_run::Finished;
use results::{Mode, RunResult};

use super::answer::answer;
use super::details::details;
use super::foreign::latencies;
use super::rows::{Row, rows};
use crate::runner::experiment::workload_text;
use crate::text::figures::{short, thousands};
use crate::text::notes::note;
use crate::text::wrapping::{terminal_width, wrapped_figures, wrapped_to};

/// Maximum number of printed warnings, because a merged run may have warnings from hundreds of parts.
const MAX_WARNINGS: usize = 10;

pub(crate) fn run(run: &Finished, repeat: usize, experiment: &Experiment, explain: bool) -> String {
    let result = &run.result;
    let mut text = format!("{}\n\n", wrapped_to(terminal_width(), &answer(result), "", ""));
    text.push_str(&lines(&rows(run, explain)));
    if result.is_foreign() {
        text.push_str(&latencies(result, terminal_width()));
    }
    let seed = match experiment.repeats {
        1 => format!("seed {}", result.seed),
        repeats => {
            format!(
                "seed {}, run {} of {}",
                result.seed,
                thousands(repeat as u64 + 1),
                thousands(repeats.into())
            )
        }
    };
    let _ = write!(text, "\n{}", setting(result, &seed, experiment));
    if explain {
        let _ = write!(text, "\n{}", lines(&details(run)));
    }
    let more = result.warnings.len().saturating_sub(MAX_WARNINGS);
    let more = (more > 0).then(|| format!("{more} more warnings in the JSON document"));
    for warning in result.warnings.iter().take(MAX_WARNINGS).chain(&more) {
        let _ = writeln!(text, "{}", note(warning, explain));
    }
    text
}

/// Returns the line with the load and the seeds. If the server's capacity is unknown, the line contains the workload instead of the load.
pub(super) fn setting(result: &RunResult, seeds: &str, experiment: &Experiment) -> String {
    let load = result.load.clone().unwrap_or_else(|| workload_text(experiment));
    let scale = result.config.time_scale;
    let mode = match result.mode {
        Mode::Simulated => "simulated".to_owned(),
        Mode::Http if (scale - 1.0).abs() < 1e-9 => "over HTTP".to_owned(),
        Mode::Http => format!("over HTTP at time scale {}", short(scale)),
    };
    format!("{}\n", wrapped_figures(&format!("{load}.   {seeds}, {mode}"), ""))
}

fn lines(rows: &[Row]) -> String {
    let lines = rows.iter().map(|Row { label, figures, is_one_line }| {
        let lines = wrapped_figures(figures, &format!("  {label:<10} "));
        let lines = if *is_one_line { lines.lines().next().unwrap_or_default() } else { &lines };
        format!("{lines}\n")
    });
    lines.collect()
}
