//! Credit of a client: the attempts that the quota of the server still admits, and the instant at which it admits more.
//!
//! A quota is either a time window, which is full again at its end, or a bucket, which gains requests all the time. Both are stated alike:
//! how many requests remain, and when the quota is full. The reset of a bucket moves with every request, that of a window does not.

use std::time::Duration;

use crate::{Instant, Quota, Until};

/// Minimum limit of a quota that is used. With a smaller limit, one answer that arrives late makes the credit wrong by a third.
const MIN_LIMIT: u64 = 5;

/// Weight of all earlier answers in the share of the quota that this client uses.
const DECAY: f64 = 0.98;

/// Share of the quota above which the client counts as its only user, because answers that overtake each other make the share inexact.
const ALONE: f64 = 0.9;

/// Difference between two computations of the credit, in attempts, that overtaking answers do not explain.
const NEW_CREDIT: f64 = 2.0;

/// Increase of the credit, as a share of the limit, up to which the credit of a window is not raised. A server that counts a request only
/// when it answers states too many remaining requests: the attempts in flight are missing in its count.
const MORE_CREDIT: f64 = 0.1;

/// Time in nanoseconds by which rounding moves a reset, if it is stated in whole seconds, and if it is not.
const WHOLE_ROUNDING: f64 = 1.2e9;
const ROUNDING: f64 = 0.1e9;

/// Minimum movement of the reset of a bucket, as a share of what its rate and the client's own attempts explain.
const MIN_MOVEMENT: f64 = 0.5;

/// Part of the time until the reset, as its divisor, that a client leaves to others before it tries what remains of their shares.
const PATIENCE: u32 = 8;

/// Shortest time to the reset of a quota that is used, in mean latencies. A quota that is always full again sooner is over before its
/// answers arrive.
const MIN_PERIOD: f64 = 0.3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// Longest wait for a quota.
    longest: Duration,
    /// Mean latency in nanoseconds.
    latency: f64,
    /// `None` until a success states a quota.
    quota: Option<Stated>,
    /// Sums over the last answers: the attempts of this client, and the requests by which the quota fell.
    own: f64,
    all: f64,
}

/// Quota in the answer to the newest attempt that has been answered, and what follows from it.
#[derive(Clone, Copy, Debug)]
struct Stated {
    limit: f64,
    remaining: f64,
    /// Instant at which the quota is full again.
    full_at: Instant,
    /// Arrival of the answer.
    at: Instant,
    /// Number of the attempt.
    seq: u64,
    /// Attempts with a lower number are admitted. It may be a fraction: a part of a request admits no attempt.
    credit_seq: f64,
    /// First answer of the window: number of its attempt, and the reset that it stated.
    first: (u64, Instant),
    /// Longest time to the reset that an answer of the window has stated, in nanoseconds.
    period: f64,
    /// Time by which rounding moves the reset, in nanoseconds.
    rounding: f64,
    /// Requests per nanosecond that a bucket gains, for all clients; 0 for a window.
    rate: f64,
    /// True if the window has ended, and no answer has shown the next one yet. The client then assumes that it is full.
    is_assumed: bool,
}

fn nanos_between(from: Instant, to: Instant) -> f64 {
    to.as_nanos().saturating_sub(from.as_nanos()) as f64
}

impl Credit {
    pub(super) const fn new(longest: Duration) -> Self {
        Self { longest, latency: 0.0, quota: None, own: 0.0, all: 0.0 }
    }

    /// Returns the share of the quota that this client uses, above 0 to 1.
    fn share(&self) -> f64 {
        let share = if self.all > 0.0 { self.own / self.all } else { 1.0 };
        if share > ALONE { 1.0 } else { share }
    }

    /// Returns the instant from which the quota admits the attempt `seq`. It is in the far future if an answer has to show the next window
    /// first.
    fn due(&self, quota: &Stated, seq: u64) -> Instant {
        let missing = (seq + 1) as f64 - quota.credit_seq;
        if missing <= 0.0 || quota.period < MIN_PERIOD * self.latency {
            Instant::ORIGIN
        } else if quota.rate > 0.0 {
            quota.at + vocabulary::nanos(missing / (quota.rate * self.share())).min(self.longest)
        } else if quota.is_assumed {
            Instant::FAR_FUTURE
        } else if missing < 1.0 && quota.remaining >= 1.0 {
            // The client's share is less than a request. Perhaps the other clients leave it.
            quota.at + quota.full_at.since(quota.at) / PATIENCE
        } else {
            quota.full_at
        }
    }

    /// Returns the condition on which the attempt `seq` may be sent; `None` if it may be sent now.
    pub(super) fn wait(&self, now: Instant, seq: u64, in_flight: u32) -> Option<Until> {
        let due = self.due(self.quota.as_ref()?, seq);
        if now >= due {
            None
        } else if due < Instant::FAR_FUTURE {
            Some(Until::At(due))
        } else {
            // With nothing in flight, no answer would end the wait.
            (in_flight > 0).then_some(Until::Event)
        }
    }

