//! Shared part of budgets with a balance of tokens. Ops deposit tokens into the balance, and retries withdraw tokens
//! from it. Deposits expire after a while.

use std::time::Duration;

use vocabulary::{Rng, choices};

use crate::gauges::TOKENS;
use crate::{
    Advice, AttemptEnd, Budget, BudgetDecision, Candidate, FailedOp, Gauges, Instant, Outcome, Permit, Status,
};

pub(super) trait Bucket: Clone + Send {
    /// Drops expired deposits and withdrawals. This method must be called before every read or change of the bucket.
    fn expire(&mut self, now: Instant);

    /// Adds a deposit to the bucket, or a withdrawal if `amount` is negative.
    fn add(&mut self, amount: i64);

    fn sum(&self) -> i64;
}

/// Returns the amount that is always available within `ttl`, for this number of retries per second.
pub(super) fn reserve(per_second: u32, ttl: Duration, withdrawal: i64) -> i64 {
    let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    i64::from(per_second).saturating_mul(seconds).saturating_mul(withdrawal)
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Deposit {
        /// An op adds its deposit to the balance when its first attempt is sent.
        Request = "request",
        /// An op adds its deposit to the balance when an attempt ends with an outcome that is not retriable.
        Done = "done",
    }
}

/// Budget with a [`Bucket`] as its balance. When an attempt fails, the budget decides about the retry and withdraws the
/// cost of the retry at once. A hedged copy costs as much as a retry, but its cost is withdrawn when it is sent. If the
/// balance is too low, the copy is shed. Source of the rule for copies: twitter/finagle
/// `finagle-core/src/main/scala/com/twitter/finagle/client/BackupRequestFilter.scala`.
pub(super) struct Deposits<B> {
    pub(super) bucket: B,
    pub(super) deposit: i64,
    pub(super) withdrawal: i64,
    pub(super) reserve: i64,
    pub(super) when: Deposit,
}

impl<B: Bucket> Deposits<B> {
    fn sum(&self) -> i64 {
        self.bucket.sum().saturating_add(self.reserve)
    }

    fn holds_at(&self, now: Instant) -> bool {
        let mut bucket = self.bucket.clone();
        bucket.expire(now);
        bucket.sum().saturating_add(self.reserve) >= self.withdrawal
    }

    fn put(&mut self, now: Instant, amount: i64) {
        self.bucket.expire(now);
        self.bucket.add(amount);
    }

    #[cfg(test)]
    pub(super) fn fails(&mut self, now: Instant) -> bool {
        self.put(now, self.deposit);
        self.withdraw(now)
    }

    #[cfg(test)]
    pub(super) fn withdraw(&mut self, now: Instant) -> bool {
        use crate::testing::{REJECTED, ended, rejected};
        self.on_ended(now, &ended(0, 1), &REJECTED, Permit::default());
        let permitted = self.permits_retry(now, &rejected(1));
        if permitted {
            self.on_retry(now, &rejected(1));
        }
        permitted
    }

    /// Returns the number of retries that the budget's balance of tokens covers.
    pub(super) fn balance(&self) -> i64 {
        self.sum().max(0) / self.withdrawal
    }
}

impl<B: Bucket> Budget for Deposits<B> {
    fn ask(&self, now: Instant, launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        // At launch, only hedged copies are checked. Retries need no check, because their cost was already withdrawn
        // when the previous attempt failed.
        if launch.copy == 0 || self.holds_at(now) {
            BudgetDecision::Permit
        } else {
            BudgetDecision::Shed(Advice::Never)
        }
    }

    fn permits_retry(&self, now: Instant, _failed: &FailedOp) -> bool {
        self.holds_at(now)
    }

    fn on_retry(&mut self, now: Instant, _failed: &FailedOp) {
        self.put(now, -self.withdrawal);
    }

    fn on_sent(&mut self, now: Instant, launch: &Candidate) -> Permit {
        if self.when == Deposit::Request && launch.attempt == 1 {
            self.put(now, self.deposit);
        }
        if launch.copy > 0 {
            self.put(now, -self.withdrawal);
        }
        Permit::default()
    }

    fn on_ended(&mut self, now: Instant, ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
        // Expired entries are dropped at the end of an attempt, because the client calls `permits_retry` next. The
        // method `permits_retry` reads the bucket at the same instant but cannot change it.
        self.bucket.expire(now);
        match (self.when, outcome.status) {
            (Deposit::Request, Status::Deferred) if ended.attempt == 1 => self.bucket.add(-self.deposit),
            (Deposit::Done, Status::Succeeded | Status::Rejected | Status::Failed(_))
                if !outcome.classification.is_retriable() =>
            {
                self.bucket.add(self.deposit);
            }
            _ => {}
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.draw(&TOKENS, self.balance() as f64);
    }
}
