//! Recorder of the waits before the retries of each op, for plots.

use std::collections::BTreeMap;

use loadgen_core::Sample;
use results::Wait;
use tailback::Status;
use vocabulary::Instant;

use super::rounded::rounded;
use crate::scenario::over_seeds;

/// Maximum number of retries of one op for which waits are recorded.
const MAX_RETRIES: usize = 30;
const MAX_WAITS: usize = 20_000;
const MAX_OPS: usize = 100_000;

/// Recorder of the waits before retries, in seconds, grouped by the number of the retry within its op.
#[derive(Default)]
pub(super) struct WaitRecorder {
    /// End of the latest attempt of each op, by op number. An op is left out if its latest attempt succeeded or was cancelled.
    ended: BTreeMap<u64, Instant>,
    waits: Vec<Vec<f64>>,
}

impl WaitRecorder {
    pub(super) fn note(&mut self, sample: &Sample) {
        let retry = usize::try_from(sample.attempt).unwrap_or(usize::MAX).saturating_sub(1);
        // A retry is sent after the previous attempt of the op has ended. A hedged copy is sent earlier than that, so no wait is recorded
        // for the copy.
        let is_retry = |ended: &Instant| sample.sent >= *ended && (1..=MAX_RETRIES).contains(&retry);
        if let Some(ended) = self.ended.remove(&sample.op).filter(is_retry) {
            if self.waits.len() < retry {
                self.waits.resize(retry, Vec::new());
            }
            let waits = &mut self.waits[retry - 1];
            if waits.len() < MAX_WAITS {
                waits.push(sample.sent.since(ended).as_secs_f64());
            }
        }
        let is_over = matches!(sample.status, Status::Succeeded | Status::Cancelled);
        if !is_over && self.ended.len() < MAX_OPS {
            self.ended.insert(sample.op, sample.ended);
        }
    }

    pub(super) fn finish(self) -> Vec<Wait> {
        let of = |(index, waits): (usize, &Vec<f64>)| {
            let over = over_seeds(waits)?;
            Some(Wait {
                retry: index as u64 + 1,
                count: over.count as u64,
                mean_s: rounded(over.mean),
                min_s: Some(rounded(over.min)),
                p5_s: Some(rounded(over.p5)),
                p95_s: Some(rounded(over.p95)),
                max_s: Some(rounded(over.max)),
            })
        };
        self.waits.iter().enumerate().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{rejected, sample};
    use super::*;

    #[test]
    fn a_wait_runs_from_the_end_of_an_attempt_to_the_next() {
        let mut waits = WaitRecorder::default();
        for (op, second) in [(0, 110), (1, 130)] {
            waits.note(&rejected(sample(op, 1, 0, 10)));
            waits.note(&rejected(sample(op, 2, second, second + 10)));
            waits.note(&sample(op, 3, second + 210, second + 220));
        }
        let waits = waits.finish();
        assert_eq!((waits[0].min_s, waits[0].max_s, waits[0].mean_s), (Some(0.1), Some(0.12), 0.11));
        assert_eq!((waits[1].mean_s, waits[1].retry, waits[1].count, waits.len()), (0.2, 2, 2, 2));
    }
}
