//! Shared part of Netflix' limiters. Each has a limit, a whole number of attempts that may be in flight, and updates it
//! at every answer.
//!
//! Source: Netflix/concurrency-limits, `limiter/SimpleLimiter.java`, `limiter/AbstractLimiter.java`. As in
//! `grpc/client/ConcurrencyLimitClientInterceptor.java`, an answer counts as success or dropped, or is ignored. An
//! attempt counts as dropped if its gRPC status is `UNAVAILABLE`, because it was rejected or had no connection. It also
//! counts as dropped if it timed out (`Limiter.Listener`). The number of attempts in flight is recorded when an attempt
//! is sent, and includes that attempt.
//!
//! A sample is a single attempt, or the mean over all attempts of a time window of one second. The source of these windows is
//! `limit/WindowedLimit.java` and `limit/window/ImmutableAverageSampleWindow.java`, whose defaults are the constants in this file. A
//! window that ends with fewer than ten samples is discarded. The very first sample ends the first window, so the first
//! window is always discarded. Answers faster than 100 µs are not sampled, even if they are rejections.

use std::time::Duration;

use vocabulary::{choices, whole_nanos};

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
    pub(crate) fn new(windowed: Windowed, limit: L) -> Self {
        Self { limit, window: (windowed == Windowed::Yes).then(SampleWindow::default) }
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

/// Minimum round trip of a sample (`minRttThreshold` of the source's builder).
const QUICKEST: Duration = Duration::from_micros(100);
/// Length of a time window of samples. In the source, a window lasts twice the shortest round trip, but at least
/// `minWindowTime` and at most `maxWindowTime` of its builder; by default, both are one second.
const WINDOW: Duration = Duration::from_secs(1);
/// Minimum number of samples in a window (`windowSize` of the source's builder).
const FEWEST: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Round-trip time: the time from the sending of an attempt to its answer; never zero.
    pub(crate) rtt: Duration,
    /// Number of attempts in flight just after this attempt was sent, including this attempt. For a window, the maximum
    /// over the window's attempts.
    pub(crate) in_flight: u32,
    /// True if the attempt was rejected or lost. For a window, true if any of the window's attempts was rejected or
    /// lost.
    pub(crate) dropped: bool,
    /// Number of the attempt's op. For a window, the op of its last attempt. This number is used as the key of random
    /// draws.
    pub(crate) op: u64,
}

choices! {
    pub(crate) enum Windowed {
        No = "false",
        Yes = "true",
    }
}

impl Windowed {
    pub(crate) const ABOUT: &'static str = "whether a sample is the mean of at least ten answers, once a second (WindowedLimit), or (`false`) \
         every single answer";
}

#[derive(Debug, Default)]
struct SampleWindow {
    ends: Instant,
    count: u32,
    sum_nanos: u64,
    in_flight: u32,
    dropped: bool,
}

impl SampleWindow {
    /// Adds a sample to the window. If the sample ends the window and the window has enough samples, returns their
    /// mean. Returns `None` in all other cases.
    fn add(&mut self, now: Instant, sample: &Sample) -> Option<Sample> {
        if sample.rtt < QUICKEST {
            return None;
        }
        self.count = self.count.saturating_add(1);
        self.sum_nanos = self.sum_nanos.saturating_add(whole_nanos(sample.rtt));
        self.in_flight = self.in_flight.max(sample.in_flight);
        self.dropped |= sample.dropped;
        if now <= self.ends {
            return None;
        }
        let over = std::mem::replace(self, Self { ends: now + WINDOW, ..Self::default() });
        (over.count >= FEWEST).then(|| Sample {
            rtt: Duration::from_nanos(over.sum_nanos / u64::from(over.count)),
            in_flight: over.in_flight,
            dropped: over.dropped,
            op: sample.op,
        })
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
        let limiter = NetflixLimiter::new(Windowed::No, Last(None));
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
            let mut limiter = NetflixLimiter::new(Windowed::No, Last(None));
            limiter.on_ended(Instant::from_millis(5), &ended(4, 2), &outcome);
            let sample = |dropped| Sample { rtt: Duration::from_millis(5), in_flight: 2, dropped, op: 4 };
            assert_eq!(limiter.limit.0, dropped.map(sample), "{outcome:?}");
        }
    }

    #[test]
    fn no_round_trip_takes_no_time() {
        let mut limiter = NetflixLimiter::new(Windowed::No, Last(None));
        limiter.on_ended(Instant::ORIGIN, &ended(0, 1), &OK);
        assert_eq!(limiter.limit.0.unwrap().rtt, Duration::from_nanos(1));
    }

    fn sample(rtt: Duration, in_flight: u32) -> Sample {
        Sample { rtt, in_flight, dropped: false, op: 0 }
    }

    fn filled(count: u32) -> SampleWindow {
        let mut window = SampleWindow::default();
        assert_eq!(window.add(Instant::from_nanos(1), &sample(QUICKEST, 1)), None, "one is too few");
        for _ in 0..count {
            assert_eq!(window.add(Instant::from_millis(900), &sample(Duration::from_millis(500), 7)), None);
        }
        window
    }

    #[test]
    fn the_mean_is_of_all_samples_cut_to_whole_nanoseconds() {
        // The rule of `ImmutableAverageSampleWindowTest`: (5000 + 500 + 10 + 5000) / 4; a drop does not change the
        // mean.
        let mut window = filled(0);
        for (micros, dropped) in [(5000, false), (500, false), (110, false), (5000, true)].repeat(3) {
            let sample = Sample { dropped, ..sample(Duration::from_micros(micros), 1) };
            assert_eq!(window.add(Instant::from_millis(900), &sample), None);
        }
        let mean = window.add(Instant::from_millis(1002), &sample(Duration::from_nanos(100_001), 1)).unwrap();
        assert_eq!(mean.rtt, Duration::from_nanos((3 * 10_610_000 + 100_001) / 13));
        assert!(mean.dropped);
    }

    #[test]
    fn a_window_ends_after_a_second_with_the_next_sample() {
        let mut window = filled(8);
        let at_its_end = Instant::from_nanos(1_000_000_001);
        assert_eq!(window.add(at_its_end, &sample(Duration::from_millis(500), 3)), None);
        let mean =
            window.add(Instant::from_nanos(1_000_000_002), &sample(Duration::from_millis(600), 3)).unwrap();
        assert_eq!(mean, sample(Duration::from_millis(510), 7));
        assert_eq!(window.add(Instant::from_millis(2000), &sample(QUICKEST, 1)), None);
    }

    #[test]
    fn a_window_with_too_few_samples_is_thrown_away() {
        let mut window = filled(8);
        assert_eq!(window.add(Instant::from_millis(1500), &sample(QUICKEST, 1)), None);
        for _ in 0..9 {
            assert_eq!(window.add(Instant::from_millis(2500), &sample(QUICKEST, 1)), None);
        }
        assert!(window.add(Instant::from_millis(2501), &sample(QUICKEST, 1)).is_some());
    }

    #[test]
    fn what_is_quicker_than_100_us_is_no_sample() {
        let mut window = filled(9);
        let quick = Sample { dropped: true, ..sample(Duration::from_nanos(99_999), 900) };
        assert_eq!(window.add(Instant::from_millis(1500), &quick), None);
        let mean = window.add(Instant::from_millis(1500), &sample(Duration::from_millis(500), 1)).unwrap();
        assert_eq!(mean, sample(Duration::from_millis(500), 7));
    }
}
