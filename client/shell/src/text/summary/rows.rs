//! Rows of figures in the summary of a run, below its first line.

use std::fmt::Write as _;

use experiments::runs::one_run::Finished;
use loadgen_core::{AdviceFigures, AttemptCounts, LatencyFigures, RateFigures};
use mockserver::core::{Config, LeastCosts};
use results::{Mode, RunResult, ServerModel};

use crate::text::causes::{causes, statuses};
use crate::text::figures::three;
use crate::text::summary::answer::{above_zero, causes_of_giving_up};
use crate::text::{at_least, counted, dash, milliseconds, percent, seconds, short, thousands};

pub(super) struct Row {
    pub(super) label: &'static str,
    /// Figures in one row of the summary, separated by three blanks. A row that is too long is wrapped at these separators.
    pub(super) figures: String,
    /// True if the row is never wrapped. Figures that do not fit into its single line are left out.
    pub(super) is_one_line: bool,
}

pub(super) fn rows(run: &Finished, explain: bool) -> Vec<Row> {
    let result = &run.result;
    let is_foreign = result.is_foreign() && !result.statuses.is_empty();
    let has_table = is_foreign && result.attempt_latency_ms.count > 0;
    // The statuses of a foreign server include those of failures.
    let is_in_statuses = is_foreign && result.failures.iter().all(|failure| failure.status.is_some());
    let is_checked = !is_foreign || !run.conservation.holds() || explain;
    let rows = [
        ("attempts", Some(attempts(result))),
        ("failed", failed(result).filter(|_| !is_in_statuses)),
        ("answers", is_foreign.then(|| answers(result))),
        ("given up", given_up(result)),
        ("latency", (!has_table).then(|| op_latency(result))),
        ("window", window(result)),
        ("rate", result.rate.map(rate)),
        ("fairness", fairness(result)),
        ("deadline", late(result)),
        ("in time", in_time(result)),
        ("advice", advice(result)),
        ("early", early(result)),
        ("needless", needless(result)),
        ("wasted", wasted(result)),
        ("checked", is_checked.then(|| checked(run))),
    ];
    known(rows, "window")
}

