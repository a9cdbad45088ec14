//! Earliest instants at which servers advise to retry each op. The load generator parses this advice itself, even if
//! the strategy does not use it.
//!
//! Ops are many, but few of them receive advice. So advice is stored separately from ops, and costs nothing until the
//! first advice arrives.

use std::collections::BTreeMap;
use std::time::Duration;

use vocabulary::Instant;

/// Maximum wait that a server can advise. A longer wait is shortened to this maximum.
const LONGEST: Duration = Duration::from_hours(24);

/// Minimum wait that is recorded as long. Shorter waits are usual, and need no report.
const LONG: Duration = Duration::from_mins(1);

/// Long wait of an op before a retry, which follows from the server's advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AdvisedWait {
    /// Instant of the retry.
    pub until: Instant,
    pub wait: Duration,
    /// Wait as the server advised it. It is longer than `wait` if the strategy cut it (`advice-limit`).
    pub advised: Duration,
}

/// Number of the strategy instance and, with API keys, the key of an op. The advice in an answer applies to all ops of its caller.
pub(super) type Caller = (u32, Option<u32>);

/// Latest instant before which a server has asked each caller to send nothing.
#[derive(Debug, Default)]
pub(super) struct AskedToWait(BTreeMap<Caller, Instant>);

impl AskedToWait {
    pub(super) fn note(&mut self, caller: Caller, at: Instant, wait: Duration) {
        let until = self.0.entry(caller).or_default();
        *until = (*until).max(at + wait.min(LONGEST));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_early(&self, caller: Caller, at: Instant) -> bool {
        self.0.get(&caller).is_some_and(|until| at < *until)
    }
}

#[derive(Debug, Default)]
pub(super) struct Advised {
    /// Earliest instant at which the server advises to retry the op in each slot. A slot without advice has the origin.
    /// The list ends at the highest slot that has ever had advice.
    not_before: Vec<Instant>,
    /// True for each slot whose op sleeps at least until its instant in `not_before`. Both lists have the same length.
    obeys: Vec<bool>,
    pub obeying: u64,
    /// Long waits that have not ended, by slot.
    long: BTreeMap<u32, AdvisedWait>,
    /// Longest of all long waits of the run.
    pub longest: Option<AdvisedWait>,
}

impl Advised {
    pub(super) fn note(&mut self, slot: u32, at: Instant, wait: Duration) {
        let index = slot as usize;
        if self.not_before.len() <= index {
            self.not_before.resize(index + 1, Instant::ORIGIN);
            self.obeys.resize(index + 1, false);
        }
        self.not_before[index] = at + wait.min(LONGEST);
    }

    /// Removes the stored advice for the op in this slot. Called when the op has been retried, and when a new op takes
    /// the slot.
    #[inline]
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(not_before) = self.not_before.get_mut(slot as usize) {
            *not_before = Instant::ORIGIN;
            self.on_awake(slot);
        }
    }

    /// Records that the op in this slot sleeps until `until`. If the server's advice is still in force, the op obeys it
    /// by sleeping at least as long as advised.
    #[inline]
    pub(super) fn on_asleep(&mut self, slot: u32, at: Instant, until: Instant) {
        if let Some(not_before) = self.of(slot)
            && at < not_before
            && not_before <= until
            && !self.obeys[slot as usize]
        {
            self.obeys[slot as usize] = true;
            self.obeying += 1;
        }
    }

    /// Records that the op in this slot sleeps for `wait` after an answer whose advice the strategy parsed as `advised`,
    /// if this wait is long. `followed` is the longest advice that the strategy follows.
    pub(super) fn on_long(
        &mut self,
        slot: u32,
        at: Instant,
        wait: Duration,
        advised: Duration,
        followed: Duration,
    ) {
        if wait >= LONG && wait >= advised.min(followed) {
            let long = AdvisedWait { until: at + wait, wait, advised };
            self.long.insert(slot, long);
            self.longest = self.longest.filter(|longest| longest.wait >= wait).or(Some(long));
        }
    }

    /// Returns the number of long waits that have not ended, and the one that ends last.
    pub(super) fn long(&self) -> Option<(u64, AdvisedWait)> {
        Some((self.long.len() as u64, self.long.values().max().copied()?))
    }

    #[inline]
    pub(super) fn on_awake(&mut self, slot: u32) {
        if !self.long.is_empty() {
            self.long.remove(&slot);
        }
        if self.obeying > 0
            && let Some(obeys) = self.obeys.get_mut(slot as usize)
        {
            self.obeying -= u64::from(std::mem::take(obeys));
        }
    }

    /// Returns the earliest instant at which the server advises to retry the op; `None` if the op's last answer had no
    /// advice.
    #[inline]
    pub(super) fn of(&self, slot: u32) -> Option<Instant> {
        self.not_before.get(slot as usize).copied().filter(|not_before| *not_before > Instant::ORIGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_of_one_op_until_its_place_is_taken() {
        let (now, wait, at) = (Instant::from_millis(30), Duration::from_millis(40), Instant::from_millis(70));
        let mut advised = Advised::default();
        assert_eq!(advised.of(3), None);
        advised.note(3, now, wait);
        assert_eq!([2, 3, 4].map(|slot| advised.of(slot)), [None, Some(at), None]);
        advised.forget(3);
        advised.forget(9);
        assert_eq!(advised.of(3), None);
        advised.note(0, now, Duration::from_hours(30));
        assert_eq!(advised.of(0), Some(now + LONGEST));
    }

    #[test]
    fn an_op_obeys_while_it_sleeps_at_least_as_long_as_advised() {
        let ms = Instant::from_millis;
        let mut advised = Advised::default();
        advised.on_asleep(1, ms(0), ms(90));
        assert_eq!(advised.obeying, 0, "nobody advised anything");
        advised.note(1, ms(30), Duration::from_millis(40));
        for (at, until, obeying) in [(30, 69, 0), (70, 80, 0), (30, 70, 1), (30, 80, 1)] {
            advised.on_asleep(1, ms(at), ms(until));
            assert_eq!(advised.obeying, obeying, "{at} to {until}");
        }
        advised.on_awake(0);
        assert_eq!(advised.obeying, 1, "another woke");
        advised.on_awake(1);
        advised.forget(1);
        assert_eq!(advised.obeying, 0);
    }

    #[test]
    fn a_long_wait_is_known_with_its_advice_until_it_ends() {
        let (day, epoch) = (Duration::from_hours(24), Duration::from_secs(1_795_831_626));
        let mut advised = Advised::default();
        let mut asleep = |slot, wait, followed| {
            advised.on_long(slot, Instant::from_millis(30), wait, epoch, followed);
            advised.long().map(|(ops, last)| (ops, last.wait, last.advised))
        };
        let minutes = Duration::from_mins;
        assert_eq!(asleep(1, minutes(5), day), None, "the backoff is shorter than the advice");
        assert_eq!(asleep(2, Duration::from_secs(59), Duration::ZERO), None, "it is short");
        assert_eq!(asleep(3, minutes(10), minutes(10)), Some((1, minutes(10), epoch)));
        assert_eq!(asleep(4, day, day), Some((2, day, epoch)));
        advised.on_awake(4);
        assert_eq!(advised.long().map(|(ops, last)| (ops, last.wait)), Some((1, minutes(10))));
        advised.on_awake(3);
        assert_eq!((advised.long(), advised.longest.map(|longest| longest.wait)), (None, Some(day)));
    }
}
