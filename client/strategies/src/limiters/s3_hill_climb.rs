//! `s3-hill-climb`: a window that grows while a larger window raises goodput, and shrinks while a smaller window does
//! not lower goodput.
//!
//! Source: awslabs/aws-s3-transfer-manager-rs `aws-sdk-s3-transfer-manager/src/scheduler/concurrency/adaptive.rs` and
//! `src/metrics/aggregators.rs` (`IOWindow`). Pull request 135 added the algorithm. This limiter follows a later
//! revision, which uses the maximum of the last measurements and grows by a fixed step at first. Goodput in the source
//! is bytes per second; in this limiter it is successes per second.
//!
//! As in the source, a measurement is judged only if enough attempts were in flight: at least as many as the last
//! accepted window. While the limiter shrinks its window (sheds), it tries windows below the accepted one. Then not
//! enough attempts are in flight, so a client with unlimited work judges no further measurement. Its window stays one
//! step below the window at which it was throttled. With `used=tried`, as many attempts as the tried window are enough,
//! and the client continues to shrink.

use std::time::Duration;

use super::goodput::{Goodput, History};
use crate::gauges::RATE;
use crate::part_config::part;
use crate::{AttemptEnd, Classification, Gauges, Instant, Limiter, LimiterView, Outcome, Status};
use vocabulary::{DAY, choices, parameters};

choices! {
    enum Used {
        Accepted = "accepted",
        Tried = "tried",
    }
}

parameters! {
    pub(crate) struct S3HillClimbConfig = "s3-hill-climb" {
        initial: u32 = 32, "initial window, in attempts in flight", 1..=1_000_000;
        min: u32 = 5, "minimum window", 1..=1_000_000;
        max: u32 = u32::MAX, "maximum window", 1..=u32::MAX;
        interval: Duration = Duration::from_millis(500),
            "period over which goodput is measured and judged", Duration::from_millis(1)..=DAY;
        smoothing: u32 = 4, "number of recent measurements whose maximum is judged", 1..=1000;
        history: u32 = 10,
            "number of earlier judged values with whose maximum a new one is compared", 2..=1000;
        start_interval: Duration = Duration::from_millis(300),
            "interval between judgements of goodput during the start", Duration::from_millis(1)..=DAY;
        start_step: u32 = 32,
            "number of attempts by which each trial at the start enlarges the window", 1..=1_000_000;
        start_margin: f64 = 0.1,
            "share by which goodput must grow, during the start, to accept a larger window", 0.0..=10.0;
        start_patience: u32 = 4,
            "number of consecutive trials without more goodput that ends the start", 1..=1000;
        step: f64 = 0.02, "share of the window by which each trial changes it after the start", 0.001..=0.5;
        max_step: u32 = 200,
            "maximum number of attempts by which a trial exceeds the accepted window", 1..=1_000_000;
        margin: f64 = 0.02,
            "share by which goodput must grow, or may fall, after the start, to accept a tried window",
            0.0..=0.99;
        patience: u32 = 3,
            "number of consecutive trials without more goodput after which the window shrinks", 1..=1000;
        used: choice Used = Used::Accepted, "in-flight attempts that a judged measurement must have reached: \
            the accepted window, or the tried one if it is smaller";
    }
    summary = "a window that grows while goodput grows with it, else shrinks";
    rule = "the limiter tries window sizes and accepts those that help. At the first end of an attempt after \
        each `interval`, it measures goodput: successes per second over the interval. g is the greatest of \
        the last `smoothing` measurements, and best is the greatest of the last `history` values of g. A \
        measurement is not judged if in flight never reached the accepted size (with used=tried: the \
        accepted or the tried size). Start, judged every `start-interval`: it tries accepted + start-step, \
        and accepts this if g >= (1 + start-margin) * best. The start ends after `start-patience` \
        consecutive misses. Probing: it tries accepted * (1 + step), and accepts this if g >= (1 + margin) * \
        best. After `patience` consecutive misses, or when throttled, it starts shedding: it tries accepted \
        * (1 - step), then 2, 3 and more steps less, while g >= (1 - margin) * best; else it returns to \
        probing. The window is the tried size, from min to accepted + max-step";
    source = "awslabs/aws-s3-transfer-manager-rs \
        aws-sdk-s3-transfer-manager/src/scheduler/concurrency/adaptive.rs; its pull request 135";
}

part!(S3HillClimbConfig: Limiter, |config, _| S3HillClimb::new(config));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Start,
    Probing,
    Shedding,
}

/// Upper bound of levels. A level is a number of attempts in flight that the limiter tries, or has accepted, as its
/// window.
const HIGHEST: f64 = 1e9;

struct S3HillClimb {
    config: S3HillClimbConfig,
    goodput: Goodput,
    raw: History,
    /// History of goodput values that were judged. Each value is the maximum of the last few measurements when it was
    /// judged.
    judged: History,
    phase: Phase,
    /// Last level (number of attempts in flight) whose goodput was satisfactory.
    accepted: f64,
    tried: f64,
    window: f64,
    /// Number of consecutive judgements without the required growth of goodput. In the phase `Shedding`, it is the
    /// number of consecutive judgements in which goodput did not fall.
    in_a_row: u32,
    most_in_flight: u32,
    judged_at: Instant,
    reason: &'static str,
}

