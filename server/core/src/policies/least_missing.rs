//! The smallest deficit of a token bucket since a charge. This is the most that a refund of the charge can return.
//!
//! A refund must leave the bucket as if the charge had never been made. Compare the real bucket with a bucket that was not charged. The
//! uncharged bucket is ahead by the cost of the charge until it is full. From then on it loses the tokens that arrive, and the real bucket
//! catches up. So at any time the uncharged bucket is ahead by one of two amounts, whichever is smaller. One is the cost, the other is the
//! smallest deficit of the real bucket since the charge. The smaller amount is what is refunded.
//!
//! A bucket with refunds lets no more requests pass than a bucket without refunds. Proof, by induction over the refunds: The real bucket
//! equals a bucket that was charged only the amounts that were not refunded. A refund also applies to the past, because it lowers the
//! deficits recorded since the charge. The other bucket never holds less than the real bucket did, so it would have admitted every request
//! that passed. The requests that were not refunded therefore pass a plain bucket. Between any two instants, at most burst + rate × time of
//! them pass.
//!
//! The number of recorded deficits is limited. If there are too many, each pair of consecutive deficits is merged into the smaller one. A
//! refund may then be smaller, as if a part of the charge had been kept.

use vocabulary::Instant;

/// Record of the bucket's deficits. A deficit is the amount that is missing until the bucket is full, in the bucket's own unit. A recorded
/// deficit is dropped as soon as a later deficit is not larger, because only the smallest one matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeastMissing {
    /// Recorded deficits in order of time. Each is larger than the one before it.
    lows: Vec<Low>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Low {
    at: Instant,
    missing: u128,
}

const MOST: usize = 32;

impl LeastMissing {
    /// Records the bucket's deficit just before a charge, or just before the deficit grows for another reason.
    pub(crate) fn note(&mut self, at: Instant, missing: u128) {
        self.drop_above(missing);
        // A deficit that was already recorded at this instant is kept. It is the smallest deficit of this instant, because no tokens arrive
        // within one instant.
        if self.lows.last().is_some_and(|last| last.at == at) {
            return;
        }
        if self.lows.len() == MOST {
            self.lows =
                self.lows.chunks(2).map(|pair| Low { at: pair[pair.len() - 1].at, ..pair[0] }).collect();
        }
        self.lows.push(Low { at, missing });
    }

    pub(crate) fn refund(&mut self, taken_at: Instant, cost: u128, missing: u128) -> u128 {
        self.drop_above(missing);
        let since = self.lows.partition_point(|low| low.at <= taken_at);
        let least = self.lows.get(since).map_or(missing, |low| low.missing);
        let back = cost.min(least);
        for low in &mut self.lows[since..] {
            low.missing -= back;
        }
        // After the refund, the smallest deficit since the charge is `least - back`. Records from before the charge are dropped unless they
        // are smaller than this deficit.
        let lower = self.lows[..since].partition_point(|low| low.missing < least - back);
        self.lows.drain(lower..since);
        back
    }

    pub(crate) fn rescale(&mut self, rescaled: impl Fn(u128) -> u128) {
        for low in &mut self.lows {
            low.missing = rescaled(low.missing);
        }
    }

    fn drop_above(&mut self, missing: u128) {
        while self.lows.last().is_some_and(|last| last.missing >= missing) {
            self.lows.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn what_was_full_since_gives_nothing_back() {
        let mut least = LeastMissing::default();
        least.note(at(0), 0);
        // Charged at 0, full again at 10, and charged once more.
        least.note(at(10), 0);
        assert_eq!(least.refund(at(0), 5, 5), 0);
        assert_eq!(least.refund(at(10), 5, 5), 5);
        assert_eq!(least.refund(at(10), 5, 0), 0);
    }

    #[test]
    fn what_comes_back_was_never_missing() {
        let mut least = LeastMissing::default();
        least.note(at(0), 0);
        // Two charges of 4 at 0; 3 tokens have arrived by 1, when 4 more are charged.
        least.note(at(1), 5);
        assert_eq!(least.refund(at(0), 4, 9), 4);
        // As if there had been one charge at 0: then only 1 was missing at 1.
        assert_eq!(least.refund(at(0), 4, 5), 1);
    }

    #[test]
    fn of_many_lows_some_are_taken_for_lower_ones() {
        let mut least = LeastMissing::default();
        for step in 0..1000 {
            least.note(at(step), u128::from(step));
            assert!(least.lows.len() <= MOST);
            assert!(least.lows.is_sorted_by(|one, other| one.at < other.at && one.missing < other.missing));
        }
        for step in 0..999 {
            let back = least.clone().refund(at(step), 1000, 1000);
            assert!(back <= u128::from(step) + 1, "{step} {back}");
        }
    }
}
