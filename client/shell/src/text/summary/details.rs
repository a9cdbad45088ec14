//! Figures of a run that are only printed with `--explain`.

use std::fmt::Write as _;

use experiments::record::rejections_hold_slots;
use experiments::runs::one_run::Finished;
use results::{Mode, RunResult};
use vocabulary::wire::{PolicyCounts, ServerCounts};

use crate::text::figures::{bytes, milliseconds, percent, seconds, short, thousands};
use crate::text::summary::rows::{Row, largest_window, latency};

pub(super) fn details(run: &Finished) -> Vec<Row> {
    let result = &run.result;
    let some = |label, figures| Some(Row { label, figures, is_one_line: false });
    let rows = [
        some("makespan", makespan(result)),
        goodput(result).and_then(|figures| some("goodput", figures)),
        some("attempt", latency(&result.attempt_latency_ms)),
        window(result).and_then(|figures| some("window", figures)),
        result.server.as_ref().and_then(|server| some("server", received(server, result))),
        result.server.as_ref().and_then(by_policy).and_then(|figures| some("policies", figures)),
        (result.mode == Mode::Http).then(|| generator(run)).and_then(|figures| some("generator", figures)),
    ];
    rows.into_iter().flatten().collect()
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
    let mut figures = format!(
        "{} received   {} accepted   {} rejected   {}",
        thousands(server.received),
        thousands(server.accepted),
        thousands(server.rejected),
        busiest(server, rejections_hold_slots(&result.config))
    );
    let others = [
        (server.failed, "failed on purpose"),
        (server.reads, "reads"),
        (server.reads_rejected, "reads rejected"),
        (server.crashes, "crashes"),
    ];
    for (count, words) in others.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(figures, "   {} {words}", thousands(count));
    }
    figures
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
    let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), milliseconds);
    let [p50, p99] = [generator.send_lag_ms.p50, generator.send_lag_ms.p99].map(show);
    let mut figures = format!("send lag p50 {p50}, p99 {p99}");
    if let Some(share) = run.generator_share {
        let _ = write!(figures, "   cpu {}", percent(share));
    }
    if let Some(peak) = generator.peak_rss_bytes {
        let _ = write!(figures, "   peak {}", bytes(peak));
    }
    figures
}
