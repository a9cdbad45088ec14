//! `tailback`: our own paced window, for limits of unknown kind and size.
//!
//! A rejection arrives a round trip after the attempt that exceeded the limit. By then, the window has grown. So the
//! new window is computed from the number of attempts in flight when the rejected attempt was *sent*. Sends are spaced
//! evenly over a round trip, so the window also limits the rate of attempts. Therefore the same rule finds both a
//! concurrency limit and the rate of a token bucket. docs/tailback.md states the rule in ten lines, and its measured
//! benefit.
//!
//! If the server advises waits, all ops wait as long, and the window grows beyond the limit less often, because each rejection then costs a
//! wait. If the server states a quota, the client sends what the quota admits.
//!
//! Source: our own rule, designed on randomly drawn server and workload settings. The growth curve is that of RFC 9438
//! (CUBIC), with time in round trips instead of seconds. The smoothed latency and its mean deviation are those of RFC
//! 6298, both with weight 1/16.

mod credit;

use std::time::Duration;

use self::credit::Credit;
use super::bucket::seconds;
use crate::error::SpecError;
use crate::gauges::GAP;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::{
    Admit, Advice, AttemptEnd, Failure, Gauges, Instant, Limiter, LimiterView, Outcome, Status, Until,
};
use vocabulary::{choices, parameters};

/// Time in seconds after which a client without any answer may have sent twice its initial window. The value is similar
/// to a typical first latency. Half or twice this value changes the time to finish by at most 1 %.
const BLIND_DOUBLING_S: f64 = 0.2;

/// Weight of the newest sample in the mean latency and in its deviation. RFC 6298 uses 1/8 and 1/4. This weight is
/// smaller, because a client with many attempts in flight has many samples per round trip.
const SAMPLE_WEIGHT: f64 = 1.0 / 16.0;

/// Maximum window in the start phase, as a multiple of the attempts in flight. Without this maximum, the successes of
/// one burst would double the window before any later attempt shows that the server has room for more.
const START_GROWTH: f64 = 1.25;

/// Number of rejections within a round trip that do not cut the window. If every rejection cut the window, servers that
/// reject a few requests at random would keep the window low.
const FORGIVEN: f64 = 1.0;

/// Minimum height of the growth curve, as a share of its top. Without this minimum, the curve after a small cut would
/// be flat, and the window would never grow beyond the top.
const MIN_RISE: f64 = 0.05;

/// Minimum window that is restored after an outage, as a share of the last window that was too large (`top`). The
/// number of cuts during an outage depends only on the length of the outage. So the cuts during an outage show nothing
/// about the server's limit.
const MIN_RETURN: f64 = 0.5;

/// Minimum window, in attempts. A window below 1 is a rate: with the minimum window, the gap between sends is a
/// thousand latencies. In practice the gap usually reaches [`TailbackConfig::max_gap`] first.
const MIN_WINDOW: f64 = 0.001;

/// Difference between the longest usual latency and the mean latency, in mean deviations (RFC 6298, section 2.3: K =
/// 4).
const LATE_DEVIATIONS: f64 = 4.0;

/// Factor that defines late answers: they take longer than this factor times the longest usual latency. The longest
/// usual latency is the mean plus `LATE_DEVIATIONS` deviations. An attempt that times out so late counts as lost in the
/// network. Its loss shows nothing about the server's limit.
const LOST_AFTER: f64 = 2.0;

/// Advised waits for which the window stays at its plateau after a cut, before it grows beyond. A rejection by which the client tries a
/// larger window then costs some percent of the time.
const PRICE: f64 = 5.0;

/// Advised waits for which the window stays at its plateau if the next attempt to grow will probably end at the same window. That is so if
/// the last two cuts were at the same window, or if the server limits concurrent requests.
const HIGH_PRICE: f64 = 30.0;

/// Longest advised wait that counts in the price, in nanoseconds.
const MAX_PRICED_WAIT: f64 = 2e9;

/// Relative difference up to which two cuts count as cuts to the same size.
const SAME_TOP: f64 = 0.15;

/// Minimum number of attempts in flight at which a rejection can show a limit on concurrent requests.
const MIN_CAP: f64 = 2.0;

/// Advised wait in nanoseconds from which the wait is the only reaction to a rejection.
const LONG_WAIT: f64 = 10e9;

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Switch {
        On = "on",
        Off = "off",
    }
}

