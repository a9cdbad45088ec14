//! Lines of `--progress ndjson`. Each line contains the events since the previous one, for programs that run loadgen as a subprocess.

use loadgen_core::{FailureResult, Latencies, Phase, Snapshot};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Progress"))]
pub struct ProgressLine {
    pub seed: u64,
    pub t_s: f64,
    pub last: bool,
    pub ops_arrived: u64,
    pub ops_succeeded: u64,
    pub ops_given_up: u64,
    pub op_latency: IntervalFigures,
    pub attempts_sent: u64,
    pub attempts_succeeded: u64,
    pub attempts_rejected: u64,
    pub attempts_failed: u64,
    pub attempts_cancelled: u64,
    pub failures: Vec<FailureResult>,
    pub attempt_latency: IntervalFigures,
    pub in_flight: u64,
    pub waiting: u64,
    pub window: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalFigures {
    pub count: u64,
    pub sum_ms: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub counts: Vec<(f64, u64)>,
}

impl ProgressLine {
    pub fn between(seed: u64, before: &Snapshot, now: &Snapshot) -> Self {
        Self {
            seed,
            t_s: now.now.as_secs_f64(),
            last: now.phase == Phase::Done,
            ops_arrived: now.ops.arrived - before.ops.arrived,
            ops_succeeded: now.ops.succeeded - before.ops.succeeded,
            ops_given_up: now.ops.given_up - before.ops.given_up,
            op_latency: IntervalFigures::between(&before.op_latency, &now.op_latency),
            attempts_sent: now.attempts.total - before.attempts.total,
            attempts_succeeded: now.attempts.succeeded - before.attempts.succeeded,
            attempts_rejected: now.attempts.rejected - before.attempts.rejected,
            attempts_failed: now.attempts.failed - before.attempts.failed,
            attempts_cancelled: now.attempts.cancelled - before.attempts.cancelled,
            failures: more(&before.failures.results(), &now.failures.results()),
            attempt_latency: IntervalFigures::between(&before.attempt_latency, &now.attempt_latency),
            in_flight: now.in_flight,
            waiting: now.ready + now.sleeping,
            window: now.gauges.window,
        }
    }
}

fn more(before: &[FailureResult], now: &[FailureResult]) -> Vec<FailureResult> {
    let since = |failure: &FailureResult| {
        let same = |there: &&FailureResult| (there.status, there.kind) == (failure.status, failure.kind);
        let before = before.iter().find(same).map_or(0, |there| there.attempts);
        FailureResult { attempts: failure.attempts.saturating_sub(before), ..*failure }
    };
    now.iter().map(since).filter(|failure| failure.attempts > 0).collect()
}

impl IntervalFigures {
    fn between(before: &Latencies, now: &Latencies) -> Self {
        let recorded = now.recorded_since(before);
        let count: u64 = recorded.iter().map(|(_, count)| count).sum();
        let quantile = |share: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the rank is below the number of values"
            )]
            let rank = ((share * count as f64).ceil() as u64).max(1);
            let mut seen = 0;
            recorded.iter().find_map(|(us, count)| {
                seen += count;
                (seen >= rank).then_some(*us as f64 / 1e3)
            })
        };
        let sum = now.sums().sum.saturating_sub(before.sums().sum);
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for (us, count) in &recorded {
            let rounded = two_digits(*us);
            match counts.last_mut() {
                Some((last, sum)) if *last == rounded => *sum += count,
                _ => counts.push((rounded, *count)),
            }
        }
        Self {
            count,
            sum_ms: sum as f64 / 1e6,
            p50_ms: quantile(0.5),
            p99_ms: quantile(0.99),
            counts: counts.into_iter().map(|(us, count)| (us as f64 / 1e3, count)).collect(),
        }
    }
}

/// Rounds a latency to two significant digits. The histogram of a line therefore has a bounded length, however many events the line
/// describes.
fn two_digits(us: u64) -> u64 {
    let mut unit = 1;
    while us / unit >= 100 {
        unit *= 10;
    }
    (us + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_report_increments_that_add_up() {
        let mut now = Snapshot::default();
        let mut before = now.clone();
        let mut lines = Vec::new();
        for millis in [[3_u64, 150, 151], [700, 701, 90_000]] {
            for ms in millis {
                now.op_latency.record(Duration::from_millis(ms));
            }
            now.ops.arrived += 4;
            now.ops.succeeded += 3;
            now.attempts.total += 5;
            now.failures.count(loadgen_core::Cause::Status(404));
            lines.push(ProgressLine::between(7, &before, &now));
            before.clone_from(&now);
        }
        now.failures.count(loadgen_core::Cause::Status(500));
        now.phase = Phase::Done;
        lines.push(ProgressLine::between(7, &before, &now));
        let sum = |count: fn(&ProgressLine) -> u64| lines.iter().map(count).sum::<u64>();
        assert_eq!((sum(|line| line.ops_arrived), sum(|line| line.attempts_sent)), (8, 10));
        assert_eq!(sum(|line| line.op_latency.count), now.op_latency.count());
        assert_eq!(lines[0].op_latency.counts, [(3.0, 1), (150.0, 2)]);
        assert_eq!(lines[1].op_latency.sum_ms.to_string(), "91401");
        assert_eq!(lines[1].op_latency.p50_ms.map(f64::round), Some(701.0));
        assert_eq!(lines[1].failures, [FailureResult { status: Some(404), kind: None, attempts: 1 }]);
        assert_eq!(lines[2].failures, [FailureResult { status: Some(500), kind: None, attempts: 1 }]);
        assert_eq!(
            (lines[2].last, lines[2].op_latency.clone()),
            (true, IntervalFigures { sum_ms: 0.0, ..IntervalFigures::default() })
        );
    }
}
