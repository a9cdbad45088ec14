//! Shared part of Netflix' limiters. Each has a limit, a whole number of attempts that may be in flight, and updates it
//! at every answer.
//!
//! Source: Netflix/concurrency-limits, `limiter/SimpleLimiter.java`, `limiter/AbstractLimiter.java`. As in
//! `grpc/client/ConcurrencyLimitClientInterceptor.java`, an answer counts as success or dropped, or is ignored. An
//! attempt counts as dropped if its gRPC status is `UNAVAILABLE`, because it was rejected or had no connection. It also
//! counts as dropped if it timed out (`Limiter.Listener`). The number of attempts in flight is recorded when an attempt
//! is sent, and includes that attempt.

use std::time::Duration;

use super::netflix_window::{Sample, SampleWindow, Windowed};
use crate::{AttemptEnd, Classification, Failure, GaugeKind, Gauges, Instant, Limiter, Outcome, Status};

pub(crate) const NO_LOAD: GaugeKind = GaugeKind { name: "rtt without load", unit: "ms" };

/// Algorithm that computes the limit on attempts in flight (`AbstractLimit` in Netflix/concurrency-limits).
pub(crate) trait Limit: Send {
    /// Updates the limit after a sample. A sample is one answered attempt, or the mean of a time window that has ended.
    fn on_sample(&mut self, sample: &Sample);

    /// Returns the limit: the maximum number of attempts in flight, at least one.
    fn limit(&self) -> u32;

    fn report(&self, gauges: &mut Gauges);
}

pub(crate) struct NetflixLimiter<L> {
    limit: L,
    window: Option<SampleWindow>,
}

impl<L: Limit> NetflixLimiter<L> {
    pub(crate) fn new(limit: L, windowed: Windowed) -> Self {
        Self { limit, window: windowed.window() }
    }
}

fn was_dropped(outcome: &Outcome) -> Option<bool> {
    match (outcome.status, outcome.classification) {
        (Status::Shed | Status::Deferred | Status::Cancelled, _) => None,
        (_, Classification::Done) => Some(false),
        (_, Classification::Throttled) | (Status::Failed(Failure::Timeout | Failure::Transport), _) => {
            Some(true)
        }
        (_, Classification::Transient | Classification::Final) => None,
    }
}

impl<L: Limit> Limiter for NetflixLimiter<L> {
    fn is_full(&self, in_flight: u32) -> bool {
        in_flight >= self.limit.limit()
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        let Some(dropped) = was_dropped(outcome) else { return };
        // A round trip of zero occurs only in a simulation. It is replaced by 1 ns, because it would cause a division
        // by zero. The source treats it as an error.
        let rtt = now.since(ended.sent_at).max(Duration::from_nanos(1));
        let single = Sample { rtt, in_flight: ended.in_flight_when_sent, dropped, op: ended.op };
        let sample = match &mut self.window {
            None => Some(single),
            Some(window) => window.add(now, &single),
        };
        if let Some(sample) = sample {
            self.limit.on_sample(&sample);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(f64::from(self.limit.limit()));
        self.limit.report(gauges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CANCELLED, FATAL, OK, REJECTED, TIMEOUT, ended, view};
    use crate::{Admit, Until};

    struct Last(Option<Sample>);

    impl Limit for Last {
        fn on_sample(&mut self, sample: &Sample) {
            self.0 = Some(*sample);
        }

        fn limit(&self) -> u32 {
            3
        }

        fn report(&self, _gauges: &mut Gauges) {}
    }

    #[test]
    fn it_sends_while_fewer_are_in_flight_than_the_limit() {
        let limiter = NetflixLimiter::new(Last(None), Windowed::No);
        assert_eq!(limiter.poll(Instant::ORIGIN, &view(2, 0)), Admit::Go);
        assert_eq!(limiter.poll(Instant::ORIGIN, &view(3, 0)), Admit::Wait(Until::Event));
    }

    /// Other failures are ignored unless the strategy classifies them as throttling.
    #[test]
    fn rejections_timeouts_and_lost_connections_are_drops() {
        let transport = Outcome::plain(Status::Failed(Failure::Transport));
        let server = Outcome::plain(Status::Failed(Failure::Server));
        // An outcome that the strategy's own rules classify as throttling, whatever its status.
        let throttled = Outcome { classification: Classification::Throttled, ..server };
        for (outcome, dropped) in [
            (OK, Some(false)),
            (REJECTED, Some(true)),
            (TIMEOUT, Some(true)),
            (transport, Some(true)),
            (server, None),
            (throttled, Some(true)),
            (FATAL, None),
            (CANCELLED, None),
        ] {
            let mut limiter = NetflixLimiter::new(Last(None), Windowed::No);
            limiter.on_ended(Instant::from_millis(5), &ended(4, 2), &outcome);
            let sample = |dropped| Sample { rtt: Duration::from_millis(5), in_flight: 2, dropped, op: 4 };
            assert_eq!(limiter.limit.0, dropped.map(sample), "{outcome:?}");
        }
    }

    #[test]
    fn no_round_trip_takes_no_time() {
        let mut limiter = NetflixLimiter::new(Last(None), Windowed::No);
        limiter.on_ended(Instant::ORIGIN, &ended(0, 1), &OK);
        assert_eq!(limiter.limit.0.unwrap().rtt, Duration::from_nanos(1));
    }
}