parameters! {
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct TailbackConfig = "tailback" {
        initial: f64 = 20.0, "initial window, in attempts in flight", 1.0..=1e6;
        beta: f64 = 0.95, "share of the window that remains after a cut", 0.01..=0.999;
        max_gap("longest-gap"): Duration = Duration::from_mins(1), "maximum time between two attempts";
        hold: choice Switch = Switch::On, "whether all ops wait as long as the server advises";
        hold_max: Duration = Duration::from_hours(1), "longest wait for advice or for a quota";
        quota: choice Switch = Switch::On, "whether the client sends what the quota admits that the server states";
    }
    summary = "window with evenly spaced attempts, for limits of unknown kind and size";
    rule = "an attempt may start while fewer than max(window, 1) are in flight, and at least gap = (L - D) / \
        window after the previous one (L / window if window < 1). L is the mean latency of successes, and D \
        its mean deviation. Before the first answer, one more attempt is admitted every 200 ms / initial. \
        Until the first cut, each success adds 1 to the window, up to 1.25 * in flight + 1. Later, window = \
        top + (top - base) * (n / sqrt(top / 2) - 1)^3 after n round trips since the cut. The second \
        rejection or failure within a round trip causes a cut: top = the number in flight when that attempt \
        was sent, and window = base = beta * top. While no attempt sent since the cut succeeds, each further \
        cut leaves beta^2 of the window (with an advised wait, at most of L / wait) and beta of base (at least \
        top / 2), and the first success sets the window back to base. Attempts sent before the last cut cause no cut. A rejection or failure with an \
        advised wait w holds all ops until now + min(w, hold-max), and is not forgiven. If w >= 10 s, or if \
        the quota that the server states is used up, the hold is the only reaction. After an advised cut the \
        window stays at max(base, top - 1) for price * min(w, 2 s), where price is 30 if the last two cuts \
        had the same top or the server limits concurrent requests, and 5 otherwise. While the server states \
        a quota of at least 5, the attempts that remain may be sent, times the share of it that this client \
        uses. Further ones wait for the rate of the bucket, or for the next window";
    source = "our own rule (docs/tailback.md), with the growth curve of RFC 9438 and the latency estimate of \
        RFC 6298. It is not suitable for one or two slots per client, for rejections that take longer than \
        the service, or for rates below 1 per second";
}

impl PartConfig for TailbackConfig {
    const KIND: PartKind = PartKind::Limiter;

    fn build(self, _: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Limiter(Box::new(Tailback::new(self))))
    }

    fn uses_quota(&self) -> bool {
        self.quota == Switch::On
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Started,
    FirstRejections,
    Rejection,
    Failure,
    OpenAgain,
}

/// Smoothed latencies in nanoseconds. Instants are also stored in nanoseconds, so samples need no conversion.
#[derive(Clone, Copy, Debug, Default)]
struct Latency {
    /// Mean latency of successes; `None` before the first success.
    mean: Option<f64>,
    /// Mean absolute deviation of the latencies from their mean, in nanoseconds.
    deviation: f64,
    /// Latency of the first rejection. It replaces the mean latency until an attempt succeeds.
    rejection: Option<f64>,
}

impl Latency {
    fn on_success(&mut self, age: f64) {
        let mean = self.mean.unwrap_or(age);
        self.deviation += ((age - mean).abs() - self.deviation) * SAMPLE_WEIGHT;
        self.mean = Some(mean + (age - mean) * SAMPLE_WEIGHT);
    }

    fn is_late(&self, age: f64) -> bool {
        self.mean.is_some_and(|mean| age > LOST_AFTER * (mean + LATE_DEVIATIONS * self.deviation))
    }

    fn usual(&self) -> f64 {
        self.mean.or(self.rejection).unwrap_or_default()
    }

