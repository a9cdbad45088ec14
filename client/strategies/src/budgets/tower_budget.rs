//! `tower-budget`: admits retries up to a share of recent ops, as in tower, reqwest and linkerd.
//!
//! Source: tower-rs/tower `tower/src/retry/budget/tps_budget.rs`, including its truncations. For example, with
//! `share=0.6` each op deposits 1, and a retry costs ⌊1 / 0.6⌋ = 1, so every op may be retried. By default an op makes
//! its deposit when its answer is not retried. Tower's own examples, reqwest (seanmonstar/reqwest `src/retry.rs`,
//! without a reserve) and linkerd do so. With `deposit=request`, every op makes its deposit at its first attempt.

use std::time::Duration;

use vocabulary::{parameters, whole_nanos};

use super::deposits::{Bucket, Deposit, Deposits, reserve};
use crate::Instant;
use crate::part_config::part;

parameters! {
    #[derive(Clone, Debug)]
    pub(crate) struct TowerBudget = "tower-budget" {
        ttl: Duration = Duration::from_secs(10),
            "time after which the tokens deposited by an op expire",
            Duration::from_secs(1)..=Duration::from_mins(1);
        reserve: u32 = 10,
            "number of retries per second that is allowed in addition to `share`", 0..=1_000_000;
        share: f64 = 0.2, "number of retries allowed per op", 0.0..=1000.0;
        deposit: choice Deposit = Deposit::Done,
            "when an op deposits its token: at its first attempt, or when it is done";
    }
    summary = "limits retries to a share of recent successes, as in tower";
    rule = "each op deposits 1 token, which expires after `ttl` (measured in tenths of it). A retry \
        withdraws ⌊1 / share⌋ tokens when the attempt before it fails; if there are too few, the op is given \
        up. If `share` is above 1, these numbers are 1000 and ⌊1000 / share⌋. In addition, tokens for \
        reserve * ttl retries are always available in each `ttl`";
    source = "tower-rs/tower tower/src/retry/budget/tps_budget.rs";
}

part!(TowerBudget: Budget, |config, _| config.start());

impl TowerBudget {
    #[expect(clippy::cast_possible_truncation, reason = "tower computes in single precision, and cuts")]
    fn start(&self) -> Deposits<Slots> {
        let share = self.share as f32;
        let (deposit, withdrawal) = match share {
            0.0 => (0, 1),
            ..=1.0 => (1, (1.0 / share) as i64),
            _ => (1000, (1000.0 / share) as i64),
        };
        let reserve = reserve(self.reserve, self.ttl, withdrawal);
        let bucket =
            Slots { ended: [0; 10], index: 0, began: Instant::ORIGIN, width: self.ttl / 10, writer: 0 };
        Deposits { bucket, deposit, withdrawal, reserve, when: self.deposit }
    }
}

/// Balance of tower's `TpsBucket`: the amounts of the ten time slots that ended last, and of the current slot.
#[derive(Clone)]
struct Slots {
    ended: [i64; 10],
    index: usize,
    /// Start of the current time slot. A slot starts at the instant of an event, not at a multiple of the slot's width.
    began: Instant,
    width: Duration,
    writer: i64,
}

impl Bucket for Slots {
    fn expire(&mut self, now: Instant) {
        let (age, width) = (whole_nanos(now.since(self.began)), whole_nanos(self.width));
        if age < width {
            return;
        }
        self.ended[self.index] = std::mem::take(&mut self.writer);
        self.index = (self.index + 1) % self.ended.len();
        // One round through the ring clears all slots, so further rounds are skipped. They would only change the index
        // of the next slot, which has no effect if all slots are empty.
        for _ in 0..(age.saturating_sub(1) / width).min(self.ended.len() as u64) {
            self.ended[self.index] = 0;
            self.index = (self.index + 1) % self.ended.len();
        }
        self.began = now;
    }

    fn add(&mut self, amount: i64) {
        self.writer = self.writer.saturating_add(amount);
    }

