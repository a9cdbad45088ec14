//! What is printed before and after a run, in 80 columns.

use std::fmt::Write as _;
use std::time::Duration;

use experiments::Experiment;
use experiments::record::rejections_hold_slots;
use experiments::runs::one_run::Finished;
use loadgen_core::{AdviceFigures, AttemptCounts, LatencyFigures, RateFigures};
use mockserver::core::Config;
use results::{Mode, RunResult};
use statistics::Summary;
use vocabulary::wire::{PolicyCounts, ServerCounts};

use crate::experiment::workload_text;
use crate::interrupt::by_whom;
use crate::text::causes::causes;
use crate::text::figures::{at_least, bytes, counted, milliseconds, percent, seconds, short, thousands};
use crate::text::shards;
use crate::text::stderr::to_stderr;
use crate::text::table::{Column, LongNames, Table};
use crate::text::wrapping::{wrapped, wrapped_figures};

/// Warnings of a run that are shown: of hundreds of shards each may have some.
const MOST_WARNINGS: usize = 10;

/// What is about to run, and where: a line or two.
pub(crate) fn announcement(experiment: &Experiment, server: &str, model: Option<&Config>) -> String {
    let mut text = format!("{} · {}\n{server}\n", experiment.strategy, workload_text(experiment));
    if let Some(model) = model {
        let _ = writeln!(text, "{}", model.describe());
    }
    if matches!(experiment.run.workload.arrivals, loadgen_core::ArrivalProcess::Closed { .. }) {
        text.push_str("note: a closed loop hides waiting: what is slow is asked less\n");
    }
    text
}

/// One run's figures.
pub(crate) fn run(run: &Finished, repeat: usize, experiment: &Experiment) -> String {
    let result = &run.result;
    let mut text = String::new();
    let title = format!("{} · {} · seed {}", result.strategy, workload_text(experiment), result.seed);
    let _ = writeln!(text, "\n{title}");
    if experiment.repeats > 1 {
        let _ = writeln!(text, "run {} of {}", repeat + 1, experiment.repeats);
    }
    let mut row = |label: &str, words: String| {
        let _ = writeln!(text, "{}", wrapped_figures(&words, &format!("  {label:<10} ")));
    };
    row("ops", ops(result));
    row("attempts", attempts(result));
    if result.attempts.failed > 0 {
        row("failures", causes(&result.failures).join("   "));
    }
    if result.ops.given_up > 0 {
        row("given up", given_up(result));
    }
    row("makespan", makespan(result));
    row("op latency", latency(&result.op_latency_ms));
    row("attempt", latency(&result.attempt_latency_ms));
    if let Some(words) = window(result) {
        row("window", words);
    }
    if let Some(words) = result.rate.map(rate) {
        row("rate", words);
    }
    if let Some(words) = fairness(result) {
        row("fairness", words);
    }
    if let Some(share) = result.late_share {
        let at_most = if result.share_is_lower_bound { "at most " } else { "" };
        row("deadline", format!("missed by {at_most}{} of the ops", percent(share)));
    }
    if let Some((share, limit)) = result.done_share.zip(result.config.within.as_ref()) {
        let share = at_least(share, result.share_is_lower_bound);
        row("in time", format!("{share} of the ops within {limit}"));
    }
    if let Some(words) = advice(result) {
        row("advice", words);
    }
    if let Some(words) = needless(result) {
        row("needless", words);
    }
    if let Some(server) = &result.server {
        let mut words = format!(
            "{} received   {} accepted   {} rejected   {}",
            thousands(server.received),
            thousands(server.accepted),
            thousands(server.rejected),
            busiest(server, rejections_hold_slots(&result.config))
        );
        for (count, what) in [
            (server.failed, "failed on purpose"),
            (server.reads, "reads"),
            (server.reads_rejected, "of them rejected"),
            (server.crashes, "crashes"),
        ] {
            if count > 0 {
                let _ = write!(words, "   {} {what}", thousands(count));
            }
        }
        row("server", words);
        if !server.by_policy.is_empty() {
            row("policies", by_policy(&server.by_policy));
        }
    }
    if let Some(shard) = &result.shard {
        row("shard", shards::share(shard));
    }
    if let Some(merged) = &result.merged {
        row("shards", shards::together(merged));
    }
    if let Some(wasted_s) = result.wasted_server_s.filter(|wasted_s| *wasted_s > 0.0) {
        row("wasted", format!("{} of the time of the server's slots", seconds(wasted_s)));
    }
    if run.result.mode != Mode::Simulated {
        row("generator", generator(run));
    }
    row("counts", counts(run));
    if let Some(words) = &result.load {
        row("load", words.clone());
    }
    if let Some(at) = result.stalled_at_s {
        row("stalled", format!("at {}: attempts went on, but nothing had succeeded for long", seconds(at)));
    }
    if let Some(cause) = &result.interrupted {
        row("stopped", format!("by {}; what was measured until then is above", by_whom(cause)));
    }
    let more = result.warnings.len().saturating_sub(MOST_WARNINGS);
    let more = (more > 0).then(|| format!("{more} more, which stand in the document"));
    for warning in result.warnings.iter().take(MOST_WARNINGS).chain(&more) {
        let _ = writeln!(text, "{}", wrapped(warning, "warning: ", "         "));
    }
    text
}

