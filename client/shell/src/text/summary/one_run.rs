//! Summary of one run: the answer, rows of figures, the load, warnings, and with `--explain` the details.

use std::fmt::Write as _;

use experiments::Experiment;
use experiments::record::rejections_hold_slots;
use experiments::runs::one_run::Finished;
use loadgen_core::{LatencyBar, LatencyFigures};
use results::{Mode, RunResult};
use wire::{PolicyCounts, ServerCounts};

use crate::runner::experiment::workload_text;
use crate::text::figures::bytes;
use crate::text::notes::note;
use crate::text::summary::answer::{above_zero, answer};
use crate::text::summary::rows::{Row, known, largest_window, latency, rows};
use crate::text::wrapping::wrapped_figures;
use crate::text::{
    Column, LongNames, Table, dash, milliseconds, percent, seconds, short, terminal_width, thousands,
    wrapped_to,
};

/// Maximum number of printed warnings, because a merged run may have warnings from hundreds of parts.
const MAX_WARNINGS: usize = 10;

pub fn run(run: &Finished, repeat: usize, experiment: &Experiment, explain: bool) -> String {
    let result = &run.result;
    let mut text = format!("{}\n\n", wrapped_to(terminal_width(), &answer(result), "", ""));
    text.push_str(&lines(&rows(run, explain)));
    if result.is_foreign() {
        text.push_str(&latencies(result, terminal_width()));
    }
    let mut seed = format!("seed {}", result.seed);
    if experiment.repeats > 1 {
        let (run, runs) = (thousands(repeat as u64 + 1), thousands(experiment.repeats.into()));
        let _ = write!(seed, ", run {run} of {runs}");
    }
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

/// Maximum number of lines of percentiles and of the histogram together, on a terminal with 60 or more columns.
const MAX_LINES: usize = 9;

/// Minimum number of lines of the histogram.
const MIN_LINES: usize = 3;

/// Maximum width of a bar in columns.
const MAX_BAR: usize = 40;

const MIN_BAR: usize = 5;

/// Width of the labels of rows in columns.
const LABEL: usize = 12;

/// Width of a percentile in columns.
const PERCENTILE: usize = 9;

/// Returns the percentiles of attempts, those of ops if they differ, and the histogram, in lines of at most `width` columns. Empty if no
/// attempt was answered.
pub(super) fn latencies(result: &RunResult, width: usize) -> String {
    if result.attempt_latency_ms.count == 0 {
        return String::new();
    }
    let mut table = Table::new(LABEL, [Column::Right(PERCENTILE); 7], LongNames::Shift);
    table.titles("  latency", LatencyFigures::UPPER);
    let mut row = |label: &str, figures: &LatencyFigures| {
        table.row("  ", label, &figures.upper().map(|ms| ms.map_or_else(dash, milliseconds)));
    };
    row("attempt", &result.attempt_latency_ms);
    if result.op_latency_ms.count > 0 && result.ops_took_longer() {
        row("op", &result.op_latency_ms);
    }
    let text = table.within(width);
    let lines = MAX_LINES.saturating_sub(text.lines().count()).max(MIN_LINES);
    text + &histogram(&result.attempt_latency_bars, lines, width)
}

/// Formats a histogram. Neighbouring bars are joined until there are few enough for the terminal.
fn histogram(bars: &[LatencyBar], max_lines: usize, width: usize) -> String {
    let sum = |bars: &[LatencyBar]| bars.iter().map(|bar| bar.attempts).sum::<u64>();
    let joined = bars.chunks(bars.len().div_ceil(max_lines).max(1));
    let rows: Vec<(String, u64)> =
        joined.filter_map(|bars| Some((milliseconds(bars.last()?.to_ms), sum(bars)))).collect();
    let most = rows.iter().map(|(_, attempts)| *attempts).max().unwrap_or(0).max(1);
    let all = sum(bars).max(1) as f64;
    let counted = thousands(most).chars().count();
    let mut text = String::new();
    for (index, (bound, attempts)) in rows.iter().enumerate() {
        let label = if index == 0 { "histogram" } else { "" };
        let share = match *attempts as f64 / all {
            share if 0.0 < share && share < 0.001 => "< 0.1 %".to_owned(),
            share => percent(share),
        };
        let begin = format!("  {label:<10} ≤ {bound:>7} {:>counted$} {share:>7}  ", thousands(*attempts));
        let room = width.saturating_sub(begin.chars().count() + 1).min(MAX_BAR);
        // A narrower terminal has no room for bars.
        if room < MIN_BAR {
            return String::new();
        }
        let _ = writeln!(text, "{}", format!("{begin}{}", bar(*attempts, most, room)).trim_end());
    }
    text
}

/// Returns a bar whose length is the share of `count` in `most`. A count above zero has at least a thin stroke.
fn bar(count: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(u128::from(count) * (room as u128 * 8) / u128::from(most)).unwrap_or(0);
    let eighths = if count > 0 { eighths.max(1) } else { 0 }.min(room * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Figures of a run that are only printed with `--explain`.
fn details(run: &Finished) -> Vec<Row> {
    let result = &run.result;
    let server = result.server.as_ref();
    let rows = [
        ("makespan", Some(makespan(result))),
        ("goodput", goodput(result)),
        ("attempt", Some(latency(&result.attempt_latency_ms))),
        ("window", window(result)),
        ("server", server.map(|server| received(server, result))),
        ("policies", server.and_then(by_policy)),
        ("generator", (result.mode == Mode::Http).then(|| generator(run))),
    ];
    known(rows, "")
}

fn makespan(result: &RunResult) -> String {
    let Some(makespan) = result.makespan_s else { return "no op ended".to_owned() };
    let mut figures = seconds(makespan);
    if result.ops.succeeded < result.ops.share_base() {
        figures.push_str(" until the last op ended, because not every op succeeded");
    } else if let Some(bound) = result.optimal_makespan_s.filter(|bound| *bound > 0.0) {
        let more = (makespan / bound - 1.0) * 100.0;
        let _ = write!(figures, ", {more:+.0} % over the lower bound of {}", seconds(bound));
    } else {
        figures.push_str("   no lower bound known");
    }
    figures
}

fn goodput(result: &RunResult) -> Option<String> {
    let mut figures = format!("{}/s", short(result.goodput_per_s?));
    if let Some(efficiency) = result.efficiency {
        let _ = write!(figures, "   efficiency {} (ops done per attempt)", percent(efficiency));
    }
    Some(figures)
}

fn window(result: &RunResult) -> Option<String> {
    let window = &result.window;
    let deviation = window.sd.filter(|sd| *sd > 0.0).map(|sd| format!("standard deviation {}", short(sd)));
    let most = largest_window(result).map(|most| format!("most {most}"));
    let overshoot =
        window.overshoot.map(|most| format!("in flight at most {} beyond the slots", short(most.round())));
    let figures: Vec<String> =
        window.mean.and(Some([deviation, most, overshoot]))?.into_iter().flatten().collect();
    (!figures.is_empty()).then(|| figures.join("   "))
}

fn received(server: &ServerCounts, result: &RunResult) -> String {
    let [received, accepted, rejected] = [server.received, server.accepted, server.rejected].map(thousands);
    let busiest = busiest(server, rejections_hold_slots(&result.config));
    let figures = format!("{received} received   {accepted} accepted   {rejected} rejected   {busiest}");
    let others = above_zero([
        (server.failed, "failed on purpose"),
        (server.reads, "reads"),
        (server.reads_rejected, "reads rejected"),
        (server.crashes, "crashes"),
    ]);
    [vec![figures], others].concat().join("   ")
}

/// Formats the maximum number of slots that were busy at once. This number may exceed the concurrency cap if rejections hold slots, too.
fn busiest(server: &ServerCounts, rejections_hold_slots: bool) -> String {
    let figure = format!("busy at most {}", thousands(server.max_busy_seen));
    if !rejections_hold_slots || server.max_busy_seen <= server.max_accepted_seen {
        return figure;
    }
    format!("{figure} ({} accepted; rejections hold slots, too)", thousands(server.max_accepted_seen))
}

fn by_policy(server: &ServerCounts) -> Option<String> {
    let each = server.by_policy.iter().map(|policy: &PolicyCounts| {
        let [accepted, rejected] = [policy.accepted, policy.rejected].map(thousands);
        format!("{}: {accepted} passed, {rejected} rejected", policy.name)
    });
    (!server.by_policy.is_empty()).then(|| each.collect::<Vec<_>>().join("   "))
}

fn generator(run: &Finished) -> String {
    let generator = &run.result.generator;
    let lags = [generator.send_lag_ms.p50, generator.send_lag_ms.p99];
    let [p50, p99] = lags.map(|ms| ms.map_or_else(dash, milliseconds));
    let mut figures = format!("send lag p50 {p50}, p99 {p99}");
    if let Some(share) = run.generator_share {
        let _ = write!(figures, "   busy {}", percent(share));
    }
    if let Some(peak) = generator.peak_rss_bytes {
        let _ = write!(figures, "   peak {}", bytes(peak));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(last_ms: f64) -> LatencyFigures {
        let known = [1.2, 1.5, 1.9, 2.25, 33.4, 888.0].map(Some);
        let [p50, p75, p90, p95, p99, p999] = known;
        LatencyFigures {
            count: 9,
            p50,
            p75,
            p90,
            p95,
            p99,
            p999,
            max: Some(last_ms),
            ..LatencyFigures::default()
        }
    }

    fn bars() -> Vec<LatencyBar> {
        let counts = [1_234_567, 20_000, 0, 1, 0, 0, 30, 4, 4, 4, 7, 8, 9];
        counts
            .iter()
            .enumerate()
            .map(|(place, attempts)| LatencyBar {
                to_ms: 2_f64.powi(i32::try_from(place).unwrap()),
                attempts: *attempts,
            })
            .collect()
    }

    #[test]
    fn percentiles_and_the_histogram_fit_the_terminal_in_nine_lines() {
        let mut result = result();
        result.attempts.total += 1;
        result.attempt_latency_bars = bars();
        for width in [32, 40, 60, 72, 80, 120] {
            let text = latencies(&result, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert!(text.contains("p99.9") && text.contains(" max"), "{width}:\n{text}");
            assert_eq!(text.matches("  latency").count() > 1, width < 80, "{width}:\n{text}");
            assert!(text.lines().count() <= 9 || width < 60, "{width}:\n{text}");
        }
    }

    #[test]
    fn every_attempt_is_in_the_histogram_and_rare_ones_are_visible() {
        let text = histogram(&bars(), 6, 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[0].starts_with("  histogram  ≤ 4.00 ms 1 254 567 99.99 %"), "{text}");
        assert!(lines[0].ends_with('█') && lines[1].ends_with('▏'), "{text}");
        assert_eq!(histogram(&[], 6, 80), "");
        let nothing = histogram(&[LatencyBar { to_ms: 1.0, attempts: 0 }], 6, 80);
        assert!(nothing.contains("0 %"), "{nothing}");
    }

    #[test]
    fn ops_are_shown_only_if_they_took_longer() {
        let mut result = result();
        assert!(!latencies(&result, 80).contains("\n  op "));
        result.attempts.total += 1;
        assert!(latencies(&result, 80).contains("\n  op "));
        result.attempt_latency_ms.count = 0;
        assert_eq!(latencies(&result, 80), "");
    }

    #[test]
    fn the_rate_of_answers_includes_the_time_in_which_ops_waited() {
        let mut result = result();
        result.statuses = serde_json::from_str(r#"[{"status": 200, "attempts": 20}]"#).unwrap();
        result.makespan_s = Some(0.02);
        assert_eq!(result.answers_per_s(), Some(1000.0));
        (result.ops.unfinished, result.wall_s) = (1, Some(4.0));
        assert_eq!(result.answers_per_s(), Some(5.0));
    }

    fn result() -> RunResult {
        let run = r#"{"schema_version": 1, "mode": "http", "strategy": "none", "seed": 1,
            "ops": {"total": 9, "succeeded": 9, "given_up": 0}, "attempts": {"total": 9, "succeeded": 9},
            "amplification": 1.0, "efficiency": 1.0, "attempts_per_success": 1.0, "makespan_s": 1.0, "makespan_complete": true,
            "optimal_makespan_s": null, "goodput_per_s": 9.0, "stalled_at_s": null, "late_share": null, "done_share": 1.0,
            "fairness": null, "wasted_server_s": null, "server_work_per_success_ms": null, "server": null, "started_at": null,
            "wall_s": 1.0, "interrupted": null}"#;
        let mut result: RunResult = results::read(run).unwrap();
        for latencies in [
            &mut result.op_latency_ms.figures,
            &mut result.attempt_latency_ms,
            &mut result.success_latency_ms,
        ] {
            *latencies = figures(900.0);
        }
        result
    }
}
