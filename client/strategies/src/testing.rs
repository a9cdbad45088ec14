//! What unit tests share: a generator that always draws the same number, and literal events.

use std::convert::Infallible;
use std::time::Duration;

use rand_core::TryRng;

use crate::part_config::Context;
use crate::{
    Advice, Ended, FailedOp, Failure, Instant, Launch, Opinion, Outcome, Part, Retry, RetryPolicy,
    RetryState, Status, StrategySpec, View,
};

/// A generator whose `unit` is always this number (to 53 bits).
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

/// The part that `text` names, started.
pub(crate) fn part(text: &str) -> Part {
    let spec: StrategySpec = text.parse().expect("the test's text is a strategy");
    spec.build_parts(Context { seed: 1, ..Context::default() }).expect("it starts").remove(0)
}

/// The retry policy that `text` names.
pub(crate) fn policy(text: &str) -> Box<dyn RetryPolicy> {
    match part(text) {
        Part::RetryPolicy(policy) => policy,
        _ => panic!("`{text}` is no retry policy"),
    }
}

/// A rejected op that failed `failures` times.
pub(crate) fn rejected(failures: u32) -> FailedOp {
    let outcome = Outcome::plain(Status::Rejected);
    FailedOp { op: 0, arrived: Instant::ORIGIN, failures, outcome }
}

/// The delay before the n-th retry of a fresh op when every draw is `r`.
pub(crate) fn delay(text: &str, n: u32, r: f64) -> Duration {
    match policy(text).on_failure(Instant::ORIGIN, &rejected(n), &mut RetryState::default(), &mut Always(r)) {
        Retry::After(delay) => delay,
        _ => panic!("`{text}` gave up"),
    }
}

/// The delays before the first `N` retries of one op, in whole milliseconds, rounded down.
pub(crate) fn delays_ms<const N: usize>(text: &str, r: f64) -> [u64; N] {
    let mut n = 0;
    [(); N].map(|()| {
        n += 1;
        u64::try_from(delay(text, n, r).as_millis()).expect("a day at most")
    })
}

/// The first attempt of an op, or with `last` a later one.
pub(crate) fn launch(seq: u64, last: Option<Status>) -> Launch {
    let last_opinion = last.map_or(Opinion::Done, Opinion::of);
    let attempt = 1 + u32::from(last.is_some());
    Launch { seq, op: seq, attempt, arrived: Instant::ORIGIN, last, last_opinion }
}

/// A view whose candidate is attempt `seq` of op `seq`.
pub(crate) fn view(in_flight: u32, seq: u64) -> View {
    View { in_flight, ready: 1, sleeping: 0, candidate: launch(seq, None) }
}

/// The end of attempt `seq` while `in_flight` attempts (itself included) are in flight.
pub(crate) fn ended(seq: u64, in_flight: u32) -> Ended {
    let sent_at = Instant::ORIGIN;
    Ended { seq, op: seq, attempt: 1, sent_at, in_flight_when_sent: in_flight, in_flight, ready: 0 }
}

/// A plain success.
pub(crate) const OK: Outcome = Outcome::plain(Status::Succeeded);
/// A plain rejection.
pub(crate) const REJECTED: Outcome = Outcome::plain(Status::Rejected);
/// A timeout.
pub(crate) const TIMEOUT: Outcome = Outcome::plain(Status::Failed(Failure::Timeout));
/// An answer that no retry will change.
pub(crate) const FATAL: Outcome = Outcome::plain(Status::Failed(Failure::Fatal));
/// The client withdrew the attempt.
pub(crate) const CANCELLED: Outcome = Outcome::plain(Status::Cancelled);

/// A rejection with advice.
pub(crate) const fn advised(advice: Advice) -> Outcome {
    Outcome::advised(Status::Rejected, advice)
}
