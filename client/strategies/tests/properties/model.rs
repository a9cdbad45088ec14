//! Small model client: a queue of ready ops, a heap of sleeping ones, a list of in-flight attempts.
//!
//! It drives a strategy as a real client must, and asserts after every step that the strategy keeps the rules.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use tailback::{
    Advice, AttemptEnd, Candidate, CarrierSense, Classification, FailedOp, Instant, LaunchDecision,
    LimiterView, OracleSchedule, Outcome, Permits, Retry, RetryState, Status, Strategy, StrategySpec, Until,
};

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Arrive(u8),
    End {
        pick: u8,
        status: Status,
        advice: Advice,
    },
    /// Time passes without any activity of the client.
    Advance(Duration),
    /// Time passes until the client's next wake-up.
    Wake,
}

/// Entry of the trace: time, op, and attempt or details.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Sent(Instant, u64, u32),
    Shed(Instant, u64, u32),
    Slept(Instant, u64, Duration),
    AttemptEnd(Instant, u64, Outcome),
    GaveUp(Instant, u64),
}

pub(crate) struct Client {
    /// Number of attempts so far with carrier sense.
    senses: u64,
    strategy: Strategy,
    now: Instant,
    ops: Vec<Op>,
    ready: VecDeque<u64>,
    sleeping: BinaryHeap<Reverse<(Instant, u64)>>,
    flying: Vec<Flight>,
    next_seq: u64,
    /// Instant until which the strategy made the client wait.
    wait: Option<Instant>,
    ended: usize,
    pub(crate) trace: Vec<Event>,
}

struct Op {
    arrived: Instant,
    attempts: u32,
    failures: u32,
    last: Option<Status>,
    last_classification: Classification,
    state: RetryState,
}

struct Flight {
    op: u64,
    seq: u64,
    sent_at: Instant,
    in_flight_when_sent: u32,
    permits: Permits,
}

/// Schedule that sends each op 7 ms after the previous one.
fn every_seven_millis() -> OracleSchedule {
    let mut last = Instant::ORIGIN;
    OracleSchedule::new(move |_op, from| {
        last = from.max(last + Duration::from_millis(7));
        last
    })
}

/// Upper bound of all delays: a cap of a day, doubled by jitter.
const MAX_DELAY: Duration = Duration::from_hours(48);

