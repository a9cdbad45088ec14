//! Properties that hold for every sequence of events that keeps the limiter's contract.

use proptest::prelude::*;

use super::*;
use crate::Quota;

#[derive(Clone, Debug)]
enum Step {
    Arrive(u8),
    /// The attempt in flight at index `pick`, modulo their number, ends.
    End {
        pick: u8,
        outcome: Outcome,
    },
    Advance(Duration),
    /// Time advances to the instant that the limiter waits for.
    Wake,
}

fn step() -> impl Strategy<Value = Step> {
    let status = prop_oneof![
        8 => Just(Status::Succeeded),
        6 => Just(Status::Rejected),
        1 => Just(Status::Failed(Failure::Timeout)),
        1 => Just(Status::Failed(Failure::Transport)),
        1 => Just(Status::Failed(Failure::Fatal)),
        1 => Just(Status::Cancelled),
        1 => Just(Status::Deferred),
    ];
    let advice = prop_oneof![
        6 => Just(Advice::None),
        1 => Just(Advice::Past),
        2 => (0..20_000_u64).prop_map(|millis| Advice::After(Duration::from_millis(millis))),
        1 => Just(Advice::After(Duration::MAX)),
    ];
    let outcome = (status, advice, prop::option::of(quota()));
    let outcome = outcome.prop_map(|(status, advice, quota)| {
        let advice = if status.is_congestion() { advice } else { Advice::None };
        Outcome { advice, quota, ..Outcome::plain(status) }
    });
    let micros = prop_oneof![6 => 0..50_000_u64, 1 => 0..20_000_000_u64, 1 => Just(0)];
    prop_oneof![
        3 => (1..40_u8).prop_map(Step::Arrive),
        12 => (any::<u8>(), outcome).prop_map(|(pick, outcome)| Step::End { pick, outcome }),
        6 => micros.prop_map(|micros| Step::Advance(Duration::from_micros(micros))),
        4 => Just(Step::Wake),
    ]
}

fn quota() -> impl Strategy<Value = Quota> {
    let count = || prop_oneof![6 => 0..50_u64, 1 => Just(u64::MAX)];
    let reset = prop_oneof![
        4 => (0..10_000_u64).prop_map(|millis| Some(Duration::from_millis(millis))),
        1 => Just(Some(Duration::MAX)),
        1 => Just(None),
    ];
    (count(), count(), reset, any::<bool>()).prop_map(|(limit, remaining, reset, is_whole)| Quota {
        limit,
        remaining: remaining.min(limit),
        reset,
        is_whole,
    })
}

fn config() -> impl Strategy<Value = TailbackConfig> {
    let initial = prop_oneof![Just(1.0), Just(1e6), 1.0..50.0];
    let beta = prop_oneof![Just(0.01), Just(0.999), 0.5..0.99];
    let max_gap = prop_oneof![Just(0), Just(u64::MAX), 0..20_000_000_000_u64].prop_map(Duration::from_nanos);
    (initial, beta, max_gap).prop_map(|(initial, beta, max_gap)| TailbackConfig {
        initial,
        beta,
        max_gap,
        ..TailbackConfig::default()
    })
}

struct Flight {
    seq: u64,
    sent_at: Instant,
    in_flight_when_sent: u32,
}

/// Client that drives the limiter as its contract demands, and checks the properties after every call.
struct Client {
    tailback: Tailback,
    now: Instant,
    ready: u64,
    flying: Vec<Flight>,
    /// Sum of the gaps after all sends so far, in nanoseconds.
    gaps: i128,
    /// Largest difference so far between the instant of a send and the sum of the gaps up to that send, its own
    /// included.
    latest_start: i128,
    /// Latest instant that the server has advised.
    until: Instant,
    trace: Vec<(Instant, u64, u64)>,
}

impl Client {
    fn new(config: TailbackConfig) -> Self {
        Self {
            tailback: Tailback::new(config),
            now: Instant::ORIGIN,
            ready: 0,
            flying: Vec::new(),
            gaps: 0,
            latest_start: i128::MIN,
            until: Instant::ORIGIN,
            trace: Vec::new(),
        }
    }

    fn run(config: TailbackConfig, steps: &[Step]) -> Self {
        let mut client = Self::new(config);
        for step in steps {
            client.take(step);
        }
        client
    }

    fn in_flight(&self) -> u32 {
        u32::try_from(self.flying.len()).expect("few attempts")
    }

