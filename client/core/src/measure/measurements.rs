//! All measurements of one run, such as counts, latencies, time series and fairness, updated at every event.

use std::time::Duration;

use hdrhistogram::Histogram;
use tailback::{Failure, GaugeKind, Status};
use vocabulary::{Instant, whole_nanos};
use wire::AdvertisedLimits;

use super::counts::{Advice, AttemptCounts, Excess, OpCounts};
use super::fairness::Fairness;
use super::histogram::{self, MAX_ATTEMPTS_PER_OP};
use super::rate_course::RateCourse;
use super::window_course::WindowCourse;
use super::{
    AdviceFigures, Bin, Bins, FairnessFigures, GivenUp, GivenUpCounts, Latencies, RateFigures, RateLaw,
    Series, WindowFigures,
};
use crate::cause::FailureCounts;
use crate::workload::RunConfig;

pub const RATE_LIMIT: GaugeKind = GaugeKind { name: "rate limit", unit: "/s" };

pub const REMAINING: GaugeKind = GaugeKind { name: "remaining", unit: "requests" };

#[derive(Clone, Debug)]
pub struct Measurements {
    pub ops: OpCounts,
    pub attempts: AttemptCounts,
    /// Time from the arrival of an op to its success.
    pub op_latency: Latencies,
    /// Time from sending an attempt to its answer, for attempts that succeeded.
    pub success_latency: Latencies,
    pub rejection_latency: Latencies,
    pub failure_latency: Latencies,
    /// Number of failed attempts that had an answer. The answer reported an error of the server or of the request.
    pub answered_failures: u64,
    /// Delay of an attempt from the instant at which it was due to the instant at which it was sent. The load generator itself causes this
    /// delay.
    pub send_lag: Latencies,
    pub excess: Excess,
    /// Histogram of attempts per ended op. Values are exact up to 2000; larger values have three significant digits.
    pub attempts_per_op: Histogram<u64>,
    pub most_attempts_per_op: u64,
    pub series: Series,
    pub bins: Option<Bins>,
    pub failures: FailureCounts,
    /// Statuses of all answers, whatever they mean.
    pub statuses: FailureCounts,
    pub gateway_successes: u64,
    pub given_up_after: GivenUpCounts,
    advice: Advice,
    /// Number of attempts that a client sent after it had received advice, and before the latest instant that was advised.
    pub early_shared: u64,
    window_course: WindowCourse,
    rate_course: Option<Box<RateCourse>>,
    /// Fairness among clients; `None` for a single client, which cannot be treated unfairly.
    fairness: Option<Fairness>,
    /// Maximum time in nanoseconds from an op's arrival to its success for the op to count as in time. An op that succeeds later, or never,
    /// is late. If it is `None`, no op counts as in time.
    deadline_nanos: Option<u64>,
    in_time: u64,
    /// Maximum time in nanoseconds from an op's arrival to its success for the op to count as done in time. The maximum is the limit that
    /// the user set or, if no limit is set, the deadline. If neither is set, the time is unlimited.
    within_nanos: u64,
    done_in_time: u64,
    /// End of the warm-up. Ops that arrive earlier and attempts that are sent earlier are excluded from latencies.
    warm_until: Instant,
    pub first_arrival: Option<Instant>,
    pub last_success: Option<Instant>,
    pub last_end: Option<Instant>,
}

impl Default for Measurements {
    fn default() -> Self {
        Self::new(&RunConfig::default())
    }
}

impl Measurements {
    pub fn new(config: &RunConfig) -> Self {
        let several = config.clients > 1;
        let latencies = || if config.exact_latencies { Latencies::exact() } else { Latencies::default() };
        Self {
            ops: OpCounts::default(),
            attempts: AttemptCounts::default(),
            op_latency: latencies(),
            success_latency: latencies(),
            rejection_latency: latencies(),
            failure_latency: latencies(),
            answered_failures: 0,
            send_lag: Latencies::default(),
            excess: Excess::new(config.mean_service),
            attempts_per_op: histogram::empty(),
            most_attempts_per_op: 0,
            series: Series::default(),
            bins: config.bins.map(Bins::new),
            failures: FailureCounts::default(),
            statuses: FailureCounts::default(),
            gateway_successes: 0,
            given_up_after: GivenUpCounts::default(),
            advice: Advice::default(),
            early_shared: 0,
            window_course: WindowCourse::new(config.undisturbed_attempt),
            rate_course: None,
            fairness: several.then(|| Fairness::new(config.clients, config.undisturbed_attempt)),
            deadline_nanos: config.deadline.map(whole_nanos),
            in_time: 0,
            within_nanos: config.within.or(config.deadline).map_or(u64::MAX, whole_nanos),
            done_in_time: 0,
            warm_until: Instant::ORIGIN + config.warm_up,
            first_arrival: None,
            last_success: None,
            last_end: None,
        }
    }