    /// Returns the time over which the sends of a whole window are spread. It is the mean latency, if the window is a rate. Otherwise it
    /// is shorter by the mean deviation, because a slot of a server with erratic latencies may be free early.
    fn spread(&self, is_rate: bool) -> f64 {
        let usual = self.usual();
        if is_rate { usual } else { (usual - self.deviation).max(0.0) }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    /// Latest instant that the server has advised. Nothing is sent before it.
    until: Instant,
    /// Latest advised wait, in nanoseconds.
    wait: f64,
    /// True from the advice until the next send.
    is_on: bool,
}

/// Pause of the growth after a cut by a rejection with advice, and the kind of limit that the cut indicates.
#[derive(Clone, Copy, Debug, Default)]
struct Plateau {
    /// Window at which the growth pauses. 0 if the last cut was not advised.
    window: f64,
    /// Number of round trips for which the growth still pauses.
    pause: f64,
    /// True if the cut was not at the maximum of attempts in flight. So the server limits a rate.
    is_rate: bool,
}

struct Tailback {
    config: TailbackConfig,
    /// Maximum number of attempts in flight. A value below 1 is a rate: the number of attempts that may be sent per
    /// mean latency.
    window: f64,
    /// Last window that was too large. It is the number of attempts that were in flight when the attempt was sent whose
    /// rejection caused the last cut. Cuts during an outage do not change this value. It is 0 before the first cut.
    top: f64,
    /// Window right after the last cut that set `top`. Cuts during an outage lower this value. After the outage, the
    /// window returns to this value.
    base: f64,
    /// Number of round trips since the last cut of the window.
    rounds: f64,
    /// Number of round trips that the window needs after a cut to return to `top`.
    rounds_to_top: f64,
    /// Height of the growth curve: the distance from its value right after the cut to `top`.
    rise: f64,
    /// Number of recent rejections and failures that did not cut the window. Each round trip of successes lowers this
    /// number by one.
    strikes: f64,
    /// True in the start phase. The start phase ends at the first cut after a success.
    starting: bool,
    /// False after a cut, until an attempt sent since that cut succeeds.
    open: bool,
    next_seq: u64,
    /// Sequence number of the first attempt after the last cut. If an attempt with a lower number is rejected, the
    /// window is not cut again.
    cut_seq: u64,
    latency: Latency,
    /// Instant of the first send. It is needed only until the first answer. `None` before the first send and after the
    /// first answer.
    blind_since: Option<Instant>,
    answered: bool,
    next: Instant,
    hold: Hold,
    /// Maximum number of attempts in flight when an attempt was sent that has succeeded since the last cut.
    most_accepted: u32,
    plateau: Plateau,
    credit: Credit,
    reason: Reason,
}

impl Tailback {
    fn new(config: TailbackConfig) -> Self {
        Self {
            config,
            window: config.initial,
            top: 0.0,
            base: 0.0,
            rounds: 0.0,
            rounds_to_top: 1.0,
            rise: 0.0,
            strikes: 0.0,
            starting: true,
            open: true,
            next_seq: 0,
            cut_seq: 0,
            latency: Latency::default(),
            blind_since: None,
            answered: false,
            next: Instant::ORIGIN,
            hold: Hold::default(),
            most_accepted: 0,
            plateau: Plateau::default(),
            credit: Credit::new(config.hold_max),
            reason: Reason::Started,
        }
    }

    fn most_in_flight(&self) -> f64 {
        self.window.max(1.0)
    }

    fn gap(&self) -> Duration {
        let gap = self.latency.spread(self.plateau.is_rate || self.window < 1.0) / self.window;
        vocabulary::nanos(gap).min(self.config.max_gap)
    }

    /// Returns the earliest instant at which one more attempt beyond the initial window may be sent while no answer has
    /// arrived yet.
    fn blind_turn(&self, since: Instant, in_flight: f64) -> Instant {
        let beyond = in_flight - self.most_in_flight();
        since + vocabulary::nanos(beyond / self.config.initial * BLIND_DOUBLING_S * 1e9)
    }

    /// Handles the first answer, which ends the blind phase (the time without any answer). If more attempts are in
    /// flight than the window allows, raises the window to their number.
    fn on_answer(&mut self, in_flight: u32) {
        if !self.answered {
            self.answered = true;
            self.blind_since = None;
            self.window = self.window.max(f64::from(in_flight));
        }
    }

    fn on_success(&mut self, now: Instant, age: f64, ended: &AttemptEnd) {
        self.latency.on_success(age);
        self.most_accepted = self.most_accepted.max(ended.in_flight_when_sent);
        self.open |= ended.seq >= self.cut_seq;
        if self.window < self.base {
            if self.open {
                self.window = self.base;
                self.next = self.next.min(now + self.gap());
                self.reason = Reason::OpenAgain;
            }
            return;
        }
        let round = 1.0 / self.most_in_flight();
        self.strikes = (self.strikes - round).max(0.0);
        let in_flight = f64::from(ended.in_flight);
        // If something else limits the attempts, a success shows nothing about the size of the window, so the window does not grow.
        let is_idle = ended.ready == 0 && in_flight < self.window;
        if is_idle || !self.credit.admits(now, self.next_seq) {
            return;
        }
        let grown = if self.starting {
            (self.window + 1.0).min(START_GROWTH * in_flight + 1.0)
        } else {
            self.grown(round).min(self.window + self.window.min(1.0))
        };
        if grown > self.window {
            self.window = grown;
        }
    }