/// Returns the rows that have figures. The row named `one_line` shows only what fits into one line.
pub(super) fn known<const N: usize>(rows: [(&'static str, Option<String>); N], one_line: &str) -> Vec<Row> {
    let row = |(label, figures)| Some(Row { label, figures: figures?, is_one_line: label == one_line });
    rows.into_iter().filter_map(row).collect()
}

pub(super) fn latency(figures: &LatencyFigures) -> String {
    if figures.count == 0 {
        return "none".to_owned();
    }
    let figures = [figures.p50, figures.p95, figures.p99, figures.max];
    let [p50, p95, p99, max] = figures.map(|ms| ms.map_or_else(dash, milliseconds));
    format!("p50 {p50}   p95 {p95}   p99 {p99}   max {max}")
}

fn is_all_done(result: &RunResult) -> bool {
    result.ops.succeeded == result.ops.total
}

fn op_latency(result: &RunResult) -> String {
    match result.op_latency_ms.count {
        0 if result.ops.succeeded > 0 => "no op is counted, because all arrived during --warm-up".to_owned(),
        0 => "no op succeeded".to_owned(),
        _ => {
            latency(&result.op_latency_ms)
                + if is_all_done(result) { "   (per op)" } else { "   (per done op)" }
        }
    }
}

fn attempts(result: &RunResult) -> String {
    let attempts = result.attempts;
    let mut figures = thousands(attempts.total);
    if is_all_done(result) {
        let per_op = result.amplification.map(|per_op| format!(": {} per op", three(per_op)));
        figures.push_str(&per_op.unwrap_or_default());
    } else if result.ops.succeeded > 0 {
        let per_op = attempts.total as f64 / result.ops.succeeded as f64;
        let _ = write!(figures, ": {} per done", three(per_op));
    }
    let other = attempts.cancelled + attempts.shed + attempts.by_gateway;
    for (count, words, is_shown) in [
        (attempts.succeeded, "accepted", true),
        (attempts.rejected, "rejected", true),
        (attempts.failed, "failed", other == 0),
        (attempts.cancelled, "withdrawn", false),
        (attempts.shed, "refused by a budget", false),
        (attempts.by_gateway, "answered by a gateway", false),
        (attempts.unsent, "never sent", false),
    ] {
        if count > 0 || is_shown {
            let _ = write!(figures, "   {} {words}", thousands(count));
        }
    }
    figures
}

fn answers(result: &RunResult) -> String {
    let rate = result.answers_per_s().map(|rate| format!("{}/s", short(rate)));
    rate.into_iter().chain(statuses(&result.statuses)).collect::<Vec<_>>().join("   ")
}

fn failed(result: &RunResult) -> Option<String> {
    let failed = result.attempts.failed;
    (failed > 0).then(|| format!("{}: {}", thousands(failed), causes(&result.failures).join("   ")))
}

/// Returns the causes for which ops were given up. Returns `None` if there is only one cause, because the first line of the summary already
/// contains it.
fn given_up(result: &RunResult) -> Option<String> {
    let causes = causes_of_giving_up(result);
    let failed_for_good = result.ops.failed_for_good;
    let is_in_answer = causes.len() < 2 && (failed_for_good == 0 || failed_for_good == result.ops.given_up);
    let figures = above_zero(causes.into_iter().chain([(failed_for_good, "failed for good")]));
    (!is_in_answer).then(|| figures.join("   "))
}

fn window(result: &RunResult) -> Option<String> {
    let window = &result.window;
    let mut figures = format!("mean {}", short(window.mean?));
    let slots = slots(result).filter(|_| window.overshoot.is_some());
    let near = |cap: &str| match window.convergence_s {
        Some(after) => format!("near the {cap} (10 %) after {}", seconds(after)),
        None => format!("never settled near the {cap} (10 %)"),
    };
    match slots {
        Some(_) if is_paced(result) => figures.push_str(" (paced) for slots and network"),
        None if is_paced(result) => figures.push_str(" (paced)"),
        Some(Slots::Constant(slots)) => {
            let _ = write!(figures, " for {}   {}", counted(slots, "slot"), near("cap"));
        }
        Some(Slots::Changing) => {
            let _ = write!(figures, "   {}", near("changing cap"));
        }
        None => {}
    }
    let _ = write!(figures, "   {}", counted(window.cuts?, "cut"));
    if let Some(most) = largest_window(result) {
        let _ = write!(figures, "   most {most}");
    }
    Some(figures)
}

pub(super) fn largest_window(result: &RunResult) -> Option<String> {
    let most = result.series.iter().filter_map(|point| point.window_max).fold(0.0, f64::max);
    (most > 0.0).then(|| short(most.round()))
}

/// True if the strategy also spaces its attempts in time. The window of such a strategy includes attempts in the network, so it exceeds the
/// server's cap.
fn is_paced(result: &RunResult) -> bool {
    let mut gauges = result.series.iter().flat_map(|point| &point.gauges);
    gauges.any(|gauge| gauge.name == "gap" || gauge.name == "rate")
}

enum Slots {
    Constant(u64),
    Changing,
}

/// Returns the number of slots of the server; `None` unless the server is a mock server with slots.
fn slots(result: &RunResult) -> Option<Slots> {
    let model: Config = result.config.server_model.as_ref().and_then(ServerModel::read)?;
    if !model.caps.is_empty() {
        return Some(Slots::Changing);
    }
    let costs = LeastCosts::new(&model, result.seed)?;
    let slots = u64::from(costs.slots()?);
    Some(if costs.slots_vary() { Slots::Changing } else { Slots::Constant(slots) })
}

fn rate(rate: RateFigures) -> String {
    let beyond = format!("most {} beyond it", thousands(rate.overshoot));
    let Some(law_per_s) = rate.law_per_s else { return format!("limit per window   {beyond}") };
    let near = match rate.convergence_s {
        Some(after) => format!("near it (10 %) after {}", seconds(after)),
        None => "never settled near it (10 %)".to_owned(),
    };
    format!("limit {}/s   {near}   {beyond}", short(law_per_s))
}

fn fairness(result: &RunResult) -> Option<String> {
    let fairness = result.fairness?;
    let index = fairness.jain.or(fairness.jain_whole_run);
    let mut figures = index.map_or_else(|| "Jain –".to_owned(), |index| format!("Jain {}", short(index)));
    match (fairness.slowest_client, fairness.slowest_mean_ms) {
        (Some(client), Some(ms)) => {
            let _ = write!(figures, "   slowest client {client}: mean {}", milliseconds(ms));
        }
        (Some(client), None) => {
            let _ = write!(figures, "   client {client} got no op done");
        }
        (None, _) => {}
    }
    if let Some(times) = fairness.slowest_over_median {
        let _ = write!(figures, ", {} × the median", short(times));
    }
    Some(figures)
}

fn late(result: &RunResult) -> Option<String> {
    let at_most = if result.share_is_lower_bound { "at most " } else { "" };
    result.late_share.map(|share| format!("missed by {at_most}{} of the ops", percent(share)))
}

fn in_time(result: &RunResult) -> Option<String> {
    let (share, limit) = result.done_share.zip(result.config.within.as_ref())?;
    Some(format!("{} of the ops within {limit}", at_least(share, result.share_is_lower_bound)))
}

fn advice(result: &RunResult) -> Option<String> {
    let AdviceFigures { retries, broken, early_ms, .. } = result.advice;
    let (mean, max) = early_ms.mean.zip(early_ms.max)?;
    let (broken, retries) = (thousands(broken), thousands(retries));
    let (mean, max) = (milliseconds(mean), milliseconds(max));
    Some(format!("{broken} of {retries} retries were too early   by {mean} on average   max {max}"))
}

/// Counts the attempts of any op that a client sent although the server had asked it to wait.
fn early(result: &RunResult) -> Option<String> {
    let count = result.advice.early_shared;
    let words = if result.config.workload.clients > 1 { "its client" } else { "this client" };
    (count > 0)
        .then(|| format!("{} sent while the server had asked {words} to wait", counted(count, "request")))
}

fn needless(result: &RunResult) -> Option<String> {
    let counts = [
        (result.attempts.after_final, "after a final response"),
        (result.attempts.duplicates, "beside another attempt of the same op"),
    ];
    let figures = above_zero(counts);
    (!figures.is_empty()).then(|| figures.join("   "))
}

/// Formats the slot time that the server spent on rejections and abandoned attempts.
fn wasted(result: &RunResult) -> Option<String> {
    let wasted_s = result.wasted_server_s.filter(|wasted_s| *wasted_s > 0.0)?;
    let Some(all_s) = slot_time_s(result).filter(|all_s| *all_s >= wasted_s) else {
        return Some(format!("{} of the server's slot time", seconds(wasted_s)));
    };
    let share = percent(wasted_s / all_s);
    Some(format!("{share} of the server's slot time ({} of {} s)", three(wasted_s), three(all_s)))
}

/// Returns the server's slot time in seconds: the number of slots times the makespan. `None` if ops were left undone or the number of slots
/// changes.
fn slot_time_s(result: &RunResult) -> Option<f64> {
    let Some(Slots::Constant(slots)) = slots(result) else { return None };
    result.makespan_s.filter(|_| result.makespan_complete).map(|makespan| makespan * slots as f64)
}

fn checked(run: &Finished) -> String {
    let mut figures = agreement(run);
    if run.result.mode == Mode::Http
        && let Some(p99) = run.result.generator.send_lag_ms.p99
    {
        let _ = write!(figures, "   send lag p99 {}", milliseconds(p99));
    }
    figures
}

fn agreement(run: &Finished) -> String {
    let AttemptCounts { total: sent, by_gateway, .. } = run.result.attempts;
    let server = run.result.server.as_ref().filter(|_| run.conservation.server_compared);
    let received = server.map(|server| server.received + server.reads_rejected);
    match (run.conservation.holds(), received) {
        (false, _) => "ACCOUNTING MISMATCH, see the error".to_owned(),
        (true, None) => "the client's counts are consistent, not compared with a server's".to_owned(),
        (true, Some(received)) if by_gateway > 0 => format!(
            "{} sent   {} received by the server   {} answered by a gateway",
            thousands(sent),
            thousands(received),
            thousands(by_gateway)
        ),
        (true, Some(received)) => match sent.saturating_sub(received) {
            0 => "the server received exactly what was sent".to_owned(),
            lost => format!("the server received all but {} that failed or were withdrawn", thousands(lost)),
        },
    }
}
