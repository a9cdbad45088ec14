//! `bbr`: a rate and a window derived from the server's delivery rate, not from its rejections.
//!
//! Source: Linux `net/ipv4/tcp_bbr.c` (BBR version 1: its phases, gains and filters), also as in quinn-rs/quinn
//! `quinn-proto/src/congestion/bbr/mod.rs`; Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14
//! (5), 2016. In this crate, attempts take the place of packets, and successes take the place of deliveries. A
//! rejection counts as a loss. Its only effect is that it ends a probe for more bandwidth. Three parts of BBR are left
//! out: the compensation for offloading and delayed acknowledgements, packet conservation in recovery, and the
//! detection of policers.
//!
//! The window is a multiple of rate · latency. The latency in this product is the *minimum* of the recent latencies,
//! because a queue only adds to latency. But some servers have no queue, and their latencies vary for other reasons.
//! For such a server the minimum is too low: at every probe the attempts in flight shrink, in the end to almost none.
//! The parameter `latency=mean` is meant for such servers. The limiter then uses the mean latency of the last round
//! trip, and never pauses to measure the minimum.

#[cfg(test)]
mod tests;

use std::time::Duration;

use vocabulary::{DAY, Purpose, Rng as _, choices, draws, nanos, parameters};

use super::bucket::seconds;
use super::delivery_rate::{DeliveryRate, Sample};
use crate::gauges::RATE;
use crate::part_config::part;
use crate::{Admit, AttemptEnd, GaugeKind, Gauges, Instant, Limiter, LimiterView, Outcome, Status, Until};

const DELIVERED: GaugeKind = GaugeKind { name: "delivery rate", unit: "per s" };

choices! {
    enum Latency {
        Min = "min",
        Mean = "mean",
    }
}

parameters! {
    pub(crate) struct BbrConfig = "bbr" {
        initial: f64 = 10.0, "initial window, in attempts in flight", 1.0..=1e6;
        min: f64 = 4.0, "minimum window, in attempts in flight", 1.0..=1e6;
        startup_gain: f64 = 2.885, "gain of rate and window during startup", 1.01..=100.0;
        window_gain: f64 = 2.0,
            "ratio of the window to the product of delivery rate and latency", 1.0..=100.0;
        rounds: u32 = 10, "number of recent round trips whose maximum delivery rate is used", 1..=10_000;
        latency: choice Latency = Latency::Min,
            "latency from which the window is computed: the minimum, or the mean of the last round trip";
        latency_window: Duration = Duration::from_secs(10),
            "time after which the minimum latency is measured anew", Duration::from_millis(1)..=DAY;
    }
    summary = "TCP BBR: rate and window computed from success rate and latency";
    rule = "the delivery rate is the greatest rate of successes in the last `rounds` round trips. rate = \
        0.99 * gain * delivery rate. window = window-gain * delivery rate * latency, at least `min`. \
        Startup: both gains are `startup-gain`, until the delivery rate has not grown by a quarter for three \
        round trips. Drain: gain is 1 / startup-gain until in flight <= delivery rate * latency. After that, \
        gain cycles through 1.25, 0.75 and six times 1, each for one latency. latency is the minimum of the \
        last `latency-window`. When it is older than that, it is measured anew with window = min, for 200 ms \
        and one round trip. With latency=mean, latency is instead the mean over the successes of the last \
        round trip";
    source = "Linux net/ipv4/tcp_bbr.c; quinn-rs/quinn quinn-proto/src/congestion/bbr; Cardwell et al., ACM \
        Queue 14(5), 2016";
}

part!(BbrConfig: Limiter, |config, context| Bbr::new(config, context.seed));

/// Cycle of factors by which the rate is multiplied while the limiter probes for more bandwidth. Each factor applies
/// for about one latency.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Indices of the steps in the probing cycle (`CYCLE`) at which the cycle may start. The step with factor 0.75, which
/// drains the surplus of a probe, is left out.
const FIRST_STEPS: [usize; 7] = [0, 2, 3, 4, 5, 6, 7];

/// Factor that keeps the sending rate slightly below the delivery rate, so that queues drain.
const MARGIN: f64 = 0.99;

