//! Detection of stalled runs, which are runs without progress for too long, and the planned outages that do not count as stalls.

use std::time::Duration;

use vocabulary::Instant;

/// Minimum number of attempts without a success after which a run is stalled, however little time has passed. In
/// virtual time an attempt may take only nanoseconds, so a limit on time alone would come too late.
const MAX_ATTEMPTS: u64 = 10_000_000;

/// Minimum number of attempts without a success per unfinished op before a run counts as stalled by its number of
/// attempts. [`MAX_ATTEMPTS`] must be reached as well.
const MAX_ATTEMPTS_PER_OP: u64 = 10;

/// Maximum number of tries at one instant before the run counts as stalled. A run with many unfinished ops may exceed
/// this number up to [`MAX_TRIES_PER_OP`] per unfinished op.
const MAX_TRIES: u64 = 10_000;

/// Maximum number of tries per unfinished op at one instant before the run counts as stalled. Only applies if it
/// permits more tries in total than [`MAX_TRIES`].
const MAX_TRIES_PER_OP: u64 = 100;

/// Maximum number of advised waits without progress that do not count. A server that advises a wait in every answer would otherwise keep
/// a run alive for ever.
const MAX_OBEYED: u32 = 100;

/// Limits after which a run counts as stalled, because no attempt succeeds although attempts are made. There is a limit
/// on experiment time. It is the maximum of 60 s (the default), 100 × the time of one undisturbed attempt, and 3 × the
/// longest backoff in use. The other limit is 10⁷ attempts.
///
/// Two kinds of time are not counted: scheduled downtime of the server, and time in which every unfinished op waits as
/// the server advised, up to [`MAX_OBEYED`] times in a row. Once the server is down permanently, both kinds are counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct StallWatch {
    /// Time without progress that counts towards a stall. It is the time from the last progress to the instant `since`.
    counted: Duration,
    since: Instant,
    /// True if every unfinished op waits as the server advised, and has done so since the instant `since`.
    pub obeys: bool,
    /// Number of such waits since the last progress.
    obeyed: u32,
    pub downtime: Downtime,
    /// Minimum time without progress after which a run counts as stalled. Longer backoffs extend this time.
    patience: Duration,
    longest_backoff: Duration,
    /// Tries that failed without taking time, and whose ops retried at the same instant. The first value is the latest
    /// instant with a failed try of this kind. The second value is the number of these tries at that instant.
    fruitless: (Instant, u64),
    /// Attempts that did not succeed: the instant of the latest one, and their number since the last progress.
    in_vain: (Instant, u64),
}

impl StallWatch {
    pub(crate) fn new(undisturbed_attempt: Duration, shortest_patience: Duration) -> Self {
        let patience = shortest_patience.max(undisturbed_attempt.saturating_mul(100));
        Self { patience, ..Self::default() }
    }

    /// Restarts the measurement of time without progress. Called after a success, and when an op arrives after a time
    /// without unfinished ops.
    pub(crate) fn on_progress(&mut self, at: Instant) {
        self.since = self.since.max(at);
        self.counted = Duration::ZERO;
        self.obeyed = 0;
        self.in_vain.1 = 0;
        self.on_end();
    }

    /// Records whether every unfinished op waits as the server advised (`obeys`), from the instant `at` on. Returns
    /// true if the recorded value changed.
    pub(crate) fn on_waiting(&mut self, obeys: bool, at: Instant) -> bool {
        let obeys = obeys && self.obeyed < MAX_OBEYED;
        let is_new = obeys != self.obeys;
        if is_new {
            self.counted += self.downtime.counted_between(self.counts_from(), at);
            self.since = self.since.max(at);
            self.obeyed += u32::from(self.obeys);
            self.obeys = obeys;
        }
        is_new
    }

    pub(crate) fn on_in_vain(&mut self, at: Instant) {
        self.in_vain = (at, self.in_vain.1 + 1);
    }

    pub(crate) fn last_in_vain(&self) -> Instant {
        self.in_vain.0
    }

    pub(crate) fn worn_out_at(&self, unfinished: u64) -> Option<Instant> {
        let (at, count) = self.in_vain;
        // Fast path: `count` is compared first, because this comparison is the cheapest and usually already false.
        let enough = || count >= MAX_ATTEMPTS && count >= unfinished.saturating_mul(MAX_ATTEMPTS_PER_OP);
        (enough() && unfinished > 0).then_some(at)
    }

    pub(crate) fn on_end(&mut self) {
        self.fruitless.1 = 0;
    }

