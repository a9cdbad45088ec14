//! A limit that grows in steps while it rejects requests, and restarts from its initial value after a long time without requests.

use std::time::Duration;

use vocabulary::Instant;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    pub(crate) start: u32,
    pub(crate) by: u32,
    pub(crate) most: u32,
    pub(crate) every: Duration,
    pub(crate) idle: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Grown {
    pub(crate) limit: u32,
    /// Instant at which the limit grows next. `None` if no request has been rejected since the limit last grew, or if the limit is at its
    /// maximum.
    pub(crate) grows_at: Option<Instant>,
    pub(crate) used: Instant,
}

impl Growth {
    pub(crate) fn fresh(&self) -> Grown {
        Grown { limit: self.start, grows_at: None, used: Instant::ORIGIN }
    }

    /// Checks whether the parameters fit together. `idle` must be longer than the longest wait, `max_wait`. The reason is that after a time
    /// `idle` without requests, the limit restarts from its initial value.
    pub(crate) fn check(&self, max_wait: Duration) -> Result<(), String> {
        if self.start > self.most {
            return Err("`start` is above `most`; lower `start` or raise `most`".to_owned());
        }
        if self.idle <= max_wait {
            return Err("`idle` is too short; it must be longer than all other times of the policy together"
                .to_owned());
        }
        Ok(())
    }

    pub(crate) fn is_idle(&self, grown: &Grown, at: Instant) -> bool {
        at >= grown.used + self.idle
    }

    /// Returns the instant at which the limit grows next if a request is rejected at `at`. `None` if the limit is at its maximum.
    pub(crate) fn grows_at(&self, grown: &Grown, at: Instant) -> Option<Instant> {
        let at = grown.grows_at.unwrap_or(at + self.every);
        (grown.limit < self.most).then_some(at)
    }

    pub(crate) fn next_limit(&self, grown: &Grown) -> u32 {
        grown.limit.saturating_add(self.by).min(self.most)
    }

    /// Raises the limit if a growth step is due by `at`. Returns the instant at which the step was due, or `None` if no step is due.
    pub(crate) fn grow(&self, grown: &mut Grown, at: Instant) -> Option<Instant> {
        let grew_at = grown.grows_at.filter(|grows_at| *grows_at <= at)?;
        grown.limit = self.next_limit(grown);
        grown.grows_at = None;
        Some(grew_at)
    }

    /// Records a rejection, which schedules the next growth of the limit.
    pub(crate) fn press(&self, grown: &mut Grown, at: Instant) {
        grown.grows_at = self.grows_at(grown, at);
        grown.used = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROWTH: Growth =
        Growth { start: 2, by: 3, most: 6, every: Duration::from_secs(10), idle: Duration::from_mins(1) };

    #[test]
    fn it_grows_a_step_after_each_rejection_that_finds_it_at_rest() {
        let mut grown = GROWTH.fresh();
        let mut limits = Vec::new();
        for second in [1, 5, 11, 12, 21, 22, 30, 99] {
            let at = Instant::from_millis(second * 1000);
            GROWTH.grow(&mut grown, at);
            limits.push(grown.limit);
            GROWTH.press(&mut grown, at);
        }
        // Steps are scheduled at 1 and 11 s; after 21 s the limit is at its maximum.
        assert_eq!(limits, [2, 2, 5, 5, 6, 6, 6, 6]);
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(GROWTH.check(Duration::from_secs(10)).is_ok());
        assert!(GROWTH.check(Duration::from_mins(1)).is_err());
        assert!(Growth { start: 7, ..GROWTH }.check(Duration::ZERO).is_err());
    }
}