    pub fn window_figures(&self) -> WindowFigures {
        self.window_course.figures(self.first_arrival, self.last_end)
    }

    pub fn rate_figures(&self) -> Option<RateFigures> {
        self.rate_course.as_ref().map(|course| course.figures(self.first_arrival, self.last_end))
    }

    pub(crate) fn follow(&mut self, law: Option<RateLaw>, undisturbed_attempt: Duration) {
        self.rate_course = law.map(|law| Box::new(RateCourse::new(law, undisturbed_attempt)));
    }

    pub fn fairness_figures(&self) -> Option<FairnessFigures> {
        self.fairness.as_ref().map(|fairness| fairness.figures(self.last_end))
    }

    pub fn in_time(&self) -> Option<u64> {
        self.deadline_nanos.map(|_| self.in_time)
    }

    pub fn done_in_time(&self) -> u64 {
        self.done_in_time
    }

    pub fn advice_figures(&self) -> AdviceFigures {
        AdviceFigures { early_shared: self.early_shared, ..self.advice.figures() }
    }

    pub(crate) fn on_advised_retry(&mut self, sent_at: Instant, not_before: Instant) {
        self.advice.on_retry(sent_at, not_before);
    }

    pub fn on_window(&mut self, at: Instant, window: f64) {
        self.series.at(at).window.set(window);
        self.window_course.on_window(at, window);
    }

    pub fn on_server_seen(&mut self, at: Instant, busy: u32, cap: Option<u32>) {
        let point = self.series.at(at);
        point.server_busy.set(f64::from(busy));
        if let Some(cap) = cap {
            point.server_cap.set(f64::from(cap));
        }
        self.window_course.on_cap(at, cap);
    }

    /// Records the limits that an answer reported for the server's stack of policies. If there is a cap on all requests, it is plotted.
    /// Otherwise the concurrency limit among the reported limits is plotted.
    #[cold]
    pub fn on_advertised_limits(&mut self, at: Instant, cap: Option<u32>, limits: AdvertisedLimits) {
        if let (None, Some(places)) = (cap, limits.places()) {
            self.series.at(at).server_cap.set(f64::from(places.cap));
        }
        if let Some(rate) = limits.rate() {
            self.series.draw(at, &RATE_LIMIT, rate.per_s());
            self.series.draw(at, &REMAINING, f64::from(rate.remaining));
        }
    }

    pub(crate) fn settle(&mut self) {
        let Self { op_latency, success_latency, rejection_latency, failure_latency, send_lag, .. } = self;
        for latencies in [op_latency, success_latency, rejection_latency, failure_latency, send_lag] {
            latencies.settle();
        }
    }

    pub fn op_latency_curve(&self) -> Vec<[f64; 2]> {
        self.op_latency.curve()
    }

    pub fn on_answer_due(&mut self, due: Instant, at: Instant) {
        self.excess.record_between(due, at);
    }

    pub fn on_arrival(&mut self, at: Instant, client: u32) {
        if let Some(fairness) = &mut self.fairness {
            fairness.on_arrival(at, client);
        }
        self.ops.arrived += 1;
        self.first_arrival.get_or_insert(at);
    }

    /// Records that an attempt was sent. `ordinal` is the attempt's number within its op, from 1. `in_flight` is the
    /// number of attempts in flight, including this one.
    #[inline]
    pub fn on_sent(&mut self, at: Instant, in_flight: u64, ordinal: u32) {
        self.attempts.total += 1;
        let point = self.series.at(at);
        point.sent += 1;
        point.in_flight.set(in_flight as f64);
        self.window_course.on_sent(in_flight);
        if let Some(course) = &mut self.rate_course {
            course.on_sent(at);
        }
        if let Some(bins) = &mut self.bins {
            let first = u32::from(ordinal == 1);
            bins.note(at, in_flight, |bin| {
                bin.sent += 1;
                bin.first += first;
            });
        }
    }

    /// Records the end of an attempt that was sent at `sent_at`. `in_flight` is the number of attempts that remain in flight.
    #[inline]
    pub fn on_ended(&mut self, at: Instant, status: Status, sent_at: Instant, in_flight: u64) {
        let point = self.series.at(at);
        point.in_flight.set(in_flight as f64);
        if let Some(bins) = &mut self.bins {
            let count = |bin: &mut Bin| match status {
                Status::Succeeded => bin.succeeded += 1,
                Status::Rejected | Status::Failed(_) => bin.turned_away += 1,
                Status::Cancelled | Status::Shed | Status::Deferred => {}
            };
            bins.note(at, in_flight, count);
        }
        let latencies = match status {
            Status::Succeeded => {
                point.succeeded += 1;
                self.attempts.succeeded += 1;
                if let Some(course) = &mut self.rate_course {
                    course.on_success(at);
                }
                &mut self.success_latency
            }
            Status::Rejected => {
                point.rejected += 1;
                self.attempts.rejected += 1;
                self.window_course.on_rejected();
                if let Some(course) = &mut self.rate_course {
                    course.on_rejected();
                }
                &mut self.rejection_latency
            }
            Status::Failed(failure) => {
                let answered = matches!(failure, Failure::Server | Failure::Fatal);
                self.answered_failures += u64::from(answered);
                point.failed += 1;
                self.attempts.failed += 1;
                &mut self.failure_latency
            }
            Status::Cancelled => {
                self.attempts.cancelled += 1;
                return;
            }
            // Neither status counts as an attempt. A shed op was not sent, and a deferred attempt counts as if it had never been sent.
            Status::Shed | Status::Deferred => return,
        };
        if sent_at >= self.warm_until {
            latencies.record_between(sent_at, at);
        }
    }

