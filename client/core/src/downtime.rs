//! Scheduled downtime of a server. No strategy can make progress while the server is down, so downtime does not count
//! towards a stall.

use std::time::Duration;

use vocabulary::Instant;

/// Outages in the configuration of a mockserver, each from its first instant (included) to its last (excluded). An
/// outage that ends at [`Instant::FAR_FUTURE`] is permanent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedOutages {
    /// Outages at fixed times of the server's own clock, which starts with the server.
    pub since_start: Vec<(Instant, Instant)>,
    pub since_first_request: Vec<(Instant, Instant)>,
    /// Time that the server's own clock shows at the origin of the run. It is 0 in virtual time.
    pub server_age: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Downtime {
    /// Temporary outages, which are in ascending order and do not overlap.
    ending: Vec<(Instant, Instant)>,
    /// Instant from which the server is down permanently; [`Instant::FAR_FUTURE`] if it is never down permanently.
    pub(crate) for_good_from: Instant,
}

impl PlannedOutages {
    pub(crate) fn of_run(&self, first_request: Instant) -> Downtime {
        let on_run_clock = |at: Instant| match at {
            Instant::FAR_FUTURE => at,
            _ => Instant::ORIGIN + at.since(Instant::ORIGIN + self.server_age),
        };
        let of_server = self.since_start.iter().map(|(from, to)| (on_run_clock(*from), on_run_clock(*to)));
        let after_first = |at: Instant| first_request + at.since_origin();
        let of_run = self.since_first_request.iter().map(|(from, to)| (after_first(*from), after_first(*to)));
        let mut all: Vec<(Instant, Instant)> = of_server.chain(of_run).collect();
        all.sort_unstable();
        let endless = all.iter().filter(|(_, to)| *to == Instant::FAR_FUTURE);
        let for_good_from = endless.map(|(from, _)| *from).min().unwrap_or(Instant::FAR_FUTURE);
        let mut ending: Vec<(Instant, Instant)> = Vec::new();
        for (from, to) in all {
            let to = to.min(for_good_from);
            match ending.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ if from < to => ending.push((from, to)),
                _ => {}
            }
        }
        Downtime { ending, for_good_from }
    }
}

impl Default for Downtime {
    fn default() -> Self {
        Self { ending: Vec::new(), for_good_from: Instant::FAR_FUTURE }
    }
}

impl Downtime {
    /// Returns the time from one instant to another, excluding temporary outages. A permanent outage is included.
    pub(crate) fn counted_between(&self, from: Instant, to: Instant) -> Duration {
        let down = |(begin, end): &(Instant, Instant)| (*end).min(to).since((*begin).max(from));
        to.since(from).saturating_sub(self.ending.iter().map(down).sum())
    }

    /// Returns the instant at which `time` has passed since `from`. Time within temporary outages does not count, as in
    /// [`counted_between`](Self::counted_between).
    pub(crate) fn counted_after(&self, from: Instant, time: Duration) -> Instant {
        let (mut at, mut left) = (from, time);
        for (begin, end) in self.ending.iter().filter(|(_, end)| *end > from) {
            let before = begin.since(at);
            // If `time` has passed exactly when an outage begins, the result is the beginning of that outage, not its
            // end.
            if before >= left {
                break;
            }
            left = left.saturating_sub(before);
            at = *end;
        }
        at + left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    fn spans(spans: &[(u64, u64)]) -> Vec<(Instant, Instant)> {
        let end = |to: u64| if to == 0 { Instant::FAR_FUTURE } else { secs(to) };
        spans.iter().map(|(from, to)| (secs(*from), end(*to))).collect()
    }

    /// Converts outages in seconds on the server's clock and on the run's; an end of 0 is never. The server is 10 s old
    /// when the run begins, and the first request is sent at 2 s.
    fn downtime(since_start: &[(u64, u64)], since_first_request: &[(u64, u64)]) -> Downtime {
        let planned = PlannedOutages {
            since_start: spans(since_start),
            since_first_request: spans(since_first_request),
            server_age: Duration::from_secs(10),
        };
        planned.of_run(secs(2))
    }

    #[test]
    fn outages_of_both_clocks_are_put_on_that_of_the_run() {
        let both = downtime(&[(3, 5), (8, 15), (30, 40)], &[(1, 4), (26, 27)]);
        assert_eq!(both.ending, spans(&[(0, 6), (20, 30)]), "the first is over, others touch or overlap");
        assert_eq!(both.for_good_from, Instant::FAR_FUTURE);
        let for_good = downtime(&[(20, 40)], &[(3, 0)]);
        assert_eq!((for_good.ending, for_good.for_good_from), (Vec::new(), secs(5)));
    }

    #[test]
    fn outage_time_is_excluded_unless_the_outage_never_ends() {
        let down = downtime(&[], &[(8, 18), (38, 48), (98, 0)]);
        let counted = |from, to| down.counted_between(secs(from), secs(to)).as_secs();
        assert_eq!([counted(0, 10), counted(0, 15), counted(0, 20), counted(0, 60)], [10, 10, 10, 40]);
        assert_eq!([counted(12, 18), counted(15, 25), counted(200, 260)], [0, 5, 60]);
        let after = |from, time| down.counted_after(secs(from), Duration::from_secs(time));
        assert_eq!([after(0, 10), after(0, 11), after(0, 31)], [secs(10), secs(21), secs(51)]);
        assert_eq!([after(15, 20), after(60, 60)], [secs(40), secs(120)]);
    }
}