impl S3HillClimb {
    fn new(config: S3HillClimbConfig) -> Self {
        let initial = f64::from(config.initial);
        Self {
            goodput: Goodput::new(config.interval),
            raw: History::new(config.smoothing),
            judged: History::new(config.history),
            phase: Phase::Start,
            accepted: initial,
            tried: initial,
            window: initial,
            in_a_row: 0,
            most_in_flight: 0,
            judged_at: Instant::ORIGIN,
            reason: "started",
            config,
        }
    }

    fn on_answer(&mut self, now: Instant) {
        let interval =
            if self.phase == Phase::Start { self.config.start_interval } else { self.config.interval };
        if now.since(self.judged_at) < interval {
            return;
        }
        self.judged_at = now;
        let most_in_flight = std::mem::take(&mut self.most_in_flight);
        let goodput = self.goodput.per_s(now);
        if goodput > 0.0 {
            self.raw.push(goodput);
            let target = self.judge(self.raw.best(), most_in_flight);
            self.window = target.min(f64::from(self.config.max)).max(1.0);
        }
    }

    fn judge(&mut self, goodput: f64, most_in_flight: u32) -> f64 {
        let first = self.judged.is_empty();
        self.judged.push(goodput);
        if first {
            if self.phase == Phase::Start {
                self.tried = self.accepted + f64::from(self.config.start_step);
            }
        } else if f64::from(most_in_flight) < self.needed() {
            self.reason = "window not full";
        } else {
            // The divisor is never 0, because only measurements above 0 are judged.
            let gain = goodput / self.judged.best_before();
            match self.phase {
                Phase::Start => self.start(gain),
                Phase::Probing => self.probe(gain),
                Phase::Shedding => self.shed(goodput / self.judged.best()),
            }
        }
        let highest = self.accepted + f64::from(self.config.max_step);
        self.tried.max(f64::from(self.config.min)).min(highest).max(1.0)
    }

    fn needed(&self) -> f64 {
        match self.config.used {
            Used::Accepted => self.accepted,
            Used::Tried => self.accepted.min(self.window),
        }
    }

    fn start(&mut self, gain: f64) {
        if gain >= 1.0 + self.config.start_margin {
            self.accept();
            self.in_a_row = 0;
            self.tried = self.accepted + f64::from(self.config.start_step);
        } else {
            self.miss();
            if self.in_a_row >= self.config.start_patience {
                self.enter(Phase::Probing);
                self.tried = self.a_step_up();
            }
        }
    }

    fn probe(&mut self, gain: f64) {
        if gain >= 1.0 + self.config.margin {
            self.accept();
            self.in_a_row = 0;
        } else {
            self.miss();
            if self.in_a_row >= self.config.patience {
                self.enter(Phase::Shedding);
            }
        }
        // A higher level is tried even if the limiter starts to shed. So the first level that it judges while shedding
        // is one step above the accepted level.
        self.tried = self.a_step_up();
    }

    fn shed(&mut self, share: f64) {
        if share >= 1.0 - self.config.margin {
            self.accept();
            self.in_a_row += 1;
            let less = self.config.step * f64::from(self.in_a_row + 1);
            self.tried = libm::floor(self.accepted * (1.0 - less)).max(0.0);
        } else {
            self.enter(Phase::Probing);
            self.reason = "goodput fell";
            self.tried = self.a_step_up();
        }
    }

    fn accept(&mut self) {
        self.reason = if self.tried < self.accepted { "goodput stayed" } else { "goodput grew" };
        self.accepted = self.tried.min(HIGHEST);
    }

    fn miss(&mut self) {
        self.reason = "goodput did not grow";
        self.in_a_row += 1;
    }

    fn a_step_up(&self) -> f64 {
        libm::ceil(self.accepted * (1.0 + self.config.step))
    }

    fn enter(&mut self, phase: Phase) {
        if self.phase == Phase::Start {
            self.raw.clear();
            self.judged.clear();
        }
        self.phase = phase;
        self.in_a_row = 0;
    }
}

impl Limiter for S3HillClimb {
    fn is_full(&self, in_flight: u32) -> bool {
        f64::from(in_flight) >= self.window
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        self.most_in_flight = self.most_in_flight.max(view.in_flight + 1);
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome) {
        match outcome.status {
            Status::Cancelled | Status::Deferred | Status::Shed => return,
            Status::Succeeded => self.goodput.on_success(now),
            Status::Rejected | Status::Failed(_) => {}
        }
        if outcome.classification == Classification::Throttled && self.phase != Phase::Shedding {
            self.enter(Phase::Shedding);
            self.reason = "throttled";
        }
        self.on_answer(now);
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.window);
        gauges.draw(&RATE, self.judged.last());
        let phase = match self.phase {
            Phase::Start => "slow start",
            Phase::Probing => "probing",
            Phase::Shedding => "shedding",
        };
        gauges.explain(phase, self.reason);
    }
}

#[cfg(test)]
mod tests;
