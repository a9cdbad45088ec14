//! When attempts were sent, op by op.

use loadgen_core::Sample;
use serde_json::{Value, json};
use vocabulary::Instant;

use super::rounded;

/// More strokes than that nobody can tell apart.
const MOST_CALLS: usize = 5000;

/// Calls of every n-th op: whole ops, so that clusters stay clusters.
pub(crate) struct Calls {
    every: u64,
    /// Instants of sending, and ops.
    kept: Vec<(Instant, u64)>,
    /// When an op alone had too many: what comes later is not kept.
    full: bool,
}

impl Default for Calls {
    fn default() -> Self {
        Self { every: 1, kept: Vec::new(), full: false }
    }
}

impl Calls {
    pub(super) fn note(&mut self, sample: &Sample) {
        if self.full || !sample.op.is_multiple_of(self.every) {
            return;
        }
        self.kept.push((sample.sent, sample.op));
        while self.kept.len() > MOST_CALLS {
            let before = self.kept.len();
            self.every = self.every.saturating_mul(2);
            self.kept.retain(|(_, op)| op.is_multiple_of(self.every));
            if self.kept.len() == before && self.kept.iter().all(|(_, op)| *op == 0) {
                self.full = true;
                return;
            }
        }
    }

    pub(super) fn json(mut self) -> Value {
        self.kept.sort_unstable();
        let times: Vec<f64> = self.kept.iter().map(|(at, _)| rounded(at.as_secs_f64())).collect();
        let ops: Vec<u64> = self.kept.iter().map(|(_, op)| *op).collect();
        json!({ "every": self.every, "full": self.full, "t_s": times, "op": ops })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn too_many_calls_are_thinned_by_whole_ops() {
        let mut calls = Calls::default();
        for round in 0..10 {
            for op in 0..2000 {
                calls.note(&sample(op, round + 1, u64::from(round) * 1000, u64::from(round) * 1000 + 1));
            }
        }
        let json = calls.json();
        assert_eq!(json["every"], 4);
        let ops: Vec<u64> = json["op"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        assert_eq!(ops.len(), 500 * 10);
        assert!(ops.iter().all(|op| op % 4 == 0));
        assert_eq!((&json["t_s"][0], &json["t_s"][4999]), (&json!(0.0), &json!(9.0)));
    }

    #[test]
    fn one_op_without_end_is_cut() {
        let mut calls = Calls::default();
        for round in 0..100_000 {
            calls.note(&sample(0, round, u64::from(round), u64::from(round)));
        }
        assert_eq!(calls.kept.len(), MOST_CALLS + 1);
        assert_eq!(calls.json()["full"], true);
    }
}
