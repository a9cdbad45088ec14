//! Tests that each retry permitted by budgets is sent or withdrawn exactly once, in every layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use vocabulary::Rng;

use super::*;
use crate::testing::{REJECTED, ended, part, rejected, view};
use crate::{Budget, BudgetDecision, Candidate, Permit};

/// Counter of retries that were permitted and neither sent nor withdrawn, and a switch to reject launches.
#[derive(Clone, Default)]
struct Pending {
    retries: Arc<AtomicI32>,
    refuses: Arc<AtomicBool>,
}

impl Pending {
    fn count(&self) -> i32 {
        self.retries.load(Ordering::Relaxed)
    }
}

impl Budget for Pending {
    fn ask(&self, _now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
        if self.refuses.load(Ordering::Relaxed) {
            BudgetDecision::Shed(Advice::Never)
        } else {
            BudgetDecision::Permit
        }
    }

    fn on_retry(&mut self, _now: Instant, _failed: &FailedOp) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    fn on_retry_withdrawn(&mut self, _now: Instant) {
        self.retries.fetch_sub(1, Ordering::Relaxed);
    }

    fn on_sent(&mut self, _now: Instant, launch: &Candidate) -> Permit {
        self.retries.fetch_sub(i32::from(launch.attempt > 1), Ordering::Relaxed);
        Permit::default()
    }
}

/// Op of a retry around a retry, each with at most two tries.
struct TwoLayers {
    strategy: Strategy,
    inner: Pending,
    outer: Pending,
    state: RetryState,
    attempts: u32,
    failures: u32,
}

impl TwoLayers {
    fn new() -> Self {
        let (inner, outer) = (Pending::default(), Pending::default());
        let layer = |pending: &Pending| {
            let parts = vec![part("constant:delay=10ms"), Part::Budget(Box::new(pending.clone()))];
            (parts, Arc::new(Rules::up_to(2)))
        };
        let strategy = Strategy::layered(1, vec![layer(&inner), layer(&outer)], u32::MAX, Arc::default());
        Self { strategy, inner, outer, state: RetryState::default(), attempts: 0, failures: 0 }
    }

    fn fails(&mut self) -> Retry {
        let last = (self.failures > 0).then_some(Status::Rejected);
        let mut view = view(0, u64::from(self.attempts));
        view.candidate = Candidate { op: 0, attempt: self.attempts + 1, last, ..view.candidate };
        let outcome = match self.strategy.admit(Instant::ORIGIN, &view, &mut self.state) {
            LaunchDecision::Send(permits, _) => {
                self.attempts += 1;
                let ended = AttemptEnd { op: 0, attempt: self.attempts, ..ended(view.candidate.seq, 1) };
                self.strategy.on_ended(Instant::ORIGIN, &ended, &REJECTED, &permits, &mut self.state);
                REJECTED
            }
            LaunchDecision::Shed(outcome) => outcome,
            LaunchDecision::Wait(_) => panic!("nobody waits"),
        };
        self.failures += 1;
        let failed = FailedOp { outcome, ..rejected(self.failures) };
        self.strategy.on_failure(Instant::ORIGIN, &failed, self.attempts, &mut self.state)
    }

    /// Ends the op at its deadline while it waits for a retry.
    fn pending_after_its_deadline(mut self) -> (i32, i32) {
        self.strategy.on_over(Instant::ORIGIN, &mut self.state, true);
        (self.inner.count(), self.outer.count())
    }

    fn pending(&self) -> (i32, i32) {
        (self.inner.count(), self.outer.count())
    }
}

const SOON: Retry = Retry::After(Duration::from_millis(10));

#[test]
fn a_deadline_withdraws_only_the_retry_of_the_waiting_layer() {
    let mut op = TwoLayers::new();
    assert_eq!((op.fails(), op.pending()), (SOON, (1, 0)));
    assert_eq!(op.pending_after_its_deadline(), (0, 0));

    let mut op = TwoLayers::new();
    op.fails();
    assert_eq!((op.fails(), op.pending()), (SOON, (0, 1)), "the inner layer gave up");
    assert_eq!(op.pending_after_its_deadline(), (0, 0));
}

#[test]
fn a_refused_retry_is_withdrawn_when_its_layer_gives_up() {
    let mut op = TwoLayers::new();
    op.fails();
    op.inner.refuses.store(true, Ordering::Relaxed);
    assert_eq!(op.fails(), Retry::After(Duration::from_millis(50)), "the layer around it tries again");
    assert_eq!(op.pending(), (0, 1));
    op.inner.refuses.store(false, Ordering::Relaxed);
    op.fails();
    assert_eq!(op.pending(), (1, 0));
    op.outer.refuses.store(true, Ordering::Relaxed);
    op.inner.refuses.store(true, Ordering::Relaxed);
    assert_eq!(op.fails(), Retry::GiveUp, "both have had their two");
    assert_eq!(op.pending_after_its_deadline(), (0, 0));
}