    /// Returns the window after a further `round` of a round trip.
    fn grown(&mut self, round: f64) -> f64 {
        if self.plateau.pause > 0.0 && self.curve() >= self.plateau.window {
            self.plateau.pause -= round;
            return self.plateau.window;
        }
        self.rounds += round;
        let curve = self.curve();
        if self.plateau.pause > 0.0 { curve.min(self.plateau.window) } else { curve }
    }

    fn curve(&self) -> f64 {
        let from_top = self.rounds / self.rounds_to_top - 1.0;
        self.top + self.rise * from_top * from_top * from_top
    }

    /// Returns whether the attempt was probably lost in the network, rather than delayed by load.
    fn is_lost(&self, status: Status, age: f64) -> bool {
        status == Status::Failed(Failure::Timeout) && self.latency.is_late(age)
    }

    /// Takes in the advice of an answer. Returns true if the client obeys it.
    fn obey(&mut self, now: Instant, advice: Advice) -> bool {
        let Advice::After(wait) = advice else { return false };
        if wait.is_zero() || self.config.hold == Switch::Off {
            return false;
        }
        let wait = wait.min(self.config.hold_max);
        self.hold.until = self.hold.until.max(now + wait);
        self.hold.wait = vocabulary::whole_nanos(wait) as f64;
        self.hold.is_on = true;
        true
    }

    fn on_congestion(
        &mut self,
        now: Instant,
        age: f64,
        ended: &AttemptEnd,
        status: Status,
        is_advised: bool,
    ) {
        self.latency.rejection.get_or_insert(age);
        if ended.seq < self.cut_seq {
            return;
        }
        let is_most = is_advised && ended.in_flight_when_sent > self.most_accepted;
        if self.open && now < self.hold.until && self.hold.wait >= LONG_WAIT && !is_most {
            // If the first attempt after the wait is rejected, too, the window is cut.
            self.open = false;
            self.cut_seq = self.next_seq;
            return;
        }
        if !is_advised && self.open && !self.starting && self.window >= 1.0 {
            self.strikes += 1.0;
            if self.strikes <= FORGIVEN {
                return;
            }
        }
        self.reason = if status == Status::Rejected { Reason::Rejection } else { Reason::Failure };
        let is_probe = self.plateau.window > 0.0 && self.plateau.pause <= 0.0;
        let last_top = self.top;
        let sets_top = self.cut(f64::from(ended.in_flight_when_sent), is_advised);
        if !is_advised {
            (self.plateau.window, self.plateau.pause) = (0.0, 0.0);
        } else if sets_top {
            let is_same = is_probe && (self.top - last_top).abs() <= SAME_TOP * last_top;
            let is_cap = is_most && self.top >= MIN_CAP;
            self.plateau.is_rate = !is_most;
            self.pause_growth(if is_same || is_cap { HIGH_PRICE } else { PRICE });
        }
        self.most_accepted = 0;
        self.rounds_to_top = (self.top.max(1.0) / 2.0).sqrt();
        self.rise = (self.top - self.base).max(MIN_RISE * self.top);
        (self.strikes, self.rounds) = (0.0, 0.0);
        self.open = false;
        self.cut_seq = self.next_seq;
        if self.window < 1.0 {
            self.next = self.next.max(now + self.gap());
        }
    }

    /// Plans a pause at the plateau, just below the window that was too large.
    fn pause_growth(&mut self, price: f64) {
        self.plateau.window = self.base.max(self.top - 1.0);
        let waits = price * self.hold.wait.min(MAX_PRICED_WAIT);
        self.plateau.pause = waits / self.latency.usual().max(1.0) * self.window.min(1.0);
    }

