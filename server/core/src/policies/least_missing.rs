//! How little a bucket was missing since a charge: that is all of it that can still come back.
//!
//! What comes back must leave the bucket as if it had never been taken. A bucket from which a cost was not taken is ahead of the real one by
//! that cost, until it is full: what comes then is lost to it, and the real one catches up. So at any time it is ahead by the lesser of the
//! cost and the least that the real one was missing since. That much comes back, and no more.
//!
//! Proof that no more passes than a bucket without any giving back would let pass: by induction over what is given back, the real bucket is
//! one from which only the rest was ever taken (what is given back is put into the past, too: the real one has been missing less since the
//! charge). In such a bucket whoever passed would have passed as well, because it never holds less than the real one did. So the
//! requests of which nothing has come back pass a plain bucket: between any two instants no more than burst + rate × time of them.
//!
//! Where too many lows would have to be remembered, two that follow one another are taken for the lower: then less comes back, as if a part
//! of the charge had stayed.

use vocabulary::Instant;

/// What is missing until a bucket is full, where that was less than at any later charge; in the bucket's own unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeastMissing {
    /// In order of time, and each with more missing than the one before it.
    lows: Vec<Low>,
}

/// So much was missing just before a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Low {
    at: Instant,
    missing: u128,
}

/// Lows that are remembered.
const MOST: usize = 32;

impl LeastMissing {
    /// So much is missing just before a charge, or before it is missing more for another reason.
    pub(crate) fn note(&mut self, at: Instant, missing: u128) {
        self.drop_above(missing);
        // Nothing comes within an instant: what was missing first was the least then.
        if self.lows.last().is_some_and(|last| last.at == at) {
            return;
        }
        if self.lows.len() == MOST {
            self.lows =
                self.lows.chunks(2).map(|pair| Low { at: pair[pair.len() - 1].at, ..pair[0] }).collect();
        }
        self.lows.push(Low { at, missing });
    }

    /// How much comes back of a cost that was taken at an instant, now that so much is missing.
    pub(crate) fn give_back(&mut self, taken_at: Instant, cost: u128, missing: u128) -> u128 {
        self.drop_above(missing);
        let since = self.lows.partition_point(|low| low.at <= taken_at);
        let least = self.lows.get(since).map_or(missing, |low| low.missing);
        let back = cost.min(least);
        for low in &mut self.lows[since..] {
            low.missing -= back;
        }
        // What was lower before the charge than ever since may be so no longer.
        let lower = self.lows[..since].partition_point(|low| low.missing < least - back);
        self.lows.drain(lower..since);
        back
    }

    /// The unit is another.
    pub(crate) fn rescale(&mut self, rescaled: impl Fn(u128) -> u128) {
        for low in &mut self.lows {
            low.missing = rescaled(low.missing);
        }
    }

    /// Those that are no lower than what is missing later.
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
        // Taken at 0, full again at 10, when another is taken.
        least.note(at(10), 0);
        assert_eq!(least.give_back(at(0), 5, 5), 0);
        assert_eq!(least.give_back(at(10), 5, 5), 5);
        assert_eq!(least.give_back(at(10), 5, 0), 0);
    }

    #[test]
    fn what_comes_back_was_never_missing() {
        let mut least = LeastMissing::default();
        least.note(at(0), 0);
        // Two of 4 each at 0; 3 have come by 1, when 4 more are taken.
        least.note(at(1), 5);
        assert_eq!(least.give_back(at(0), 4, 9), 4);
        // As if there had been one: only 1 was missing at 1.
        assert_eq!(least.give_back(at(0), 4, 5), 1);
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
            let back = least.clone().give_back(at(step), 1000, 1000);
            assert!(back <= u128::from(step) + 1, "{step} {back}");
        }
    }
}
