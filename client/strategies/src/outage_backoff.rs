//! Backoff during an outage, for strategies that have a limiter but no other backoff. During an outage it throttles all
//! ops of a client and probes the server.
//!
//! A refused or reset connection takes almost no time, so a limiter alone would send as fast as the machine can. After
//! a transport error, the client therefore sends only single attempts, called probes. The first probe is sent after 50
//! ms, the next ones after 100 ms, 200 ms and then every 250 ms, until the server answers. So a dead port receives 4
//! attempts per second, and the return of a server is noticed within 250 ms. Retry policies with delays already slow
//! down the client, so this backoff is not used with them.
//!
//! A server may also answer everything with a fast 5xx. So probing also begins after [`MAX_FAILURES`] consecutive
//! failures of any kind. In that case a further failure does not end probing. Only a success, a rejection, or an answer
//! that no retry would change (most 4xx) ends it. The op of such an answer is over.

use std::time::Duration;

use crate::{Failure, Instant, Status};

const SHORTEST: Duration = Duration::from_millis(50);

/// Longest delay between probes. It is also the time after which a probe without a failure counts as accepted, because
/// refused connections fail at once.
const LONGEST: Duration = Duration::from_millis(250);

/// Number of consecutive failures after which the server counts as failing. A working server hardly ever causes so many
/// consecutive failures: with 5 % of random failures, once in 10¹³ attempts.
const MAX_FAILURES: u32 = 10;

#[derive(Debug)]
pub(crate) struct OutageBackoff {
    /// State of the backoff during an outage; `None` if there is no outage. The state is boxed, because outages are
    /// rare.
    held: Option<Box<Held>>,
    /// Delay before the next probe of the server. Only an answer of the server resets it to the shortest delay.
    wait: Duration,
    next_seq: u64,
    failures: u32,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// Sequence number of the first probe. Attempts with this or a higher number are probes.
    first_probe: u64,
    until: Instant,
    /// Sequence number and send time of the earliest probe in flight; `None` if no probe is in flight.
    out: Option<(u64, Instant)>,
    /// True if the server is reachable but attempts fail with a 5xx status or by timeout. A probe that has not failed
    /// yet then does not count as accepted by the server.
    is_failing: bool,
}

impl OutageBackoff {
    pub(crate) fn new() -> Self {
        Self { held: None, wait: SHORTEST, next_seq: 0, failures: 0 }
    }

    /// Returns the instant before which no attempt may be launched; `None` if attempts may be launched at `now`.
    pub(crate) fn holds(&self, now: Instant) -> Option<Instant> {
        let held = self.held.as_ref()?;
        Some(held.until.min(held.let_in_at())).filter(|until| now < *until)
    }

    pub(crate) fn gauges(&self) -> Option<(&'static str, &'static str)> {
        self.held.as_ref().map(|held| {
            if held.is_failing {
                ("probing a failing server", "10 consecutive failures")
            } else {
                ("probing a dead server", "connections failed")
            }
        })
    }

    pub(crate) fn on_sent(&mut self, now: Instant, seq: u64) {
        self.next_seq = seq + 1;
        let Some(held) = &mut self.held else { return };
        if now >= held.let_in_at() {
            self.held = None;
            return;
        }
        held.out.get_or_insert((seq, now));
        held.until = now + self.wait;
        self.wait = (self.wait * 2).min(LONGEST);
    }

    /// Records the end of an attempt, and returns true if it was a failed probe. The limiters must not count a failed
    /// probe as a failure, because they have already reacted to the outage.
    pub(crate) fn on_ended(&mut self, now: Instant, seq: u64, status: Status) -> bool {
        let Status::Failed(failure @ (Failure::Transport | Failure::Timeout | Failure::Server)) = status
        else {
            if status == Status::Cancelled {
                if let Some(held) = &mut self.held {
                    held.forget(seq);
                }
            } else {
                self.failures = 0;
                self.end();
            }
            return false;
        };
        self.failures = self.failures.saturating_add(1);
        let is_failing = self.failures >= MAX_FAILURES;
        match failure {
            Failure::Transport => self.hold(now, seq, false),
            _ if is_failing => self.hold(now, seq, true),
            // A timeout shows that the server accepted the attempt. So there is no outage. The limiter reacts to the
            // slow server, and the backoff for outages does not.
            Failure::Timeout => {
                self.held = self.held.take().filter(|held| seq < held.first_probe);
                false
            }
            Failure::Server | Failure::Fatal => {
                self.end();
                false
            }
        }
    }

    /// Starts to throttle launches after a failure, unless they are already throttled. Returns whether the failed
    /// attempt was a probe.
    fn hold(&mut self, now: Instant, seq: u64, is_failing: bool) -> bool {
        let Some(held) = &mut self.held else {
            let until = now + self.wait;
            let held = Held { first_probe: self.next_seq, until, out: None, is_failing };
            self.held = Some(Box::new(held));
            return false;
        };
        held.is_failing |= is_failing;
        held.forget(seq);
        seq >= held.first_probe
    }

    fn end(&mut self) {
        self.held = None;
        self.wait = SHORTEST;
    }
}

impl Held {
    fn forget(&mut self, seq: u64) {
        self.out = self.out.filter(|(out, _)| *out != seq);
    }