    fn sum(&self) -> i64 {
        self.ended.iter().fold(self.writer, |sum, slot| sum.saturating_add(*slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Always, OK, REJECTED, Series, launch};
    use crate::{Budget, BudgetDecision};

    fn budget(ttl: u64, reserve: u32, share: f64) -> Deposits<Slots> {
        TowerBudget { ttl: Duration::from_secs(ttl), reserve, share, deposit: Deposit::Request }.start()
    }

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Recorded with tower 0.5.3: a thousand requests that fail at once; total retries after each hundred.
    #[test]
    fn as_many_are_granted_as_were_recorded() {
        for (reserve, share, granted) in [
            (0, 0.2, [20, 40, 60, 80, 100, 120, 140, 160, 180, 200]),
            (0, 0.6, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]),
            (10, 0.2, [100, 140, 160, 180, 200, 220, 240, 260, 280, 300]),
        ] {
            let mut budget = budget(10, reserve, share);
            let mut sum = 0;
            let sums = granted.map(|_| {
                sum += (0..100).map(|_| u32::from(budget.fails(ms(0)))).sum::<u32>();
                sum
            });
            assert_eq!(sums, granted, "{reserve}, {share}");
        }
    }

    /// tower's own tests: `tps_empty`, `tps_leaky`, `tps_slots`, `tps_reserve`.
    #[test]
    fn the_vectors_of_tower_come_out() {
        assert!(!budget(1, 0, 1.0).withdraw(ms(0)));

        let mut leaky = budget(1, 0, 1.0);
        leaky.bucket.add(leaky.deposit);
        assert!(!leaky.withdraw(ms(3000)));

        let mut slots = budget(1, 0, 0.5);
        let deposit = |budget: &mut Deposits<Slots>, at| {
            budget.bucket.expire(at);
            budget.bucket.add(budget.deposit);
        };
        deposit(&mut slots, ms(0));
        deposit(&mut slots, ms(0));
        assert!(slots.withdraw(ms(901)));
        let clean = 901 + 2001;
        deposit(&mut slots, ms(clean));
        deposit(&mut slots, ms(clean + 301));
        deposit(&mut slots, ms(clean + 301 + 801));
        assert!(slots.withdraw(ms(clean + 301 + 801)));

        let mut reserve = budget(1, 5, 1.0);
        let granted = [(); 6].map(|()| reserve.withdraw(ms(0)));
        assert_eq!(granted, [true, true, true, true, true, false]);
    }

    /// Finagle's `BackupRequestFilter` does the same with its budget.
    #[test]
    fn a_copy_draws_what_a_retry_draws() {
        let mut budget = budget(10, 0, 0.5);
        let copy = crate::Candidate { attempt: 2, copy: 1, ..launch(0, None) };
        let ask = |budget: &Deposits<Slots>, at| {
            budget.ask(ms(at), &copy, &mut Always(0.5)) == BudgetDecision::Permit
        };
        (0..4).for_each(|_| {
            budget.on_sent(ms(0), &launch(0, None));
        });
        assert!(ask(&budget, 0));
        budget.on_sent(ms(0), &copy);
        assert!(
            ask(&budget, 9_000) && !ask(&budget, 60_000),
            "four ops pay for two copies, and not for ever"
        );
        budget.on_sent(ms(0), &copy);
        assert!(!ask(&budget, 0));
    }

    #[test]
    fn reqwest_retries_nothing_before_five_requests_are_done() {
        let mut series = Series::new("immediate:max-attempts=3+tower-budget:reserve=0");
        assert_eq!(series.attempts_per_op(4, OK), [(1, 4)]);
        assert_eq!(series.attempts_per_op(1, REJECTED), [(1, 1)]);
        assert_eq!(series.attempts_per_op(1, OK), [(1, 1)]);
        assert_eq!(series.attempts_per_op(2, REJECTED), [(2, 1), (1, 1)]);
    }
}
