//! Clock of a run: the instant at which the run began, as observed by the server.

use std::collections::BTreeSet;

use vocabulary::Instant;
use vocabulary::wire::RunId;

/// Clock of a run.
///
/// The clock starts with the first request since the server's start or its latest reset. The clock restarts with the first request of a new
/// run, but only if no other request is in flight. Concurrent runs therefore share the clock of the first of them. A request that belongs
/// to no run starts the clock only if the clock is not running.
#[derive(Debug, Default)]
pub(crate) struct RunClock {
    began: Option<Instant>,
    /// Run of the latest request that belonged to a run.
    latest: Option<RunId>,
    met: BTreeSet<RunId>,
}

/// Maximum number of runs that the clock remembers in order to recognize new runs. When this number is reached, all remembered runs are
/// forgotten.
const MAX_MET: usize = 10_000;

impl RunClock {
    pub(crate) fn began(&self) -> Option<Instant> {
        self.began
    }

    /// Fast check: returns true only if a request of this run certainly does not start the clock. `run` is `None` for a request that
    /// belongs to no run.
    #[inline]
    pub(crate) fn goes_on_with(&self, run: Option<RunId>) -> bool {
        self.began.is_some() && (run.is_none() || run == self.latest)
    }

    /// Records the arrival of a request, and returns whether the run's clock starts with this request. `run` is the run to which the
    /// request belongs, if any. `is_idle` returns whether no other request is in flight. It is called only if its result matters.
    pub(crate) fn on_arrival(
        &mut self,
        now: Instant,
        run: Option<RunId>,
        is_idle: impl FnOnce() -> bool,
    ) -> bool {
        if self.goes_on_with(run) {
            return false;
        }
        if self.met.len() == MAX_MET {
            self.met.clear();
        }
        let is_new = run.is_some_and(|run| self.met.insert(run));
        self.latest = run.or(self.latest);
        let begins = self.began.is_none() || (is_new && is_idle());
        if begins {
            self.began = Some(now);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock is not restarted by a run that was observed before, by a run that arrives while the server is busy, or by a request of no
    /// run.
    #[test]
    fn the_clock_starts_with_a_new_run_on_an_idle_server() {
        let mut clock = RunClock::default();
        let mut come = |at: u64, run, is_idle| {
            let begins = clock.on_arrival(Instant::from_nanos(at), run, || is_idle);
            (begins, clock.began().map(Instant::as_nanos))
        };
        assert_eq!(come(5, None, true), (true, Some(5)), "nobody's");
        assert_eq!(come(6, None, true), (false, Some(5)));
        assert_eq!(come(7, Some(1), false), (false, Some(5)), "while nobody's is under way");
        assert_eq!(come(8, Some(2), true), (true, Some(8)));
        assert_eq!(come(9, Some(1), true), (false, Some(8)), "met before");
        assert_eq!(come(10, Some(2), true), (false, Some(8)));
        assert_eq!(come(11, Some(3), false), (false, Some(8)));
        assert_eq!(come(12, Some(3), true), (false, Some(8)));
        assert_eq!(come(13, Some(4), true), (true, Some(13)));
    }

    #[test]
    fn it_begins_with_a_new_run_however_many_there_were() {
        let mut clock = RunClock::default();
        for run in 0..=2 * MAX_MET as u64 {
            assert!(clock.on_arrival(Instant::from_nanos(run), Some(run), || true), "{run}");
            assert!(clock.met.len() <= MAX_MET);
        }
    }
}