    /// Returns whether the attempt `seq` may be sent now. True without a quota.
    pub(super) fn admits(&self, now: Instant, seq: u64) -> bool {
        self.quota.as_ref().is_none_or(|quota| now >= self.due(quota, seq))
    }

    /// Returns whether the attempt `seq`, sent at the instant `at`, belonged to the client's share of the quota, as far as the client knows
    /// now. True without a quota.
    pub(super) fn covers(&self, at: Instant, seq: u64) -> bool {
        self.quota.as_ref().is_none_or(|quota| {
            let due = self.due(quota, seq);
            due == Instant::ORIGIN || quota.rate > 0.0 && at >= due
        })
    }

    pub(super) fn on_sent(&mut self, now: Instant, seq: u64) {
        let share = self.share();
        let Some(quota) = &mut self.quota else { return };
        let is_beyond = (seq + 1) as f64 > quota.credit_seq;
        if is_beyond && now >= quota.full_at && quota.rate <= 0.0 && !quota.is_assumed {
            quota.is_assumed = true;
            quota.credit_seq = seq as f64 + (quota.limit * share).max(1.0);
            quota.remaining = quota.limit;
            // The answers to all earlier attempts show the old window.
            quota.seq = seq.saturating_sub(1);
        }
    }

    /// Takes in the answer to the attempt `seq`. Only a success introduces a quota, and only a success without one ends its use.
    pub(super) fn on_answer(
        &mut self,
        now: Instant,
        seq: u64,
        is_success: bool,
        latency: f64,
        stated: Option<Quota>,
    ) {
        self.latency = latency;
        let usable = stated.filter(|quota| quota.limit >= MIN_LIMIT);
        let new = usable.and_then(|quota| {
            let full_at = now + quota.reset?.min(self.longest);
            let (limit, remaining) = (quota.limit as f64, quota.remaining as f64);
            let (credit_seq, first) = ((seq + 1) as f64 + remaining, (seq, full_at));
            let rounding = if quota.is_whole { WHOLE_ROUNDING } else { ROUNDING };
            let stated = Stated {
                limit,
                remaining,
                full_at,
                at: now,
                seq,
                credit_seq,
                first,
                period: nanos_between(now, full_at),
                rounding,
                rate: 0.0,
                is_assumed: false,
            };
            Some(stated)
        });
        match (new, self.quota) {
            (None, Some(_)) if is_success => *self = Self::new(self.longest),
            (Some(new), None) if is_success => self.quota = Some(new),
            (Some(new), Some(old)) if seq > old.seq => self.update(&old, new),
            _ => {}
        }
    }

    fn update(&mut self, old: &Stated, mut new: Stated) {
        let is_refilled =
            new.remaining > old.remaining && nanos_between(old.full_at, new.full_at) > new.rounding;
        let is_same = new.at < old.full_at
            && (new.limit - old.limit).abs() < 1.0
            && !(old.rate <= 0.0 && is_refilled)
            && !old.is_assumed;
        let follows = is_same || old.is_assumed;
        if follows {
            let gained = old.rate * nanos_between(old.at, new.at);
            self.own = self.own * DECAY + (new.seq - old.seq) as f64;
            self.all = self.all * DECAY + old.remaining - new.remaining + gained;
        }
        if is_same {
            new.first = old.first;
            new.period = new.period.max(old.period);
            new.rate = new.bucket_rate(old.rate);
        }
        let share = self.share();
        new.credit_seq = (new.seq + 1) as f64 + new.remaining * share;
        let change = new.credit_seq - old.credit_seq;
        let is_known = change > -NEW_CREDIT && change < NEW_CREDIT.max(MORE_CREDIT * new.limit);
        if follows && new.rate <= 0.0 && share >= 1.0 && is_known {
            new.credit_seq = old.credit_seq;
        }
        self.quota = Some(new);
    }
}

impl Stated {
    /// Returns the rate of a bucket, or 0 if the quota is a window. The reset of a bucket moves by the time in which it gains the requests
    /// that have been made. `before` is the rate that the answer before showed.
    fn bucket_rate(&self, before: f64) -> f64 {
        let used = self.limit - self.remaining;
        let per_request = if used > 0.0 { nanos_between(self.at, self.full_at) / used } else { 0.0 };
        let (first_seq, first_full_at) = self.first;
        let moved = nanos_between(first_full_at, self.full_at);
        let explained = (self.seq - first_seq) as f64 * per_request;
        if before <= 0.0 && (moved <= self.rounding || moved < MIN_MOVEMENT * explained) {
            0.0
        } else if per_request > 0.0 {
            1.0 / per_request
        } else {
            before
        }
    }
}

#[cfg(test)]
mod tests;