    /// Records a try of an op that failed without taking time, if the op tries again at the same instant.
    pub(crate) fn on_fruitless(&mut self, at: Instant) {
        let (since, count) = self.fruitless;
        self.fruitless = if since == at { (at, count + 1) } else { (at, 1) };
    }

    /// Returns the instant at which tries repeat without end; `None` if there is no such instant. Tries repeat without
    /// end if retries do not wait and rejections take no time. In virtual time the run would never leave that instant.
    pub(crate) fn spins_at(&self, unfinished: u64) -> Option<Instant> {
        let (at, count) = self.fruitless;
        let enough = count > MAX_TRIES && count > unfinished.saturating_mul(MAX_TRIES_PER_OP);
        enough.then_some(at)
    }

    pub(crate) fn tries_without_time(&self, at: Instant) -> u64 {
        let (since, count) = self.fruitless;
        if since == at && count > MAX_TRIES { count } else { 0 }
    }

    pub(crate) fn on_backoff(&mut self, delay: Duration) {
        self.longest_backoff = self.longest_backoff.max(delay);
    }

    pub(crate) fn stalls_at(&self) -> Instant {
        let patience = self.patience.max(self.longest_backoff.saturating_mul(3));
        self.downtime.counted_after(self.counts_from(), patience.saturating_sub(self.counted))
    }

    /// Returns the instant from which time has not been added to `counted` yet. Earlier time was already added, or does
    /// not count.
    fn counts_from(&self) -> Instant {
        if self.obeys { self.since.max(self.downtime.for_good_from) } else { self.since }
    }
}

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
    pub for_good_from: Instant,
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
    fn counted_between(&self, from: Instant, to: Instant) -> Duration {
        let down = |(begin, end): &(Instant, Instant)| (*end).min(to).since((*begin).max(from));
        to.since(from).saturating_sub(self.ending.iter().map(down).sum())
    }

    /// Returns the instant at which `time` has passed since `from`. Time within temporary outages does not count, as in
    /// [`counted_between`](Self::counted_between).
    fn counted_after(&self, from: Instant, time: Duration) -> Instant {
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

    const MINUTE: Duration = Duration::from_mins(1);

    /// Progress starts it anew.
    #[test]
    fn patience_grows_with_attempt_times_and_back_offs() {
        let mut watch = StallWatch::new(Duration::from_millis(600), MINUTE);
        assert_eq!(watch.stalls_at(), Instant::from_millis(60_000));
        watch.on_backoff(Duration::from_secs(30));
        assert_eq!(watch.stalls_at(), Instant::from_millis(90_000));
        watch.on_progress(Instant::from_millis(5_000));
        assert_eq!(watch.stalls_at(), Instant::from_millis(95_000));
        assert_eq!(
            StallWatch::new(Duration::from_secs(2), MINUTE).stalls_at(),
            Instant::from_millis(200_000)
        );
    }

    /// A success starts the count anew.
    #[test]
    fn ten_million_attempts_without_a_success_are_a_stall() {
        let mut watch = StallWatch::new(Duration::ZERO, MINUTE);
        for nanos in 1..MAX_ATTEMPTS {
            watch.on_in_vain(Instant::from_nanos(nanos));
        }
        assert_eq!(watch.worn_out_at(100), None);
        let mut later = watch.clone();
        later.on_progress(Instant::from_millis(10));
        later.on_in_vain(Instant::from_millis(11));
        assert_eq!(later.worn_out_at(100), None);
        watch.on_in_vain(Instant::from_millis(12));
        assert_eq!(watch.worn_out_at(100), Some(Instant::from_millis(12)));
        // Ten million ops that are all rejected once are not a stall.
        assert_eq!((watch.worn_out_at(10_000_000), watch.worn_out_at(0)), (None, None));
    }

    #[test]
    fn tries_without_time_are_a_stall_and_time_or_success_ends_it() {
        let mut watch = StallWatch::new(Duration::ZERO, MINUTE);
        for _ in 0..=MAX_TRIES {
            watch.on_fruitless(Instant::from_millis(7));
        }
        assert_eq!(watch.spins_at(1), Some(Instant::from_millis(7)));
        assert_eq!(watch.spins_at(101), None);
        assert_eq!([7, 8].map(|at| watch.tries_without_time(Instant::from_millis(at))), [10_001, 0]);
        let mut later = watch.clone();
        later.on_fruitless(Instant::from_millis(8));
        assert_eq!(later.spins_at(1), None);
        watch.on_progress(Instant::from_millis(7));
        assert_eq!(watch.spins_at(1), None);
    }

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