    /// Returns the instant at which the earliest probe in flight counts as accepted if it does not fail before then.
    fn let_in_at(&self) -> Instant {
        let sent_at = self.out.filter(|_| !self.is_failing).map(|(_, sent_at)| sent_at);
        sent_at.map_or(Instant::FAR_FUTURE, |sent_at| sent_at + LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: Status = Status::Failed(Failure::Transport);

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn dead(at: Instant) -> OutageBackoff {
        let mut outage = OutageBackoff::new();
        (0..3).for_each(|seq| outage.on_sent(ms(0), seq));
        assert_eq!(outage.holds(at), None);
        assert!(!outage.on_ended(at, 0, REFUSED), "the first failure is news");
        outage
    }

    #[test]
    fn probes_come_after_50_100_200_and_then_every_250_ms() {
        let mut outage = dead(ms(0));
        let mut sent = Vec::new();
        let mut now = ms(0);
        for seq in 3..9 {
            now = outage.holds(now).expect("nothing has answered");
            outage.on_sent(now, seq);
            assert!(outage.on_ended(now, seq, REFUSED), "a probe that fails is no news");
            sent.push(now);
        }
        assert_eq!(sent, [50, 100, 200, 400, 650, 900].map(ms));
    }

    #[test]
    fn failures_in_flight_change_nothing_but_an_answer_ends_it() {
        let mut outage = dead(ms(0));
        assert!(!outage.on_ended(ms(10), 1, REFUSED), "not a probe");
        assert_eq!(outage.holds(ms(10)), Some(ms(50)));
        outage.on_ended(ms(20), 2, Status::Rejected);
        assert_eq!(outage.holds(ms(20)), None);
    }

    #[test]
    fn a_probe_that_does_not_fail_was_let_in() {
        let mut outage = dead(ms(0));
        outage.on_sent(ms(50), 3);
        outage.on_sent(ms(100), 4);
        assert_eq!(outage.holds(ms(100)), Some(ms(200)));
        outage.on_sent(ms(200), 5);
        assert_eq!(outage.holds(ms(200)), Some(ms(300)), "250 ms after the first probe");
        assert_eq!(outage.holds(ms(300)), None);
        outage.on_sent(ms(300), 6);
        assert!(outage.gauges().is_none());
        // A server that accepts connections and resets them later does not get more attempts.
        outage.on_ended(ms(900), 3, REFUSED);
        assert_eq!(outage.holds(ms(900)), Some(ms(1150)));
    }

    #[test]
    fn a_cancelled_probe_is_ignored_and_a_timed_out_one_ends_it() {
        let mut outage = dead(ms(0));
        outage.on_sent(ms(50), 3);
        outage.on_ended(ms(60), 3, Status::Cancelled);
        assert_eq!(outage.holds(ms(60)), Some(ms(100)));
        outage.on_sent(ms(100), 4);
        outage.on_ended(ms(120), 1, Status::Failed(Failure::Timeout));
        assert!(outage.gauges().is_some());
        outage.on_ended(ms(130), 4, Status::Failed(Failure::Timeout));
        assert!(outage.gauges().is_none());
    }

    /// Sends `count` attempts at 0 ms, which fail one per millisecond.
    fn failed(outage: &mut OutageBackoff, count: u64, failure: impl Fn(u64) -> Failure) {
        (0..count).for_each(|seq| outage.on_sent(ms(0), seq));
        for seq in 0..count {
            assert!(!outage.on_ended(ms(seq + 1), seq, Status::Failed(failure(seq))), "no probe");
        }
    }

    /// The kinds of failures may be mixed.
    #[test]
    fn ten_consecutive_failures_start_probing_but_nine_do_not() {
        let mixed = |seq| if seq % 2 == 0 { Failure::Server } else { Failure::Timeout };
        for kinds in [(|_| Failure::Server) as fn(u64) -> Failure, |_| Failure::Timeout, mixed] {
            let mut outage = OutageBackoff::new();
            failed(&mut outage, 9, kinds);
            assert_eq!(outage.holds(ms(9)), None);
            let mut outage = OutageBackoff::new();
            failed(&mut outage, 10, kinds);
            let mut sent = Vec::new();
            let mut now = ms(10);
            for seq in 10..15 {
                now = outage.holds(now).expect("nothing has succeeded");
                outage.on_sent(now, seq);
                assert!(outage.on_ended(now, seq, Status::Failed(Failure::Server)), "no news");
                sent.push(now);
            }
            assert_eq!(sent, [60, 110, 210, 410, 660].map(ms));
        }
    }

    /// A cancelled attempt does not reset the failure count.
    #[test]
    fn successes_rejections_and_fatals_reset_the_failure_count() {
        for (between, holds) in [
            (Status::Succeeded, false),
            (Status::Rejected, false),
            (Status::Failed(Failure::Fatal), false),
            (Status::Cancelled, true),
        ] {
            let mut outage = OutageBackoff::new();
            failed(&mut outage, 9, |_| Failure::Server);
            outage.on_sent(ms(20), 9);
            outage.on_ended(ms(20), 9, between);
            outage.on_sent(ms(20), 10);
            outage.on_ended(ms(20), 10, Status::Failed(Failure::Server));
            assert_eq!(outage.holds(ms(20)).is_some(), holds, "{between:?}");
        }
    }

    /// The server gets only probes, however slowly it fails.
    #[test]
    fn a_failing_server_gets_only_probes_until_it_works() {
        let mut outage = OutageBackoff::new();
        failed(&mut outage, 10, |_| Failure::Server);
        let mut now = ms(10);
        // No probe is answered for seconds; then one times out.
        for seq in 10..30 {
            now = outage.holds(now).expect("a probe without an answer shows nothing");
            outage.on_sent(now, seq);
        }
        assert!(now > ms(4000), "{now:?}");
        assert!(outage.on_ended(now, 10, Status::Failed(Failure::Timeout)));
        assert!(outage.holds(now).is_some());
        outage.on_ended(now, 11, Status::Succeeded);
        assert_eq!(outage.holds(now), None);
        outage.on_ended(now, 12, Status::Failed(Failure::Server));
        assert_eq!(outage.holds(now), None, "one failure after a success is one");
    }
}