/// Assumed latency in seconds from which the first rate is computed, before any latency is measured.
const FIRST_LATENCY: f64 = 0.001;

/// Minimum duration of a measurement of the minimum latency, during which the window stays at its minimum. The
/// measurement also lasts at least a full round trip.
const PROBE_LATENCY_FOR: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Startup,
    Drain,
    ProbeBandwidth {
        step: usize,
        since: Instant,
    },
    /// Phase that measures the minimum latency with the minimum window. `until` is the earliest end of the measurement;
    /// it is set once few enough attempts are in flight. `round_over` is true once a round trip has passed since then.
    /// After the measurement, the window returns to the value `then`.
    ProbeLatency {
        until: Option<Instant>,
        round_over: bool,
        then: f64,
    },
}

struct Bbr {
    config: BbrConfig,
    seed: u64,
    phase: Phase,
    window: f64,
    /// Rate at which the client sends attempts, in attempts per second.
    rate: f64,
    next_send: Instant,
    delivery: DeliveryRate,
    bandwidth: WindowedMax,
    /// Number of round trips so far (`rounds`), and the number of successes at which the current round trip ends
    /// (`round_ends`).
    rounds: u64,
    round_ends: u64,
    /// Minimum latency in seconds, and the instant at which it was measured.
    least: Option<(f64, Instant)>,
    mean: Option<f64>,
    /// Sum, in seconds, and number of the latencies measured in the current round trip. Their quotient is the mean
    /// latency.
    sum: f64,
    count: f64,
    /// Bandwidth when it last grew by at least a quarter (`full_bandwidth`), and the number of round trips since then
    /// (`full_rounds`). After three round trips without growth by a quarter, the start phase ends.
    full_bandwidth: f64,
    full_rounds: u32,
    is_full: bool,
    /// True if an attempt was rejected or failed since the last success.
    lost: bool,
    /// True if the client was idle before it sent its latest attempts, and none of the latest attempts has succeeded
    /// yet.
    restarts: bool,
    cycles: u32,
}

impl Bbr {
    fn new(config: BbrConfig, seed: u64) -> Self {
        Self {
            seed,
            phase: Phase::Startup,
            window: config.initial.max(config.min),
            rate: config.startup_gain * config.initial / FIRST_LATENCY,
            next_send: Instant::ORIGIN,
            delivery: DeliveryRate::default(),
            bandwidth: WindowedMax::new(config.rounds.into()),
            rounds: 0,
            round_ends: 0,
            least: None,
            mean: None,
            sum: 0.0,
            count: 0.0,
            full_bandwidth: 0.0,
            full_rounds: 0,
            is_full: false,
            lost: false,
            restarts: false,
            cycles: 0,
            config,
        }
    }

    /// Returns the latency in seconds from which the window is computed.
    fn latency(&self) -> Option<f64> {
        match self.config.latency {
            Latency::Min => self.least.map(|(latency, _)| latency),
            Latency::Mean => self.mean,
        }
    }

    fn target(&self, gain: f64) -> f64 {
        let Some(latency) = self.latency() else { return self.config.initial };
        libm::ceil(gain * self.bandwidth.get() * latency).max(self.config.min)
    }

    /// Returns the gains of the current phase: the factors by which the rate and the window are multiplied.
    fn gains(&self) -> (f64, f64) {
        let startup = self.config.startup_gain;
        match self.phase {
            Phase::Startup => (startup, startup),
            Phase::Drain => (1.0 / startup, startup),
            Phase::ProbeBandwidth { step, .. } => (CYCLE[step], self.config.window_gain),
            Phase::ProbeLatency { .. } => (1.0, 1.0),
        }
    }

    /// Adds a sample of the delivery rate to the bandwidth filter. Returns whether a new round trip starts with the
    /// sample.
    fn on_sample(&mut self, sample: &Sample) -> bool {
        let begins = sample.delivered_before >= self.round_ends;
        if begins {
            self.round_ends = self.delivery.delivered;
            self.rounds += 1;
        }
        let believed = seconds(sample.over) >= self.least.map_or(0.0, |(latency, _)| latency);
        if let Some(per_s) = sample.per_s.filter(|_| believed)
            && (!sample.app_limited || per_s >= self.bandwidth.get())
        {
            self.bandwidth.update(self.rounds, per_s);
        }
        begins
    }