    fn poll(&self, in_flight: u32) -> Admit {
        self.tailback
            .poll(self.now, &LimiterView { ready: self.ready, ..view(in_flight, self.tailback.next_seq) })
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Arrive(count) => self.ready += u64::from(count),
            Step::End { pick, outcome } if !self.flying.is_empty() => {
                self.end(usize::from(pick) % self.flying.len(), &outcome);
            }
            Step::End { .. } => {}
            Step::Advance(duration) => self.now = self.now + duration,
            Step::Wake => {
                if let Admit::Wait(Until::At(at)) = self.poll(self.in_flight()) {
                    self.now = at;
                }
            }
        }
        self.check();
        while self.ready > 0 && self.poll(self.in_flight()) == Admit::Go {
            self.send();
            self.check();
        }
    }

    fn send(&mut self) {
        let (seq, in_flight) = (self.tailback.next_seq, self.in_flight());
        let at = i128::from(self.now.as_nanos());
        assert!(
            at - self.gaps >= self.latest_start,
            "attempt {seq} catches up on more than one gap at {}",
            self.now
        );
        assert!(self.now >= self.until, "attempt {seq} is sent at {}, before {}", self.now, self.until);
        self.gaps += gap_nanos(&self.tailback);
        self.latest_start = self.latest_start.max(at - self.gaps);
        self.tailback.on_sent(self.now, &LimiterView { ready: self.ready, ..view(in_flight, seq) });
        self.ready -= 1;
        self.flying.push(Flight { seq, sent_at: self.now, in_flight_when_sent: in_flight + 1 });
        self.record();
    }

    fn end(&mut self, index: usize, outcome: &Outcome) {
        let status = outcome.status;
        let in_flight = self.in_flight();
        let Flight { seq, sent_at, in_flight_when_sent } = self.flying.remove(index);
        let ended = AttemptEnd { sent_at, in_flight_when_sent, ready: self.ready, ..ended(seq, in_flight) };
        let Tailback { window: before, cut_seq, open, next, .. } = self.tailback;
        self.tailback.on_ended(self.now, &ended, outcome);
        if let Advice::After(wait) = outcome.advice {
            self.until = self.until.max(self.now + wait.min(Duration::from_hours(1)));
        }
        // The first success after a cut may bring the next send forward.
        self.gaps -= i128::from(next.as_nanos().saturating_sub(self.tailback.next.as_nanos()));
        let window = self.tailback.window;
        let is_cut = self.tailback.cut_seq != cut_seq;
        if is_cut || window < before {
            assert!(seq >= cut_seq, "attempt {seq} was sent before the cut at {cut_seq}");
            assert!(status.is_congestion(), "{status:?} lowers the window");
            let most = if open { f64::from(in_flight_when_sent) } else { before.max(f64::from(in_flight)) };
            // Long advice closes the window without a cut.
            let is_unchanged = window.to_bits() == before.to_bits();
            assert!(
                window <= most.max(MIN_WINDOW) || is_unchanged,
                "a cut leaves {window} of {most} (open: {open})"
            );
            assert!(window <= before.max(f64::from(in_flight)), "a cut raises the window to {window}");
        }
        if matches!(status, Status::Rejected | Status::Failed(Failure::Transport)) {
            self.ready += 1;
        }
        self.record();
    }

    fn record(&mut self) {
        let Tailback { window, next, .. } = self.tailback;
        self.trace.push((self.now, next.as_nanos(), window.to_bits()));
    }

    fn check(&self) {
        let Tailback { window, top, base, .. } = self.tailback;
        assert!(window.is_finite() && window >= MIN_WINDOW, "window {window}");
        assert!(top.is_finite() && top >= 0.0 && base <= top.max(MIN_WINDOW), "top {top}, base {base}");
        let near = [0, 1, 2, self.in_flight(), self.in_flight() + 1, 10_000_000];
        for in_flight in near {
            let decision = self.poll(in_flight);
            let is_full = self.tailback.is_full(in_flight);
            let waits = decision == Admit::Wait(Until::Event);
            assert!(waits || !is_full, "{in_flight} in flight: {decision:?}");
            assert!(in_flight > 0 || !waits, "waits for an event that cannot occur");
            if let Admit::Wait(Until::At(at)) = decision {
                assert!(at > self.now, "waits at {} for {at}", self.now);
            }
        }
    }
}

fn gap_nanos(tailback: &Tailback) -> i128 {
    i128::from(vocabulary::whole_nanos(tailback.gap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_breaks_a_rule(config in config(), steps in prop::collection::vec(step(), 1..250)) {
        Client::run(config, &steps);
    }

    #[test]
    fn the_same_events_give_the_same_trace(config in config(), steps in prop::collection::vec(step(), 1..100)) {
        prop_assert_eq!(Client::run(config, &steps).trace, Client::run(config, &steps).trace);
    }
}
