//! Counts of sent attempts: all attempts, those sent after a permanent refusal, and those sent after advice of the
//! server. An attempt that waits for a connection is removed from the counts, and counted again once it is sent.

use vocabulary::Instant;

use super::{AttemptKey, Run};
use crate::op::OpSlot;

impl Run {
    #[inline]
    pub(super) fn count_sent(&mut self, sent_at: Instant, slot: OpSlot, in_flight: u64) {
        let op = &self.ops[slot.index()];
        self.measured.attempts.after_final += u64::from(op.failed_for_good());
        if let Some(not_before) = self.advised.of(slot) {
            self.measured.on_advised_retry(sent_at, not_before);
            self.advised.forget(slot);
        }
        self.measured.on_sent(sent_at, in_flight, op.attempts);
    }

    pub(super) fn on_waiting(&mut self, key: AttemptKey) {
        let Some(attempt) = self.attempts.get_mut(key).filter(|attempt| !attempt.waits) else { return };
        attempt.waits = true;
        self.waiting += 1;
        // An undecided attempt is not counted yet.
        if attempt.undecided.is_none() {
            let (due, op) = (attempt.due, attempt.op);
            let after_final = self.ops[op.index()].failed_for_good();
            self.measured.attempts.after_final -= u64::from(after_final);
            self.measured.attempts.total -= 1;
            self.measured.series.at(due).sent -= 1;
        }
    }

    pub(super) fn on_connected(&mut self, at: Instant, key: AttemptKey) {
        let Some(attempt) = self.attempts.get_mut(key).filter(|attempt| attempt.waits) else { return };
        attempt.waits = false;
        self.waiting -= 1;
        if attempt.undecided.is_none() {
            let after_final = self.ops[attempt.op.index()].failed_for_good();
            self.measured.attempts.after_final += u64::from(after_final);
            self.measured.attempts.total += 1;
            self.measured.series.at(at).sent += 1;
        }
    }
}