    fn on_latency(&mut self, latency: f64, round_begins: bool) {
        if round_begins && self.count > 0.0 {
            self.mean = Some(self.sum / self.count);
            self.sum = 0.0;
            self.count = 0.0;
        }
        self.sum += latency;
        self.count += 1.0;
        self.mean.get_or_insert(latency);
    }

    fn advance_cycle(&mut self, now: Instant, in_flight: u32) {
        let in_flight = f64::from(in_flight);
        let Phase::ProbeBandwidth { step, since } = self.phase else { return };
        let had_its_time = seconds(now.since(since)) > self.latency().unwrap_or(0.0);
        let gain = CYCLE[step];
        let next = if gain > 1.0 {
            had_its_time && (self.lost || in_flight >= self.target(gain))
        } else if gain < 1.0 {
            had_its_time || in_flight <= self.target(1.0)
        } else {
            had_its_time
        };
        if next {
            self.phase = Phase::ProbeBandwidth { step: (step + 1) % CYCLE.len(), since: now };
        }
    }

    fn check_full(&mut self, sample: &Sample) {
        if self.is_full || sample.app_limited {
            return;
        }
        if self.bandwidth.get() >= 1.25 * self.full_bandwidth {
            self.full_bandwidth = self.bandwidth.get();
            self.full_rounds = 0;
        } else {
            self.full_rounds += 1;
            self.is_full = self.full_rounds >= 3;
        }
    }

    fn leave_startup(&mut self, now: Instant, in_flight: u32, op: u64) {
        if self.phase == Phase::Startup && self.is_full {
            self.phase = Phase::Drain;
        }
        if self.phase == Phase::Drain && f64::from(in_flight) <= self.target(1.0) {
            self.probe_bandwidth(now, op);
        }
    }

    fn probe_bandwidth(&mut self, now: Instant, op: u64) {
        let mut rng = draws(self.seed, Purpose::Probe, op, self.cycles);
        self.cycles = self.cycles.wrapping_add(1);
        let drawn = rng.next_u64() % FIRST_STEPS.len() as u64;
        let step = (0..).zip(FIRST_STEPS).find(|(index, _)| *index == drawn).map_or(0, |(_, step)| step);
        self.phase = Phase::ProbeBandwidth { step, since: now };
    }

    fn update_min(&mut self, now: Instant, latency: f64, in_flight: u32, round_begins: bool, op: u64) {
        let expired = self.least.is_some_and(|(_, at)| now > at + self.config.latency_window);
        if expired || self.least.is_none_or(|(least, _)| latency < least) {
            self.least = Some((latency, now));
        }
        let probes = matches!(self.phase, Phase::ProbeLatency { .. });
        if expired && !self.restarts && !probes && self.config.latency == Latency::Min {
            self.phase = Phase::ProbeLatency { until: None, round_over: false, then: self.window };
        }
        if let Phase::ProbeLatency { until, round_over, then } = &mut self.phase {
            // While the window is at its minimum, the delivery rate is lower than the server could sustain. So samples
            // are marked as app-limited.
            self.delivery.on_app_limited(in_flight);
            match *until {
                None if f64::from(in_flight) <= self.config.min => {
                    *until = Some(now + PROBE_LATENCY_FOR);
                    self.round_ends = self.delivery.delivered;
                }
                None => {}
                Some(until) => {
                    *round_over |= round_begins;
                    if *round_over && now > until {
                        self.window = self.window.max(*then);
                        self.least = self.least.map(|(latency, _)| (latency, now));
                        if self.is_full {
                            self.probe_bandwidth(now, op);
                        } else {
                            self.phase = Phase::Startup;
                        }
                    }
                }
            }
        }
        self.restarts = false;
    }

    fn set_rate_and_window(&mut self) {
        let (rate_gain, window_gain) = self.gains();
        let rate = rate_gain * self.bandwidth.get() * MARGIN;
        if rate > 0.0 && (self.is_full || rate > self.rate) {
            self.rate = rate;
        }
        let target = self.target(window_gain);
        if self.is_full {
            self.window = (self.window + 1.0).min(target);
        } else if self.window < target || (self.delivery.delivered as f64) < self.config.initial {
            self.window += 1.0;
        }
        self.window = self.window.max(self.config.min);
        if matches!(self.phase, Phase::ProbeLatency { .. }) {
            self.window = self.window.min(self.config.min);
        }
    }

