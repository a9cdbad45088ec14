//! What budgets have in common to which ops pay in and from which retries draw: what was paid in counts for a while.

use vocabulary::{Choice, Rng};

use crate::gauges::TOKENS;
use crate::{Advice, Budget, Ended, FailedOp, Gate, Gauges, Instant, Launch, Outcome, Permit, Status};

/// The sum of what was paid in and drawn of late.
pub(super) trait Bucket: Clone + Send {
    /// Forgets what is too old. Reading or changing the bucket begins with it.
    fn expire(&mut self, now: Instant);

    /// Adds what is paid in, or takes (below zero) what is drawn.
    fn add(&mut self, amount: i64);

    /// What there is.
    fn sum(&self) -> i64;
}

/// When an op pays in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Deposit {
    /// When its first attempt is sent.
    Request,
    /// When an attempt ends that is not to be tried again.
    #[default]
    Done,
}

impl Choice for Deposit {
    const CHOICES: &'static [(&'static str, Self)] = &[("request", Self::Request), ("done", Self::Done)];
}

/// A budget with such a bucket: it decides at the failure, and takes there what the retry costs. A copy draws as much when it is
/// sent, and is not sent if it cannot (twitter/finagle `finagle-core/src/main/scala/com/twitter/finagle/client/BackupRequestFilter.scala`).
pub(super) struct Deposits<B> {
    pub(super) bucket: B,
    /// Paid in by an op.
    pub(super) deposit: i64,
    /// Drawn by a retry.
    pub(super) withdrawal: i64,
    /// There besides, always.
    pub(super) reserve: i64,
    pub(super) when: Deposit,
}

impl<B: Bucket> Deposits<B> {
    fn sum(&self) -> i64 {
        self.bucket.sum().saturating_add(self.reserve)
    }

    /// Whether a copy can draw now what a retry draws.
    fn holds_at(&self, now: Instant) -> bool {
        let mut bucket = self.bucket.clone();
        bucket.expire(now);
        bucket.sum().saturating_add(self.reserve) >= self.withdrawal
    }

    fn put(&mut self, now: Instant, amount: i64) {
        self.bucket.expire(now);
        self.bucket.add(amount);
    }

    /// Whether an op that begins (and pays in) and fails may try again, which it then does.
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

    /// Retries that could be made.
    pub(super) fn balance(&self) -> i64 {
        self.sum().max(0) / self.withdrawal
    }
}

impl<B: Bucket> Budget for Deposits<B> {
    fn ask(&self, now: Instant, launch: &Launch, _rng: &mut dyn Rng) -> Gate {
        // Whoever retries has drawn at the failure.
        if launch.copy == 0 || self.holds_at(now) { Gate::Permit } else { Gate::Shed(Advice::Never) }
    }

    fn permits_retry(&self, now: Instant, _failed: &FailedOp) -> bool {
        self.holds_at(now)
    }

    fn on_retry(&mut self, now: Instant, _failed: &FailedOp) {
        self.put(now, -self.withdrawal);
    }

    fn on_sent(&mut self, now: Instant, launch: &Launch) -> Permit {
        if self.when == Deposit::Request && launch.attempt == 1 {
            self.put(now, self.deposit);
        }
        if launch.copy > 0 {
            self.put(now, -self.withdrawal);
        }
        Permit::default()
    }

    fn on_ended(&mut self, now: Instant, ended: &Ended, outcome: &Outcome, _permit: Permit) {
        // Who asks whether a retry is permitted reads the bucket, at this instant.
        self.bucket.expire(now);
        match (self.when, outcome.status) {
            (Deposit::Request, Status::Deferred) if ended.attempt == 1 => self.bucket.add(-self.deposit),
            (Deposit::Done, Status::Succeeded | Status::Rejected | Status::Failed(_))
                if !outcome.opinion.is_retriable() =>
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
