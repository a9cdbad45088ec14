//! Before when ops should not come again, as servers say: the harness's own reading, whatever strategies make of it.
//!
//! Advice is rare, and ops are many: it is kept apart from them, and costs nothing until the first comes.

use std::time::Duration;

use vocabulary::Instant;

use crate::op::OpSlot;

/// Nobody is held to longer advice.
const LONGEST: Duration = Duration::from_hours(24);

/// The earliest instants of further attempts, for ops whose last answer had advice.
#[derive(Debug, Default)]
pub(super) struct Advised {
    /// By the ops' slots, as far as there was ever advice; the origin for none.
    not_before: Vec<Instant>,
}

impl Advised {
    /// The op's last answer, at this instant, advised to come so much later.
    pub(super) fn note(&mut self, slot: OpSlot, at: Instant, wait: Duration) {
        let index = slot.index();
        if self.not_before.len() <= index {
            self.not_before.resize(index + 1, Instant::ORIGIN);
        }
        self.not_before[index] = at + wait.min(LONGEST);
    }

    /// Since then the op was tried, or another took its place.
    #[inline]
    pub(super) fn forget(&mut self, slot: OpSlot) {
        if let Some(not_before) = self.not_before.get_mut(slot.index()) {
            *not_before = Instant::ORIGIN;
        }
    }

    /// The earliest instant of this op's next attempt, if its last answer had advice.
    #[inline]
    pub(super) fn of(&self, slot: OpSlot) -> Option<Instant> {
        self.not_before.get(slot.index()).copied().filter(|not_before| *not_before > Instant::ORIGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_of_one_op_until_its_place_is_taken() {
        let (now, wait, at) = (Instant::from_millis(30), Duration::from_millis(40), Instant::from_millis(70));
        let mut advised = Advised::default();
        assert_eq!(advised.of(OpSlot(3)), None);
        advised.note(OpSlot(3), now, wait);
        assert_eq!([2, 3, 4].map(|slot| advised.of(OpSlot(slot))), [None, Some(at), None]);
        advised.forget(OpSlot(3));
        advised.forget(OpSlot(9));
        assert_eq!(advised.of(OpSlot(3)), None);
        advised.note(OpSlot(0), now, Duration::from_hours(30));
        assert_eq!(advised.of(OpSlot(0)), Some(now + LONGEST));
    }
}