    fn on_success(&mut self, now: Instant, ended: &AttemptEnd) {
        let Some(sample) = self.delivery.on_success(now, ended.seq) else { return };
        let latency = seconds(now.since(ended.sent_at));
        let in_flight = ended.in_flight.saturating_sub(1);
        if self.least.is_none() {
            self.rate = self.config.startup_gain * self.window / latency.max(1e-9);
        }
        let round_begins = self.on_sample(&sample);
        self.on_latency(latency, round_begins);
        self.advance_cycle(now, ended.in_flight);
        if round_begins {
            self.check_full(&sample);
        }
        self.leave_startup(now, in_flight, ended.op);
        self.update_min(now, latency, in_flight, round_begins, ended.op);
        self.set_rate_and_window();
        self.lost = false;
    }
}

impl Limiter for Bbr {
    fn poll(&self, now: Instant, view: &LimiterView) -> Admit {
        if f64::from(view.in_flight) >= self.window {
            Admit::Wait(Until::Event)
        } else if self.next_send > now {
            Admit::Wait(Until::At(self.next_send))
        } else {
            Admit::Go
        }
    }

    fn on_sent(&mut self, now: Instant, view: &LimiterView) {
        if view.in_flight == 0 && self.delivery.is_app_limited() {
            self.restarts = true;
        }
        self.delivery.on_sent(now, view.candidate.seq, view.in_flight);
        self.next_send = now.max(self.next_send) + nanos(1e9 / self.rate);
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome) {
        if outcome.status == Status::Succeeded {
            self.on_success(now, ended);
        } else {
            self.lost |= outcome.status.is_congestion();
            self.delivery.forget(ended.seq);
        }
    }

    fn on_app_limited(&mut self, _now: Instant, in_flight: u32) {
        if f64::from(in_flight) < self.window {
            self.delivery.on_app_limited(in_flight);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.limit_window(self.window);
        if self.bandwidth.get() > 0.0 {
            gauges.draw(&RATE, self.rate);
            gauges.draw(&DELIVERED, self.bandwidth.get());
        }
        gauges.phase = Some(match self.phase {
            Phase::Startup => "startup",
            Phase::Drain => "drain",
            Phase::ProbeBandwidth { step: 0, .. } => "probing for a higher rate",
            Phase::ProbeBandwidth { step: 1, .. } => "draining after a probe",
            Phase::ProbeBandwidth { .. } => "cruising",
            Phase::ProbeLatency { .. } => "measuring latency",
        });
    }
}

/// Maximum of the measurements in the last few round trips, computed in constant space.
///
/// Source: Kathleen Nichols' algorithm, Linux `lib/win_minmax.c`, as in quinn-rs/quinn
/// `quinn-proto/src/congestion/bbr/min_max.rs`. The algorithm keeps only the best three measurements. Each of them is
/// newer than the previous one by at least a part of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Measurement {
    round: u64,
    value: f64,
}

#[derive(Clone, Copy, Debug)]
struct WindowedMax {
    rounds: u64,
    best: [Measurement; 3],
}

impl WindowedMax {
    fn new(rounds: u64) -> Self {
        Self { rounds, best: [Measurement::default(); 3] }
    }

    fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Adds a measurement that was made in round trip number `round`. This number must not decrease from call to call.
    fn update(&mut self, round: u64, value: f64) {
        let new = Measurement { round, value };
        if value >= self.best[0].value || round - self.best[2].round > self.rounds {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        let [first, second, third] = self.best;
        let age = new.round - first.round;
        if age > self.rounds {
            self.best = [second, third, new];
            if new.round - second.round > self.rounds {
                self.best = [third, new, new];
            }
        } else if second.round == first.round && age > self.rounds / 4 {
            self.best = [first, new, new];
        } else if third.round == second.round && age > self.rounds / 2 {
            self.best[2] = new;
        }
    }
}