/// What each policy of a stack did.
fn by_policy(policies: &[PolicyCounts]) -> String {
    let each = policies.iter().map(|policy| {
        let [accepted, rejected] = [policy.accepted, policy.rejected].map(thousands);
        format!("{}: {accepted} passed, {rejected} rejected", policy.name)
    });
    each.collect::<Vec<_>>().join("   ")
}

/// How the client broke the server's advice, if it did.
fn advice(result: &RunResult) -> Option<String> {
    let AdviceFigures { retries, broken, early_ms } = result.advice;
    let (mean, max) = early_ms.mean.zip(early_ms.max)?;
    Some(format!(
        "{} of {} retries came before the instant that the server had advised: {} on average, at most {}",
        thousands(broken),
        thousands(retries),
        milliseconds(mean),
        milliseconds(max)
    ))
}

/// Attempts that could not help, if there were any.
fn needless(result: &RunResult) -> Option<String> {
    let counts = [
        (result.attempts.after_final, "after an answer that no retry changes"),
        (result.attempts.duplicates, "beside another of the same op"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", thousands(*count)))
        .collect();
    (!told.is_empty()).then(|| told.join("   "))
}

/// How far many runs are, with an estimate.
pub(crate) fn progress(done: usize, of: usize, elapsed: Duration) -> String {
    let mut text = format!("{} of {} runs", thousands(done as u64), thousands(of as u64));
    if done > 0 {
        let left = elapsed.as_secs_f64() * (of - done) as f64 / done as f64;
        let _ = write!(text, "   eta {}", seconds(left));
    }
    text
}

/// Several runs together: what matters most, over seeds.
pub(crate) fn several(figures: &[(&'static str, Summary)], runs: usize) -> String {
    let runs = thousands(runs as u64);
    let columns = [
        Column::Right(11),
        Column::Right(9),
        Column::Left(19),
        Column::Right(8),
        Column::Right(8),
        Column::Right(8),
    ];
    let mut table = Table::new(16, columns, LongNames::Shift);
    table.titles("  over seeds", ["mean", "± sd", "95 % of the mean", "p5", "p50", "p95"]);
    let shown: Vec<(&str, &Summary)> = SHOWN
        .iter()
        .filter_map(|(label, path)| {
            let (_, figure) = figures.iter().find(|(name, _)| name == path)?;
            Some((*label, figure))
        })
        .collect();
    for (label, figure) in &shown {
        let interval = figure.interval.map_or_else(
            || "too few runs".to_owned(),
            |range| format!("{}–{}", short(range.low), short(range.high)),
        );
        let spread = figure.deviation.map_or_else(|| "–".to_owned(), short);
        let [p5, p50, p95] = [figure.p5, figure.p50, figure.p95].map(short);
        table.row("  ", label, &[short(figure.mean), spread, interval, p5, p50, p95]);
    }
    for words in crate::repeats::skewed(shown.into_iter().map(|(label, figure)| (label.to_owned(), figure))) {
        table.line(&wrapped(&words, "warning: ", "         "));
    }
    format!("\n{runs} runs\n{}", table.into_text())
}

/// What is shown of several runs, and where it stands in the result.
pub(crate) const SHOWN: &[(&str, &str)] = &[
    ("attempts", "attempts.total"),
    ("per op", "amplification"),
    ("makespan s", "makespan_s"),
    ("lower bound s", "optimal_makespan_s"),
    ("goodput /s", "goodput_per_s"),
    ("p50 op ms", "op_latency_ms.p50"),
    ("p99 op ms", "op_latency_ms.p99"),
];

fn ops(result: &RunResult) -> String {
    let ops = result.ops;
    let base = ops.share_base();
    let mut words = format!("{} succeeded of {}", thousands(ops.succeeded), thousands(base));
    if ops.offered.is_none() && result.share_is_lower_bound {
        words.push_str(" that arrived");
    }
    if let Some(share) = ops.share(ops.succeeded).filter(|_| result.share_is_lower_bound) {
        let _ = write!(words, "   {}", at_least(share, true));
    }
    let to_come = base.saturating_sub(ops.total);
    for (count, what) in
        [(ops.given_up, "given up"), (ops.unfinished, "unfinished"), (to_come, "did not arrive")]
    {
        if count > 0 {
            let _ = write!(words, "   {} {what}", thousands(count));
        }
    }
    words
}

fn attempts(result: &RunResult) -> String {
    let attempts = result.attempts;
    let mut words = thousands(attempts.total);
    if let (Some(amplification), Some(efficiency)) = (result.amplification, result.efficiency) {
        let _ = write!(words, "   {} per op   efficiency {}", short(amplification), percent(efficiency));
    }
    for (count, what) in [
        (attempts.rejected, "rejected"),
        (attempts.failed, "failed"),
        (attempts.cancelled, "cancelled"),
        (attempts.shed, "shed"),
        (attempts.by_gateway, "answered by a gateway"),
    ] {
        if count > 0 {
            let _ = write!(words, "   {} {what}", thousands(count));
        }
    }
    words
}

/// What the last tries of ops came to that were given up.
fn given_up(result: &RunResult) -> String {
    let after = result.given_up_after;
    let mut words: Vec<String> = Vec::new();
    for (count, what) in [
        (after.rejected, "after rejections"),
        (after.failed, "after failures"),
        (after.shed, "shed"),
        (after.deferred, "deferred"),
        (after.deadline, "at the deadline"),
    ] {
        if count > 0 {
            words.push(format!("{} {what}", thousands(count)));
        }
    }
    if result.ops.failed_for_good > 0 {
        words.push(format!("{} failed for good", thousands(result.ops.failed_for_good)));
    }
    words.join("   ")
}

fn makespan(result: &RunResult) -> String {
    let Some(makespan) = result.makespan_s else { return "no op ended".to_owned() };
    let mut words = seconds(makespan);
    let is_partial = result.merged.as_ref().is_some_and(|merged| !merged.missing.is_empty());
    if result.ops.succeeded < result.ops.share_base() {
        words.push_str(" (to the last end: not every op succeeded)");
    } else if is_partial {
        words.push_str(" (of the clients that are there)");
    } else if let Some(bound) = result.optimal_makespan_s.filter(|bound| *bound > 0.0) {
        let _ = write!(words, ", at least {}, {:+.0} %", seconds(bound), (makespan / bound - 1.0) * 100.0);
    } else {
        words.push_str(", no lower bound known");
    }
    if let Some(goodput) = result.goodput_per_s {
        let _ = write!(words, "   goodput {}/s", short(goodput));
    }
    words
}

/// The most slots that were busy at once; where rejections keep slots busy, too, that may be above the cap.
fn busiest(server: &ServerCounts, rejections_hold_slots: bool) -> String {
    let words = format!("busy at most {}", thousands(server.max_busy_seen));
    if !rejections_hold_slots || server.max_busy_seen <= server.max_accepted_seen {
        return words;
    }
    format!("{words} ({} with work: rejections hold slots, too)", thousands(server.max_accepted_seen))
}

/// How the window came to fit; for strategies that have one, against a server whose cap is known.
fn window(result: &RunResult) -> Option<String> {
    let window = &result.window;
    let (mean, sd, overshoot) = (window.mean?, window.sd?, window.overshoot?);
    let converged = match window.convergence_s {
        Some(after) => format!("fits after {}", seconds(after)),
        None => "never fits for long".to_owned(),
    };
    Some(format!(
        "mean {} ± {}   {}   {converged}   overshoot {}",
        short(mean),
        short(sd),
        counted(window.cuts?, "cut"),
        short(overshoot.round())
    ))
}

/// How the client came to fit the server's law about rates.
fn rate(rate: RateFigures) -> String {
    let beyond = format!("at most {} sent beyond what the server's law lets pass", thousands(rate.overshoot));
    let Some(law_per_s) = rate.law_per_s else { return beyond };
    let converged = match rate.convergence_s {
        Some(after) => format!("fits after {}", seconds(after)),
        None => "never fits for long".to_owned(),
    };
    format!("law {}/s   {converged}   {beyond}", short(law_per_s))
}

/// How evenly clients were served.
fn fairness(result: &RunResult) -> Option<String> {
    let fairness = result.fairness?;
    let index = fairness.jain.or(fairness.jain_whole_run);
    let mut words = index.map_or_else(|| "jain –".to_owned(), |index| format!("jain {}", short(index)));
    match (fairness.slowest_client, fairness.slowest_mean_ms) {
        (Some(client), Some(ms)) => {
            let _ = write!(words, "   slowest client {client}, mean {}", milliseconds(ms));
        }
        (Some(client), None) => {
            let _ = write!(words, "   client {client} got nothing done");
        }
        (None, _) => {}
    }
    if let Some(times) = fairness.slowest_over_median {
        let _ = write!(words, ", {} × median", short(times));
    }
    Some(words)
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
    let AttemptCounts { total: sent, by_gateway: between, .. } = run.result.attempts;
    match (
        run.conservation.holds(),
        shards::received(&run.result).filter(|_| run.conservation.server_compared),
    ) {
        (true, Some(received)) if between > 0 => {
            format!(
                "ops and attempts add up: {} sent, {} received by the server, {} answered by a gateway; so there is no \
                 lower bound",
                thousands(sent),
                thousands(received),
                thousands(between)
            )
        }
        (true, Some(received)) => match sent.saturating_sub(received) {
            0 => "ops and attempts add up, and the server received what was sent".to_owned(),
            lost => format!(
                "ops and attempts add up, and the server received all but {} that failed or were withdrawn",
                thousands(lost)
            ),
        },
        (true, None) => "ops and attempts add up; no server's counts to compare with".to_owned(),
        (false, _) => "DO NOT ADD UP, see the error".to_owned(),
    }
}

/// Doubts of one command that are told; a sweep may have one at each of thousands of points.
const MOST_DOUBTS: usize = 8;

/// Warns of what can be run, but is hardly what was meant; of each once.
pub(crate) fn doubts<'a>(strategies: impl IntoIterator<Item = &'a tailback::StrategySpec>) {
    let mut doubts: Vec<String> = Vec::new();
    for doubt in strategies.into_iter().flat_map(tailback::StrategySpec::doubts) {
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
        if doubts.len() > MOST_DOUBTS {
            doubts.truncate(MOST_DOUBTS);
            doubts.push("the like of further points".to_owned());
            break;
        }
    }
    for doubt in doubts {
        to_stderr(&format!("{}\n", crate::text::wrapping::wrapped(&doubt, "warning: ", "         ")));
    }
}