    /// Lowers the window after the rejection or failure of an attempt. `in_flight_when_sent` includes that attempt. Returns true if the
    /// cut shows a window that was too large.
    fn cut(&mut self, in_flight_when_sent: f64, is_advised: bool) -> bool {
        let beta = self.config.beta;
        let known = self.latency.mean.is_some();
        if !known && self.open {
            // If no attempt has succeeded yet, the first rejection only shows how many attempts the server accepted
            // before it. So the start phase continues.
            self.window = self.window.min(in_flight_when_sent - 1.0).max(1.0);
            (self.top, self.base) = (self.window, self.window);
            self.reason = Reason::FirstRejections;
        } else if known && (self.open || self.starting) {
            self.starting = false;
            self.top = self.window.min(in_flight_when_sent);
            self.window = (beta * self.top).max(MIN_WINDOW);
            self.base = self.window;
        } else {
            // No attempt sent since the last cut has succeeded, so the congestion is treated as an outage.
            self.base = self.base.min((self.base * beta).max(MIN_RETURN * self.top));
            if is_advised {
                // The hold already spaces the attempts as a window of this size does, so a larger one has no effect.
                self.window = self.window.min(self.latency.usual() / self.hold.wait);
            }
            self.window = (self.window * beta * beta).max(MIN_WINDOW);
            return false;
        }
        known
    }

    const fn phase(&self) -> &'static str {
        match self {
            Self { answered: false, .. } => "blind",
            Self { open: false, .. } => "after a cut",
            Self { starting: true, .. } => "start",
            _ => "growth",
        }
    }
}

impl Limiter for Tailback {
    fn poll(&self, now: Instant, view: &LimiterView) -> Admit {
        let in_flight = f64::from(view.in_flight);
        if in_flight >= self.most_in_flight() {
            match self.blind_since.map(|since| self.blind_turn(since, in_flight)) {
                None => return Admit::Wait(Until::Event),
                Some(turn) if now < turn => return Admit::Wait(Until::At(turn)),
                Some(_) => {}
            }
        }
        let next = self.next.max(self.hold.until);
        if now < next {
            return Admit::Wait(Until::At(next));
        }
        self.credit.wait(now, view.candidate.seq, view.in_flight).map_or(Admit::Go, Admit::Wait)
    }

    fn held_until(&self) -> Option<Instant> {
        (self.config.hold == Switch::On).then_some(self.hold.until)
    }

    fn hold_until(&mut self, at: Instant) {
        if self.config.hold == Switch::On && at > self.hold.until {
            (self.hold.until, self.hold.is_on) = (at, true);
        }
    }

    fn is_full(&self, in_flight: u32) -> bool {
        self.blind_since.is_none() && f64::from(in_flight) >= self.most_in_flight()
    }

    fn on_sent(&mut self, now: Instant, view: &LimiterView) {
        self.next_seq = view.candidate.seq + 1;
        if !self.answered {
            self.blind_since.get_or_insert(now);
        }
        // If the client sends an attempt later than planned, it may send the next attempt earlier, but by at most one
        // gap.
        self.next = now.max(self.next + self.gap());
        self.hold.is_on = false;
        self.credit.on_sent(now, view.candidate.seq);
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        let status = outcome.status;
        let age = now.as_nanos().saturating_sub(ended.sent_at.as_nanos()) as f64;
        let is_success = status == Status::Succeeded;
        let quota = outcome.quota.filter(|_| self.config.quota == Switch::On);
        let is_exhausted = quota.is_some_and(|quota| quota.remaining == 0);
        let is_beyond_quota = is_exhausted && !self.credit.covers(ended.sent_at, ended.seq);
        self.credit.on_answer(now, ended.seq, is_success, self.latency.usual(), quota);
        if is_success {
            self.on_answer(ended.in_flight);
            self.on_success(now, age, ended);
            return;
        }
        let is_advised = self.obey(now, outcome.advice);
        if status.is_congestion() && !self.is_lost(status, age) {
            self.on_answer(ended.in_flight);
            if !is_beyond_quota {
                self.on_congestion(now, age, ended, status, is_advised);
            }
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        // No window is reported before the first answer, because until then the maximum number of attempts in flight
        // grows with time.
        if self.answered {
            gauges.limit_window(self.most_in_flight());
        }
        gauges.ssthresh = (self.top > 0.0).then_some(self.top.max(1.0));
        gauges.draw(&GAP, seconds(self.gap()) * 1e3);
        let reason = match self.reason {
            Reason::Started => "started",
            Reason::FirstRejections => "set to the rate accepted before the first rejection",
            Reason::Rejection => "cut by a rejection",
            Reason::Failure => "cut by a failure",
            Reason::OpenAgain => "restored by a success",
        };
        let (phase, reason) = if self.hold.is_on {
            ("held", "the server advised a wait")
        } else if !self.credit.admits(self.next, self.next_seq) {
            ("quota used up", "no request remains until it is reset")
        } else {
            (self.phase(), reason)
        };
        gauges.explain(phase, reason);
    }
}

#[cfg(test)]
mod tests;
