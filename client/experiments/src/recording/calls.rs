//! Recorder of the instants at which the attempts of each op were sent.

use loadgen_core::Sample;
use results::Calls;
use vocabulary::Instant;

use super::rounded::rounded;

/// Maximum number of recorded calls. A plot draws one line per call, and more lines could not be distinguished.
const MAX_CALLS: usize = 5000;

/// Recorder of calls (attempts). If there are too many calls, only those of every n-th op are kept. Either all calls of an op are kept or
/// none, so that clusters of calls stay visible.
pub(super) struct CallRecorder {
    every: u64,
    kept: Vec<(Instant, u64)>,
    /// True once op 0 alone has more calls than the maximum. From then on, no further call is recorded.
    full: bool,
}

impl Default for CallRecorder {
    fn default() -> Self {
        Self { every: 1, kept: Vec::new(), full: false }
    }
}

impl CallRecorder {
    pub(super) fn note(&mut self, sample: &Sample) {
        if self.full || !sample.op.is_multiple_of(self.every) {
            return;
        }
        self.kept.push((sample.sent, sample.op));
        while self.kept.len() > MAX_CALLS {
            let before = self.kept.len();
            self.every = self.every.saturating_mul(2);
            self.kept.retain(|(_, op)| op.is_multiple_of(self.every));
            if self.kept.len() == before && self.kept.iter().all(|(_, op)| *op == 0) {
                self.full = true;
                return;
            }
        }
    }

    pub(super) fn finish(mut self) -> Calls {
        self.kept.sort_unstable();
        Calls {
            every: self.every,
            full: self.full,
            t_s: self.kept.iter().map(|(at, _)| rounded(at.as_secs_f64())).collect(),
            op: self.kept.iter().map(|(_, op)| *op).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::sample;
    use super::*;

    #[test]
    fn too_many_calls_are_thinned_by_whole_ops() {
        let mut calls = CallRecorder::default();
        for round in 0..10 {
            for op in 0..2000 {
                calls.note(&sample(op, round + 1, u64::from(round) * 1000, u64::from(round) * 1000 + 1));
            }
        }
        let calls = calls.finish();
        assert_eq!((calls.every, calls.op.len()), (4, 500 * 10));
        assert!(calls.op.iter().all(|op| op % 4 == 0));
        assert_eq!((calls.t_s[0].to_string(), calls.t_s[4999].to_string()), ("0".to_owned(), "9".to_owned()));
    }

    #[test]
    fn one_op_without_end_is_cut() {
        let mut calls = CallRecorder::default();
        for round in 0..100_000 {
            calls.note(&sample(0, round, u64::from(round), u64::from(round)));
        }
        assert_eq!(calls.kept.len(), MAX_CALLS + 1);
        assert!(calls.finish().full);
    }
}