    /// Records the end of an attempt that never got a connection.
    pub(crate) fn on_never_sent(&mut self, at: Instant, in_flight: u64) {
        self.attempts.unsent += 1;
        self.series.at(at).in_flight.set(in_flight as f64);
    }

    pub fn on_success(&mut self, at: Instant, arrived: Instant, attempts: u32, client: u32) {
        let latency = at.nanos_since(arrived);
        self.in_time += u64::from(self.deadline_nanos.is_some_and(|deadline| latency <= deadline));
        self.done_in_time += u64::from(latency <= self.within_nanos);
        if let Some(fairness) = &mut self.fairness {
            fairness.on_end(at, client, Some(at.since(arrived)));
        }
        self.ops.succeeded += 1;
        if arrived >= self.warm_until {
            self.op_latency.record_between(arrived, at);
        }
        self.note_attempts_per_op(attempts);
        later(&mut self.last_success, at);
        later(&mut self.last_end, at);
    }

    pub fn on_given_up(&mut self, at: Instant, attempts: u32, why: GivenUp, client: u32) {
        if let Some(fairness) = &mut self.fairness {
            fairness.on_end(at, client, None);
        }
        self.ops.given_up += 1;
        self.given_up_after.count(why);
        self.note_attempts_per_op(attempts);
        later(&mut self.last_end, at);
    }

    fn note_attempts_per_op(&mut self, attempts: u32) {
        histogram::record(&mut self.attempts_per_op, u64::from(attempts), 1, MAX_ATTEMPTS_PER_OP);
        self.most_attempts_per_op = self.most_attempts_per_op.max(u64::from(attempts));
    }

    pub fn attempt_latency(&self) -> Latencies {
        let mut all = self.success_latency.clone();
        all.merge(&self.rejection_latency);
        all.merge(&self.failure_latency);
        all
    }

    /// Variant of [`attempt_latency`](Self::attempt_latency) that writes the sums and the histogram to `all`, whose memory is reused. It
    /// leaves out the list of individual latencies.
    pub(crate) fn copy_attempt_latency(&self, all: &mut Latencies) {
        all.copy_from(&self.success_latency);
        all.merge(&self.rejection_latency);
        all.merge(&self.failure_latency);
    }

    /// Returns the makespan: the time from the first arrival to the last success. If some op did not succeed, the
    /// makespan ends when the last op ends. `None` before any op has ended.
    pub fn makespan(&self) -> Option<Duration> {
        let complete = self.ops.succeeded == self.ops.arrived;
        let end = if complete { self.last_success } else { self.last_end };
        Some(end?.since(self.first_arrival?))
    }
}

/// Replaces `latest` by `at` if `at` is later. This function needs fewer comparisons than `max` of two options.
#[inline]
fn later(latest: &mut Option<Instant>, at: Instant) {
    if latest.is_none_or(|latest| latest < at) {
        *latest = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of four ops count as done in time, of which three are done after 1, 2 and 3 s, and one never
    /// is.
    fn done_in_time(within: Option<u64>, deadline: Option<u64>) -> u64 {
        let [within, deadline] = [within, deadline].map(|limit| limit.map(Duration::from_secs));
        let mut measured = Measurements::new(&RunConfig { deadline, within, ..RunConfig::default() });
        (0..4).for_each(|_| measured.on_arrival(Instant::ORIGIN, 0));
        for s in 1..4 {
            measured.on_success(Instant::from_millis(s * 1000), Instant::ORIGIN, 1, 0);
        }
        measured.done_in_time()
    }

    /// The requested limit takes precedence over the deadline, and the count is exact.
    #[test]
    fn ops_done_exactly_at_the_limit_are_in_time() {
        assert_eq!(done_in_time(Some(2), None), 2);
        assert_eq!(done_in_time(Some(2), Some(1)), 2, "what was asked for comes before the deadline");
        assert_eq!(done_in_time(None, Some(1)), 1);
        assert_eq!(done_in_time(None, None), 3);
    }
}
