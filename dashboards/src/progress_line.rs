//! Progress of a run in one plain line per second, for use without a terminal.

use loadgen_core::{Phase, Snapshot};

use crate::figures::{AttemptStats, Progress, Timeline, advised};
use crate::text;

/// Formats a run in one line of at most `width` columns; parts that do not fit are left out from the end.
///
/// ```text
/// 12.3 s  1 024/2 000 ops (51 %)  eta 12 s  attempts 1 101 (1.08 per op)  82/s ok 3.5/s rejected  in flight 48  p99 8.1 s
/// ```
pub fn progress_line(snapshot: &Snapshot, width: usize) -> String {
    let mut line = String::new();
    for part in parts(snapshot) {
        let gap = if line.is_empty() { "" } else { "  " };
        if text::width_of(&line) + gap.len() + text::width_of(&part) > width {
            break;
        }
        line.push_str(gap);
        line.push_str(&part);
    }
    line
}

fn parts(snapshot: &Snapshot) -> Vec<String> {
    let progress = Progress::new(snapshot);
    let effort = AttemptStats::new(snapshot);
    let timeline = Timeline::new(snapshot);
    let recent = |rate: f64, what: &str| format!("{} {what}", text::rate(rate));
    let mut parts = vec![text::clock(snapshot.now.as_secs_f64()), ops(&progress)];
    match (snapshot.phase, progress.eta_s) {
        (Phase::Stopping, _) => parts.push("stopping".to_owned()),
        (Phase::Done, _) => parts.push("done".to_owned()),
        (_, Some(eta_s)) => parts.push(format!("eta {}", text::estimate(eta_s))),
        (_, None) => {}
    }
    parts.push(format!("attempts {} ({} per op)", text::count(effort.attempts), effort.per_op_text()));
    let mut rates = vec![
        recent(timeline.counter(|point| point.succeeded).now(), "ok"),
        recent(timeline.counter(|point| point.rejected).now(), "rejected"),
    ];
    if snapshot.attempts.failed > 0 {
        rates.push(recent(timeline.counter(|point| point.failed).now(), "failed"));
    }
    parts.push(rates.join(" "));
    parts.push(format!("in flight {}", text::count(snapshot.in_flight)));
    if let Some(advised) = advised(snapshot) {
        // While nothing else happens, rates would only take the room of the reason.
        let place = if snapshot.in_flight + snapshot.ready == 0 { 2 } else { parts.len() };
        parts.insert(place, advised);
    }
    if snapshot.op_latency.count() > 0 {
        parts.push(format!("p99 {}", text::duration(snapshot.op_latency.quantile(0.99))));
    }
    parts
}

fn ops(progress: &Progress) -> String {
    let share =
        progress.share().map(|share| format!(" ({})", text::whole_percent(share))).unwrap_or_default();
    let given_up = progress.given_up_text().map(|text| format!(", {text}")).unwrap_or_default();
    format!("{}{share}{given_up}", progress.ops_text())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadgen_core::AdvisedWait;
    use vocabulary::Instant;

    use super::*;
    use crate::tests::synthetic_run::SyntheticRun;

    #[test]
    fn the_line_tells_what_happens() {
        insta::assert_snapshot!(progress_line(&SyntheticRun::aimd().until(12.3), 130));
        insta::assert_snapshot!(progress_line(&SyntheticRun::overload().until(5.0), 130));
        insta::assert_snapshot!(progress_line(&SyntheticRun::aimd().until(99.0), 130));
        insta::assert_snapshot!(progress_line(&Snapshot::default(), 130));
    }

    #[test]
    fn the_line_names_the_advice_that_a_run_waits_for() {
        let hour = Duration::from_hours(3);
        let last = AdvisedWait { until: Instant::ORIGIN + hour, wait: hour, advised: hour * 100 };
        let mut snapshot = Snapshot {
            now: Instant::from_millis(12_300),
            advised_waits: Some((1, last)),
            ..Snapshot::default()
        };
        let reason = "1 op waits until 3 h: the server advised 12.5 days, cut to 3 h (`advice-limit`)";
        assert_eq!(progress_line(&snapshot, 95), format!("12.3 s  0 ops  {reason}"));
        snapshot.in_flight = 1;
        let line = progress_line(&snapshot, 160);
        assert!(line.ends_with(&format!("in flight 1  {reason}")), "{line}");
    }

    #[test]
    fn the_line_never_exceeds_its_width() {
        let snapshot = SyntheticRun::aimd().until(12.3);
        for width in 0..150 {
            assert!(text::width_of(&progress_line(&snapshot, width)) <= width);
        }
        assert_eq!(progress_line(&snapshot, 30), "12.3 s  941/2 000 ops (47 %)");
    }
}
