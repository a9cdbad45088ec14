//! Tests of the sources' rule on a bottleneck with a queue, like the bottlenecks of the sources.

use super::*;
use crate::testing::{OK, REJECTED, launch};

/// Service time of one attempt in milliseconds. The server handles one attempt at a time.
const ONE_TAKES: u64 = 20;
/// Network round trip in milliseconds.
const WAY: u64 = 100;

/// Client with unlimited work before a bottleneck of 50 per second with an unbounded queue, in steps of one
/// millisecond.
struct Pipe {
    bbr: Bbr,
    now: u64,
    /// Number, sending time and answer time of each attempt in flight, in milliseconds.
    out: Vec<(u64, u64, u64)>,
    free_at: u64,
    sent: u64,
    /// Phases observed, in order, and the smallest window.
    phases: Vec<&'static str>,
    min_window: f64,
}

impl Pipe {
    fn new(config: BbrConfig) -> Self {
        let bbr = Bbr::new(config, 7);
        Self { bbr, now: 0, out: Vec::new(), free_at: 0, sent: 0, phases: Vec::new(), min_window: f64::MAX }
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.step();
        }
    }

    fn step(&mut self) {
        let at = Instant::from_millis(self.now);
        while let Some(index) = self.out.iter().position(|(_, _, due)| *due <= self.now) {
            let in_flight = self.in_flight();
            let (seq, sent, _) = self.out.remove(index);
            let end = AttemptEnd {
                seq,
                op: seq,
                attempt: 1,
                sent_at: Instant::from_millis(sent),
                in_flight_when_sent: 1,
                in_flight,
                ready: 1,
                round_continues: false,
            };
            self.bbr.on_ended(at, &end, &OK);
        }
        loop {
            let view = LimiterView {
                in_flight: self.in_flight(),
                ready: 1,
                sleeping: 0,
                candidate: launch(self.sent, None),
            };
            if self.bbr.poll(at, &view) != Admit::Go {
                break;
            }
            self.bbr.on_sent(at, &view);
            self.free_at = self.free_at.max(self.now + WAY / 2) + ONE_TAKES;
            self.out.push((self.sent, self.now, self.free_at + WAY / 2));
            self.sent += 1;
        }
        let mut gauges = Gauges::default();
        self.bbr.report(&mut gauges);
        let phase = gauges.phase.expect("it always does something");
        if self.phases.last() != Some(&phase) {
            self.phases.push(phase);
        }
        self.min_window = self.min_window.min(self.bbr.window);
        self.now += 1;
    }

    fn in_flight(&self) -> u32 {
        u32::try_from(self.out.len()).expect("few")
    }
}

#[test]
fn it_finds_the_bandwidth_and_the_latency_of_a_bottleneck() {
    let mut pipe = Pipe::new(BbrConfig::default());
    pipe.run(30_000);
    let bandwidth = pipe.bbr.bandwidth.get();
    assert!((49.0..=51.0).contains(&bandwidth), "{bandwidth}");
    let (least, _) = pipe.bbr.least.expect("there were answers");
    assert!((0.12..=0.13).contains(&least), "{least}");
    // The window is twice 50 · 0.12. Of 1500 possible deliveries, measuring latency costs some.
    assert!((12.0..=14.0).contains(&pipe.bbr.window), "{}", pipe.bbr.window);
    assert!((1400..=1510).contains(&pipe.sent), "{}", pipe.sent);
    assert!(pipe.in_flight() <= 13, "{}", pipe.in_flight());
}