impl Client {
    pub(crate) fn new(spec: &str, seed: u64) -> Self {
        let spec: StrategySpec = spec.parse().unwrap_or_else(|error| panic!("{spec}: {error}"));
        Self {
            senses: 0,
            strategy: spec.build(seed, Some(every_seven_millis())).expect("it has all it needs"),
            now: Instant::ORIGIN,
            ops: Vec::new(),
            ready: VecDeque::new(),
            sleeping: BinaryHeap::new(),
            flying: Vec::new(),
            next_seq: 0,
            wait: None,
            ended: 0,
            trace: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, step: &Step) {
        match *step {
            Step::Arrive(count) => {
                for _ in 0..count {
                    self.arrive();
                }
            }
            Step::End { pick, status, advice } => {
                if !self.flying.is_empty() {
                    let index = usize::from(pick) % self.flying.len();
                    self.end(index, Outcome::advised(status, advice));
                }
            }
            Step::Advance(duration) => self.now = self.now + duration,
            Step::Wake => self.now = self.wakes_at().unwrap_or(self.now).max(self.now),
        }
        self.pump();
    }

    /// Answers everything with success until no op is left. Returns whether that happened.
    pub(crate) fn drain(&mut self) -> bool {
        // An open breaker that sheds wakes every op many times before the first probe.
        for _ in 0..20_000 {
            while !self.flying.is_empty() {
                self.end(0, Outcome::plain(Status::Succeeded));
            }
            self.take(&Step::Wake);
            if self.ended == self.ops.len() {
                return true;
            }
        }
        false
    }

    fn wakes_at(&self) -> Option<Instant> {
        let sleeper = self.sleeping.peek().map(|Reverse((at, _))| *at);
        [sleeper, self.wait, self.strategy.timer()].into_iter().flatten().min()
    }

    fn arrive(&mut self) {
        let op = self.ops.len() as u64;
        self.ops.push(Op {
            arrived: self.now,
            attempts: 0,
            failures: 0,
            last: None,
            last_classification: Classification::Done,
            state: RetryState::default(),
        });
        self.enqueue(op);
    }

    fn enqueue(&mut self, op: u64) {
        let candidate = self.launch(op);
        self.strategy.on_ready(self.now, &candidate);
        self.ready.push_back(op);
    }

    fn launch(&self, op: u64) -> Candidate {
        let Op { arrived, attempts, last, last_classification, .. } = *self.op(op);
        Candidate {
            seq: self.next_seq,
            op,
            attempt: attempts + 1,
            arrived,
            last,
            last_classification,
            copy: 0,
        }
    }

    fn op(&self, op: u64) -> &Op {
        &self.ops[usize::try_from(op).expect("few ops")]
    }

    fn op_mut(&mut self, op: u64) -> &mut Op {
        &mut self.ops[usize::try_from(op).expect("few ops")]
    }

    fn in_flight(&self) -> u32 {
        u32::try_from(self.flying.len()).expect("few attempts")
    }

    fn end(&mut self, index: usize, outcome: Outcome) {
        let in_flight = self.in_flight();
        let Flight { op, seq, sent_at, in_flight_when_sent, permits } = self.flying.remove(index);
        let (attempt, ready) = (self.op(op).attempts, self.ready.len() as u64);
        let ended = AttemptEnd {
            seq,
            op,
            attempt,
            sent_at,
            in_flight_when_sent,
            in_flight,
            ready,
            round_continues: false,
        };
        let mut state = self.op(op).state;
        self.strategy.on_ended(self.now, &ended, &outcome, &permits, &mut state);
        self.op_mut(op).state = state;
        self.trace.push(Event::AttemptEnd(self.now, op, outcome));
        match outcome.status {
            Status::Succeeded | Status::Cancelled => {
                let mut state = self.op(op).state;
                self.strategy.on_over(self.now, &mut state, false);
                self.ended += 1;
            }
            _ => self.fail(op, outcome),
        }
    }

    fn fail(&mut self, op: u64, outcome: Outcome) {
        let now = self.now;
        let failing = self.op_mut(op);
        failing.failures += 1;
        failing.last = Some(outcome.status);
        if !matches!(outcome.status, Status::Shed | Status::Deferred) {
            failing.last_classification = outcome.classification;
        }
        let failed = FailedOp { op, arrived: failing.arrived, failures: failing.failures, outcome };
        let (attempts, mut state) = (failing.attempts, failing.state);
        let retry = self.strategy.on_failure(now, &failed, attempts, &mut state);
        self.op_mut(op).state = state;
        match retry {
            Retry::GiveUp | Retry::GiveUpAfter(_) => {
                let waits = attempts > 0 && matches!(outcome.status, Status::Shed | Status::Deferred);
                self.strategy.on_over(now, &mut state, waits);
                self.trace.push(Event::GaveUp(now, op));
                self.ended += 1;
            }
            Retry::After(Duration::ZERO) => {
                assert_ne!(outcome.status, Status::Shed, "a shed op must not be ready again at once");
                self.enqueue(op);
            }
            Retry::After(delay) => {
                let advised = matches!(outcome.advice, Advice::After(after) if after >= delay);
                assert!(delay <= MAX_DELAY || advised, "{delay:?}");
                self.trace.push(Event::Slept(now, op, delay));
                self.sleeping.push(Reverse((now + delay, op)));
            }
        }
    }

    /// Wakes all ops that are due and launches as many as the strategy admits.
    fn pump(&mut self) {
        while let Some(Reverse((at, op))) = self.sleeping.peek().copied()
            && at <= self.now
        {
            self.sleeping.pop();
            self.enqueue(op);
        }
        if self.strategy.timer().is_some_and(|at| at <= self.now) {
            self.strategy.on_timer(self.now);
            assert!(self.strategy.timer().is_none_or(|at| at > self.now), "the timer does not move on");
        }
        self.wait = None;
        let mut asked_for_the_past = 0;
        while let Some(&op) = self.ready.front() {
            match self.ask(op) {
                LaunchDecision::Send(permits, carrier) => self.send(op, permits, carrier),
                LaunchDecision::Shed(outcome) => {
                    assert_eq!(outcome.status, Status::Shed);
                    self.trace.push(Event::Shed(self.now, op, self.op(op).attempts));
                    self.ready.pop_front();
                    self.fail(op, outcome);
                }
                LaunchDecision::Wait(Until::At(at)) if at <= self.now => {
                    asked_for_the_past += 1;
                    assert!(asked_for_the_past < 2, "asked twice for {at} at {}", self.now);
                    continue;
                }
                LaunchDecision::Wait(Until::At(at)) => {
                    self.wait = Some(at);
                    break;
                }
                LaunchDecision::Wait(Until::Event) => {
                    let comes = !self.flying.is_empty() || self.strategy.timer().is_some();
                    assert!(comes, "waits for an event that cannot come");
                    break;
                }
            }
            asked_for_the_past = 0;
        }
        if self.ready.is_empty() {
            self.strategy.on_app_limited(self.now, self.in_flight());
        }
        self.check();
    }

    fn ask(&mut self, op: u64) -> LaunchDecision {
        let view = LimiterView {
            in_flight: self.in_flight(),
            ready: self.ready.len() as u64,
            sleeping: self.sleeping.len() as u64,
            candidate: self.launch(op),
        };
        let window = self.strategy.gauges().window;
        let mut state = self.op(op).state;
        let is_full = self.strategy.is_full(view.in_flight);
        let verdict = self.strategy.admit(self.now, &view, &mut state);
        assert!(!is_full || verdict == LaunchDecision::Wait(Until::Event), "full, and {verdict:?}");
        self.op_mut(op).state = state;
        if let (LaunchDecision::Send(..), Some(window)) = (verdict, window) {
            assert!(f64::from(view.in_flight) < window, "{} in flight, window {window}", view.in_flight);
        }
        verdict
    }

    fn send(&mut self, op: u64, permits: Permits, carrier: Option<CarrierSense>) {
        self.ready.pop_front();
        if carrier.is_some() {
            // The carrier is alternately free and busy.
            self.senses += 1;
            if self.senses.is_multiple_of(2) {
                return self.defer(op, &permits);
            }
        }
        self.op_mut(op).attempts += 1;
        self.trace.push(Event::Sent(self.now, op, self.op(op).attempts));
        let in_flight_when_sent = self.in_flight() + 1;
        let (seq, sent_at) = (self.next_seq, self.now);
        self.flying.push(Flight { op, seq, sent_at, in_flight_when_sent, permits });
        self.next_seq += 1;
    }

    /// Ends a sent attempt that the server deferred, so that it does not count as an attempt.
    fn defer(&mut self, op: u64, permits: &Permits) {
        let in_flight = self.in_flight() + 1;
        let (attempt, ready) = (self.op(op).attempts + 1, self.ready.len() as u64);
        let (seq, sent_at) = (self.next_seq, self.now);
        let ended = AttemptEnd {
            seq,
            op,
            attempt,
            sent_at,
            in_flight_when_sent: in_flight,
            in_flight,
            ready,
            round_continues: false,
        };
        let outcome = Outcome::plain(Status::Deferred);
        let mut state = self.op(op).state;
        self.strategy.on_ended(self.now, &ended, &outcome, permits, &mut state);
        self.op_mut(op).state = state;
        self.fail(op, outcome);
    }

    /// Checks that no op is lost and that gauges are plausible.
    fn check(&self) {
        let alive = self.ready.len() + self.sleeping.len() + self.flying.len();
        assert_eq!(self.ended + alive, self.ops.len(), "ops in no place or in two");
        let gauges = self.strategy.gauges();
        assert!(gauges.window.is_none_or(|window| window.is_finite() && window >= 1.0), "{gauges:?}");
        assert!(gauges.ssthresh.is_none_or(|ssthresh| ssthresh.is_finite() && ssthresh >= 1.0), "{gauges:?}");
        assert!(gauges.tokens.is_none_or(|tokens| tokens.is_finite() && tokens >= 0.0), "{gauges:?}");
        for (kind, value) in gauges.drawn() {
            assert!(value.is_finite() && value >= 0.0, "{}: {value}", kind.name);
            let under_way = kind.name == "retries";
            assert!(!under_way || value <= alive as f64, "{value} retries of {alive} ops");
        }
    }
}
