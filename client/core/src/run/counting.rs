//! Counts of sent attempts: all attempts, those sent after a permanent refusal, and those sent after advice of the
//! server.

use vocabulary::Instant;

use super::Run;
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
}
