//! Helpers of unit tests: a constant generator, literal events, and a client that runs ops in series.

use std::convert::Infallible;
use std::time::Duration;

use rand_core::TryRng;

use crate::part_config::Context;
use crate::{
    Advice, AttemptEnd, Candidate, Classification, FailedOp, Failure, Instant, LaunchDecision, LimiterView,
    Outcome, Part, Retry, RetryPolicy, RetryState, Status, Strategy, StrategySpec, Until,
};

/// Generator whose `unit` is always this number (to 53 bits).
pub(crate) struct Always(pub(crate) f64);

impl TryRng for Always {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number is in [0, 1)")]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(((self.0 * (1_u64 << 53) as f64) as u64) << 11)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(0);
        Ok(())
    }
}

pub(crate) fn part(text: &str) -> Part {
    let spec: StrategySpec = text.parse().expect("the test's text is a strategy");
    spec.build_parts(Context { seed: 1, ..Context::default() }).expect("it starts").remove(0)
}

pub(crate) fn policy(text: &str) -> Box<dyn RetryPolicy> {
    match part(text) {
        Part::RetryPolicy(policy) => policy,
        Part::BackOff(policy) => Box::new(policy),
        _ => panic!("`{text}` is no retry policy"),
    }
}

pub(crate) fn rejected(failures: u32) -> FailedOp {
    let outcome = Outcome::plain(Status::Rejected);
    FailedOp { op: 0, arrived: Instant::ORIGIN, failures, outcome }
}

/// Returns the delay before the n-th retry of a new op if every draw is `r`.
pub(crate) fn delay(text: &str, n: u32, r: f64) -> Duration {
    match policy(text).on_failure(Instant::ORIGIN, &rejected(n), &mut RetryState::default(), &mut Always(r)) {
        Retry::After(delay) => delay,
        _ => panic!("`{text}` gave up"),
    }
}

/// Returns the delays before the first `N` retries of one op, in whole milliseconds, rounded down.
pub(crate) fn delays_ms<const N: usize>(text: &str, r: f64) -> [u64; N] {
    let mut n = 0;
    [(); N].map(|()| {
        n += 1;
        u64::try_from(delay(text, n, r).as_millis()).expect("a day at most")
    })
}

pub(crate) fn launch(seq: u64, last: Option<Status>) -> Candidate {
    let last_classification = last.map_or(Classification::Done, Classification::from_status);
    let attempt = 1 + u32::from(last.is_some());
    Candidate { seq, op: seq, attempt, arrived: Instant::ORIGIN, last, last_classification, copy: 0 }
}

/// Creates a view whose candidate is attempt `seq` of op `seq`.
pub(crate) fn view(in_flight: u32, seq: u64) -> LimiterView {
    LimiterView { in_flight, ready: 1, sleeping: 0, candidate: launch(seq, None) }
}

pub(crate) fn ended(seq: u64, in_flight: u32) -> AttemptEnd {
    let sent_at = Instant::ORIGIN;
    AttemptEnd {
        seq,
        op: seq,
        attempt: 1,
        sent_at,
        in_flight_when_sent: in_flight,
        in_flight,
        ready: 0,
        round_continues: false,
    }
}

pub(crate) const OK: Outcome = Outcome::plain(Status::Succeeded);
pub(crate) const REJECTED: Outcome = Outcome::plain(Status::Rejected);
pub(crate) const TIMEOUT: Outcome = Outcome::plain(Status::Failed(Failure::Timeout));
pub(crate) const FATAL: Outcome = Outcome::plain(Status::Failed(Failure::Fatal));
pub(crate) const CANCELLED: Outcome = Outcome::plain(Status::Cancelled);

pub(crate) const fn advised(advice: Advice) -> Outcome {
    Outcome::advised(Status::Rejected, advice)
}

/// Client that runs its ops one after another by its strategy.
pub(crate) struct Series {
    strategy: Strategy,
    pub(crate) now: Instant,
    ops: u64,
    seq: u64,
    pub(crate) sheds: u32,
}

impl Series {
    pub(crate) fn new(text: &str) -> Self {
        let spec: StrategySpec = text.parse().unwrap_or_else(|error| panic!("`{text}`: {error}"));
        let strategy = spec.build(1, None).expect("it starts");
        Self { strategy, now: Instant::ORIGIN, ops: 0, seq: 0, sheds: 0 }
    }

    pub(crate) fn tokens(&self) -> f64 {
        let gauges = self.strategy.gauges();
        let drawn = gauges.drawn().find(|(kind, _)| kind.name == "tokens").map(|(_, value)| value);
        drawn.or(gauges.tokens).expect("it has tokens")
    }

    /// Runs an op whose attempts get the results of `outcome`, and returns the number of attempts. `outcome` gets the
    /// number of the attempt, and this client after the attempt was sent.
    pub(crate) fn op(&mut self, mut outcome: impl FnMut(u32, &Self) -> Outcome) -> u32 {
        let (op, arrived) = (self.ops, self.now);
        self.ops += 1;
        let (mut state, mut attempts, mut failures) = (RetryState::default(), 0, 0);
        let (mut last, mut last_classification) = (None, Classification::Done);
        for _ in 0..100_000 {
            let candidate = Candidate {
                seq: self.seq,
                op,
                attempt: attempts + 1,
                arrived,
                last,
                last_classification,
                copy: 0,
            };
            let view = LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate };
            let ended = match self.strategy.admit(self.now, &view, &mut state) {
                LaunchDecision::Wait(Until::At(at)) => {
                    self.now = at;
                    continue;
                }
                LaunchDecision::Wait(Until::Event) => panic!("nothing will happen"),
                LaunchDecision::Shed(outcome) => {
                    self.sheds += 1;
                    outcome
                }
                LaunchDecision::Send(permits, _) => {
                    self.seq += 1;
                    attempts += 1;
                    let mut ended_so = outcome(attempts, self);
                    ended_so.classification = self.strategy.classify(&ended_so);
                    let ended =
                        AttemptEnd { op, attempt: attempts, sent_at: self.now, ..ended(candidate.seq, 1) };
                    self.strategy.on_ended(self.now, &ended, &ended_so, &permits, &mut state);
                    last_classification = ended_so.classification;
                    ended_so
                }
            };
            if ended.status == Status::Succeeded {
                self.strategy.on_over(self.now, &mut state, false);
                return attempts;
            }
            failures += 1;
            last = Some(ended.status);
            let failed = FailedOp { op, arrived, failures, outcome: ended };
            match self.strategy.on_failure(self.now, &failed, attempts, &mut state) {
                Retry::After(delay) => self.now = self.now + delay,
                over => {
                    if let Retry::GiveUpAfter(delay) = over {
                        self.now = self.now + delay;
                    }
                    let waits = ended.status == Status::Shed && attempts > 0;
                    self.strategy.on_over(self.now, &mut state, waits);
                    return attempts;
                }
            }
        }
        panic!("an op that never ends");
    }

    /// Runs ops that all get the same outcome. Returns pairs of attempts per op and the number of consecutive ops with
    /// so many.
    pub(crate) fn attempts_per_op(&mut self, ops: u32, outcome: Outcome) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for _ in 0..ops {
            let attempts = self.op(|_, _| outcome);
            match runs.last_mut().filter(|(made, _)| *made == attempts) {
                Some((_, count)) => *count += 1,
                None => runs.push((attempts, 1)),
            }
        }
        runs
    }
}
