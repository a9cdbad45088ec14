//! What is printed before and after a run, in 80 columns.

use std::fmt::Write as _;

use loadgen_core::{LatencyFigures, RunResult};

use crate::figures::{bytes, milliseconds, percent, seconds, thousands};
use crate::one_run::Finished;
use crate::record::ConfigRecord;
use crate::settings::Settings;
use crate::target::Server;
use crate::wrapping::wrapped;

/// What is about to run, and where: a line or two.
pub(crate) fn announcement(settings: &Settings, server: &Server) -> String {
    let mut text = format!("{} · {}\n{}\n", settings.strategy, settings.workload_text(), server.describe());
    if let Some(model) = server.describe_model() {
        let _ = writeln!(text, "{model}");
    }
    if matches!(settings.run.workload.arrivals, loadgen_core::ArrivalProcess::Closed { .. }) {
        text.push_str("note: a closed loop hides waiting: what is slow is asked less\n");
    }
    text
}

/// One run's figures.
pub(crate) fn run(run: &Finished, repeat: u32, settings: &Settings, colour: bool) -> String {
    let result = &run.result;
    let mut text = String::new();
    let bold = |words: &str| if colour { format!("\u{1b}[1m{words}\u{1b}[0m") } else { words.to_owned() };
    let title = format!("{} · {} · seed {}", result.strategy, settings.workload_text(), result.seed);
    let _ = writeln!(text, "\n{}", bold(&title));
    if settings.repeats > 1 {
        let _ = writeln!(text, "run {} of {}", repeat + 1, settings.repeats);
    }
    let mut row = |label: &str, words: String| {
        let line = format!("  {label:<10} {words}");
        let fits = line.chars().count() <= 80;
        let line = if fits { line } else { wrapped(&words, &format!("  {label:<10} "), &" ".repeat(13)) };
        let _ = writeln!(text, "{line}");
    };
    row("ops", ops(result));
    row("attempts", attempts(result));
    row("makespan", makespan(result));
    row("op latency", latency(&result.op_latency_ms));
    row("attempt", latency(&result.attempt_latency_ms));
    if let Some(server) = result.server {
        row(
            "server",
            format!(
                "{} received   {} accepted   {} rejected   busy at most {}",
                thousands(server.received),
                thousands(server.accepted),
                thousands(server.rejected),
                server.max_busy_seen
            ),
        );
    }
    row("generator", generator(run));
    row("counts", counts(run));
    if let Some(at) = result.stalled_at_s {
        row("stalled", format!("at {}: attempts went on, but nothing had succeeded for long", seconds(at)));
    }
    if let Some(signal) = result.interrupted {
        row("stopped", format!("by {signal}; what was measured until then is above"));
    }
    for warning in &result.warnings {
        let _ = writeln!(text, "{}", wrapped(warning, "warning: ", "         "));
    }
    text
}

/// Several runs together: mean and extremes of what matters most.
pub(crate) fn several(runs: &[Finished]) -> String {
    let mut text = format!("\n{} runs\n  {:<14}{:>12}{:>12}{:>12}\n", runs.len(), "", "mean", "min", "max");
    let mut row = |label: &str, figure: &dyn Fn(&RunResult<ConfigRecord>) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(|run| figure(&run.result)).collect();
        if values.is_empty() {
            return;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let _ = writeln!(text, "  {label:<14}{mean:>12.2}{min:>12.2}{max:>12.2}");
    };
    row("attempts", &|result| Some(result.attempts.total as f64));
    row("per op", &|result| result.amplification);
    row("makespan s", &|result| result.makespan_s);
    row("p50 op ms", &|result| result.op_latency_ms.p50);
    row("p99 op ms", &|result| result.op_latency_ms.p99);
    text
}

/// Why a run got no answer at all.
pub(crate) fn unanswered(run: &Finished) -> String {
    format!(
        "no attempt got an answer: all {} failed (connections refused or reset, no HTTP, or no answer in time); \
         check `--target`",
        thousands(run.result.attempts.failed)
    )
}

fn ops(result: &RunResult<ConfigRecord>) -> String {
    let ops = result.ops;
    let mut words = format!("{} succeeded of {}", thousands(ops.succeeded), thousands(ops.total));
    for (count, what) in [(ops.given_up, "given up"), (ops.unfinished, "unfinished")] {
        if count > 0 {
            let _ = write!(words, "   {} {what}", thousands(count));
        }
    }
    words
}

fn attempts(result: &RunResult<ConfigRecord>) -> String {
    let attempts = result.attempts;
    let mut words = thousands(attempts.total);
    if let (Some(amplification), Some(efficiency)) = (result.amplification, result.efficiency) {
        let _ = write!(words, "   {amplification:.2} per op   efficiency {}", percent(efficiency));
    }
    for (count, what) in [
        (attempts.rejected, "rejected"),
        (attempts.failed, "failed"),
        (attempts.cancelled, "cancelled"),
        (attempts.shed, "shed"),
    ] {
        if count > 0 {
            let _ = write!(words, "   {} {what}", thousands(count));
        }
    }
    words
}

fn makespan(result: &RunResult<ConfigRecord>) -> String {
    let Some(makespan) = result.makespan_s else { return "no op ended".to_owned() };
    let mut words = seconds(makespan);
    if !result.makespan_complete {
        words.push_str(" (to the last end: not every op succeeded)");
    } else if let Some(optimal) = result.optimal_makespan_s.filter(|optimal| *optimal > 0.0) {
        let _ = write!(words, ", optimal {}, {:+.0} %", seconds(optimal), (makespan / optimal - 1.0) * 100.0);
    }
    if let Some(goodput) = result.goodput_per_s {
        let _ = write!(words, "   goodput {goodput:.1}/s");
    }
    words
}

fn latency(figures: &LatencyFigures) -> String {
    let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), milliseconds);
    if figures.count == 0 {
        return "none".to_owned();
    }
    format!(
        "p50 {}   p95 {}   p99 {}   max {}",
        show(figures.p50),
        show(figures.p95),
        show(figures.p99),
        show(figures.max)
    )
}

fn generator(run: &Finished) -> String {
    let generator = &run.result.generator;
    let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), milliseconds);
    let mut words =
        format!("send lag p50 {}, p99 {}", show(generator.send_lag_ms.p50), show(generator.send_lag_ms.p99));
    if let Some(share) = run.generator_share {
        let _ = write!(words, "   cpu {}", percent(share));
    }
    if let Some(peak) = generator.peak_rss_bytes {
        let _ = write!(words, "   peak {}", bytes(peak));
    }
    words
}

fn counts(run: &Finished) -> String {
    match (run.conservation.holds(), run.conservation.server_compared) {
        (true, true) => "ops and attempts add up, and the server received what was sent".to_owned(),
        (true, false) => "ops and attempts add up; no server's counts to compare with".to_owned(),
        (false, _) => "DO NOT ADD UP, see the error".to_owned(),
    }
}