#[test]
fn it_starts_drains_probes_and_measures_latency_every_10_s() {
    let mut pipe = Pipe::new(BbrConfig::default());
    pipe.run(9000);
    assert_eq!(pipe.phases[..2], ["startup", "drain"]);
    assert!(!pipe.phases.contains(&"measuring latency"));
    let probe = pipe
        .phases
        .iter()
        .position(|phase| *phase == "probing for a higher rate")
        .expect("within 8 latencies");
    assert_eq!(pipe.phases[probe + 1], "draining after a probe");
    pipe.min_window = f64::MAX;
    pipe.run(15_000);
    assert!(pipe.phases.contains(&"measuring latency"));
    assert_eq!(pipe.min_window.to_bits(), 4.0_f64.to_bits());
}

#[test]
fn with_the_mean_latency_it_never_stops_to_measure() {
    let mut pipe = Pipe::new(BbrConfig { latency: Latency::Mean, ..BbrConfig::default() });
    pipe.run(30_000);
    assert!(!pipe.phases.contains(&"measuring latency"));
    assert!((49.0..=51.0).contains(&pipe.bbr.bandwidth.get()));
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let sample = |per_s: f64| Sample {
        per_s: Some(per_s),
        over: Duration::from_millis(100),
        delivered_before: 0,
        app_limited: false,
    };
    let mut bbr = Bbr::new(BbrConfig::default(), 1);
    for (per_s, rounds) in [(10.0, 0), (20.0, 0), (24.0, 1), (24.9, 2), (25.0, 0), (30.0, 1), (31.0, 2)] {
        bbr.bandwidth.update(0, per_s);
        bbr.check_full(&sample(per_s));
        assert_eq!((bbr.full_rounds, bbr.is_full), (rounds, false), "{per_s}");
    }
    bbr.check_full(&Sample { app_limited: true, ..sample(31.0) });
    assert!(!bbr.is_full);
    bbr.check_full(&sample(31.0));
    assert!(bbr.is_full);
}

#[test]
fn a_loss_ends_a_probe_for_more_and_nothing_else() {
    let mut pipe = Pipe::new(BbrConfig::default());
    pipe.run(5000);
    let window = pipe.bbr.window;
    let lost = AttemptEnd { seq: u64::MAX, ..crate::testing::ended(0, 1) };
    pipe.bbr.on_ended(Instant::from_millis(pipe.now), &lost, &REJECTED);
    assert_eq!((pipe.bbr.lost, pipe.bbr.window.to_bits()), (true, window.to_bits()));
    pipe.bbr.phase = Phase::ProbeBandwidth { step: 0, since: Instant::ORIGIN };
    pipe.bbr.advance_cycle(Instant::from_millis(pipe.now), 0);
    assert!(matches!(pipe.bbr.phase, Phase::ProbeBandwidth { step: 1, .. }));
}

#[test]
fn attempts_are_paced() {
    let mut pipe = Pipe::new(BbrConfig::default());
    pipe.run(20_000);
    let at = Instant::from_millis(pipe.now);
    pipe.bbr.next_send = at;
    let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate: launch(pipe.sent, None) };
    assert_eq!(pipe.bbr.poll(at, &view), Admit::Go);
    pipe.bbr.on_sent(at, &view);
    assert_eq!(pipe.bbr.poll(at, &view), Admit::Wait(Until::At(at + nanos(1e9 / pipe.bbr.rate))));
    assert!((30.0..=65.0).contains(&pipe.bbr.rate), "{}", pipe.bbr.rate);
}

mod windowed_max {
    use crate::limiters::bbr::*;

    /// Test of quinn's `min_max.rs`.
    #[test]
    fn the_greatest_of_the_last_ten_rounds_counts() {
        let mut max = WindowedMax::new(10);
        for (round, value, greatest) in [
            (26, 100.0, 100.0),
            (28, 120.0, 120.0),
            (30, 160.0, 160.0),
            (32, 100.0, 160.0),
            (35, 100.0, 160.0),
            (39, 100.0, 160.0),
            (41, 100.0, 100.0),
            (43, 130.0, 130.0),
        ] {
            max.update(round, value);
            assert_eq!(max.get().to_bits(), f64::to_bits(greatest), "round {round}");
        }
    }
}
