//! Rules for every composition, tested with parts of the registry and a few test doubles.
//!
//! Source: the project's design ("The strategy", "Rules other projects learnt the hard way").

mod withdrawn;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use vocabulary::{Rng, unit};

use super::*;
use crate::testing::{FATAL, OK, REJECTED, TIMEOUT, advised, ended, launch, rejected, view};
use crate::{Budget, BudgetDecision, Failure, Permit, RetryPolicy, StrategySpec};

const NOW: Instant = Instant::ORIGIN;
const TRANSPORT: Outcome = Outcome::plain(Status::Failed(Failure::Transport));
const SHED: Outcome = Outcome::plain(Status::Shed);

fn strategy(text: &str) -> Strategy {
    text.parse::<StrategySpec>().unwrap().build(1, None).unwrap()
}

/// Returns the decision about an op whose first try had this outcome, after `attempts` attempts.
fn retry(text: &str, outcome: Outcome, attempts: u32) -> Retry {
    let failed = FailedOp { outcome, ..rejected(1) };
    strategy(text).on_failure(NOW, &failed, attempts, &mut RetryState::default())
}

const fn after_ms(millis: u64) -> Retry {
    Retry::After(Duration::from_millis(millis))
}

fn sent(strategy: &mut Strategy, in_flight: u32, seq: u64, last: Option<Status>) -> Permits {
    let mut view = view(in_flight, seq);
    view.candidate.last = last;
    match strategy.admit(NOW, &view, &mut RetryState::default()) {
        LaunchDecision::Send(permits, _) => permits,
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn without_a_retry_policy_ops_are_ready_again_at_once() {
    assert_eq!(retry("aimd", REJECTED, 1), after_ms(0));
    assert_eq!(retry("aimd+constant", REJECTED, 1), after_ms(1000));
}

#[test]
fn the_last_attempt_allowed_is_the_last() {
    assert_eq!(retry("constant:max-attempts=3", REJECTED, 2), after_ms(1000));
    assert_eq!(retry("constant:max-attempts=3", REJECTED, 3), Retry::GiveUp);
    assert_eq!(retry("aimd:max-attempts=1", REJECTED, 1), Retry::GiveUp);
    assert_eq!(retry("constant:max-attempts=unlimited", REJECTED, u32::MAX - 1), after_ms(1000));
}

#[test]
fn sheds_are_no_attempts() {
    assert_eq!(retry("constant:max-attempts=1", SHED, 0), after_ms(1000));
}

#[test]
fn failures_that_no_retry_will_change_end_the_op() {
    assert_eq!(retry("immediate", FATAL, 1), Retry::GiveUp);
    assert_eq!(retry("immediate", advised(Advice::Never), 1), Retry::GiveUp);
    assert_eq!(retry("immediate", TIMEOUT, 1), after_ms(0));
}

#[test]
fn the_servers_advice_is_a_floor_or_exact_or_added_or_ignored() {
    let long = advised(Advice::After(Duration::from_secs(3)));
    let short = advised(Advice::After(Duration::from_millis(10)));
    for (text, with_long, with_short) in [
        ("constant", 3000, 1000),
        ("constant:retry-after=floor", 3000, 1000),
        ("constant:retry-after=exact", 3000, 10),
        ("constant:retry-after=add", 4000, 1010),
        ("constant:retry-after=ignore", 1000, 1000),
        ("aimd", 3000, 10),
    ] {
        assert_eq!(retry(text, long, 1), after_ms(with_long), "{text}");
        assert_eq!(retry(text, short, 1), after_ms(with_short), "{text}");
        assert_eq!(retry(text, advised(Advice::Never), 1), Retry::GiveUp, "{text}");
    }
    assert_eq!(retry("none", long, 1), Retry::GiveUp);
    assert_eq!(retry("constant:retry-after=exact", REJECTED, 1), after_ms(1000));
}

/// gRPC, proposal A6: a pushback restarts the backoff. In curl 8.17, an advised wait replaces no wait of the backoff.
#[test]
fn after_advice_the_back_off_may_begin_anew_or_pause() {
    let push_back = Advice::After(Duration::from_millis(700));
    for (policy, delays) in [
        ("exponential:base=1s,jitter=0,advice-then=restart", [1000, 2000, 700, 1000, 2000]),
        ("linear:base=1s,advice-then=restart", [1000, 2000, 700, 1000, 2000]),
        ("exponential:base=1s,jitter=0,advice-then=pause", [1000, 2000, 700, 4000, 8000]),
        ("backoff:base=1s,growth=truncated,cap=none,advice-then=pause", [1000, 2000, 700, 4000, 8000]),
    ] {
        let mut strategy = strategy(&format!("{policy},retry-after=exact"));
        let mut state = RetryState::default();
        for (failures, delay) in (1..).zip(delays) {
            let outcome = if failures == 3 { advised(push_back) } else { REJECTED };
            let failed = FailedOp { outcome, ..rejected(failures) };
            let retry = strategy.on_failure(NOW, &failed, failures, &mut state);
            assert_eq!(retry, after_ms(delay), "{policy}, failure {failures}");
        }
    }
}

/// Waits half of the advised time, whatever the composition would do.
struct Clamped;

impl RetryPolicy for Clamped {
    fn on_failure(&self, _: Instant, failed: &FailedOp, _: &mut RetryState, _: &mut dyn Rng) -> Retry {
        match failed.outcome.advice {
            Advice::After(after) => Retry::After(after / 2),
            _ => Retry::GiveUp,
        }
    }

    fn uses_advice(&self) -> bool {
        true
    }
}

#[test]
fn a_policy_with_its_own_rule_for_advice_is_left_alone() {
    let mut strategy = Strategy::new(1, [Part::RetryPolicy(Box::new(Clamped))], Rules::default());
    let failed = FailedOp { outcome: advised(Advice::After(Duration::from_secs(3))), ..rejected(1) };
    assert_eq!(strategy.on_failure(NOW, &failed, 1, &mut RetryState::default()), after_ms(1500));
}

#[test]
fn transport_errors_and_sheds_never_lead_to_an_immediate_retry() {
    for text in ["aimd", "immediate", "constant:delay=1ms", "immediate:retry-after=exact"] {
        assert_eq!(retry(text, TRANSPORT, 1), after_ms(50), "{text}");
        assert_eq!(retry(text, SHED, 1), after_ms(50), "{text}");
        let advice = Advice::After(Duration::ZERO);
        assert_eq!(retry(text, Outcome { advice, ..TRANSPORT }, 1), after_ms(50), "{text}");
    }
    assert_eq!(retry("constant", TRANSPORT, 1), after_ms(1000));
}

#[test]
fn a_window_a_back_off_and_a_budget_all_take_effect() {
    let mut strategy = strategy("aimd:initial=2+full-jitter+retry-budget:max=2");
    let first = sent(&mut strategy, 0, 0, None);
    sent(&mut strategy, 1, 1, None);
    assert_eq!(
        strategy.admit(NOW, &view(2, 2), &mut RetryState::default()),
        LaunchDecision::Wait(Until::Event),
        "the window is full"
    );

    strategy.on_ended(NOW, &ended(0, 2), &REJECTED, &first, &mut RetryState::default());
    let gauges = strategy.gauges();
    assert_eq!((gauges.window, gauges.tokens), (Some(1.8), Some(1.0)));

    let Retry::After(delay) = strategy.on_failure(NOW, &rejected(1), 1, &mut RetryState::default()) else {
        panic!("one rejection is not the end");
    };
    assert!(delay < Duration::from_millis(50), "{delay:?}");

    let mut retry = view(1, 2);
    retry.candidate.last = Some(Status::Rejected);
    let shed = Outcome::advised(Status::Shed, Advice::Never);
    assert_eq!(
        strategy.admit(NOW, &retry, &mut RetryState::default()),
        LaunchDecision::Shed(shed),
        "1 token of 2 is not more than half"
    );
    strategy.on_ended(NOW, &ended(1, 1), &OK, &Permits::default(), &mut RetryState::default());
    sent(&mut strategy, 0, 2, Some(Status::Rejected));
}

#[test]
fn a_budget_with_ask_failure_ends_the_op_before_any_back_off() {
    let mut strategy = strategy("constant+retry-budget:max=2,ask=failure");
    let permits = sent(&mut strategy, 0, 0, None);
    strategy.on_ended(NOW, &ended(0, 1), &REJECTED, &permits, &mut RetryState::default());
    let over = strategy.on_failure(NOW, &rejected(1), 1, &mut RetryState::default());
    assert_eq!(over, Retry::GiveUp, "1 token of 2 is not more than half");
    // A shed or a deferral is not a failed attempt, so the budget is not consulted.
    for status in [Status::Shed, Status::Deferred] {
        let failed = FailedOp { outcome: Outcome::plain(status), ..rejected(1) };
        let retry = strategy.on_failure(NOW, &failed, 0, &mut RetryState::default());
        assert_eq!(retry, after_ms(1000), "{status:?}");
    }
    strategy.on_ended(NOW, &ended(1, 1), &OK, &Permits::default(), &mut RetryState::default());
    let retry = strategy.on_failure(NOW, &rejected(1), 1, &mut RetryState::default());
    assert_eq!(retry, after_ms(1000), "1.1 tokens");
}

#[test]
fn stacked_limiters_must_all_agree() {
    let mut strategy = strategy("fixed-window:window=3+aimd:initial=2");
    assert!(matches!(strategy.admit(NOW, &view(1, 0), &mut RetryState::default()), LaunchDecision::Send(..)));
    assert_eq!(
        strategy.admit(NOW, &view(2, 1), &mut RetryState::default()),
        LaunchDecision::Wait(Until::Event)
    );
    assert_eq!(strategy.gauges().window, Some(2.0), "the smaller one counts");
}

/// Budget with a constant answer that counts its calls.
struct Counting {
    answer: fn(f64) -> BudgetDecision,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told {
    sent: AtomicU32,
    shed: AtomicU32,
    permits: AtomicU32,
}

impl Budget for Counting {
    fn ask(&self, _now: Instant, _launch: &Candidate, rng: &mut dyn Rng) -> BudgetDecision {
        (self.answer)(unit(rng))
    }

    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Permit {
        Permit(7 + self.told.sent.fetch_add(1, Ordering::Relaxed))
    }

    fn on_shed(&mut self, _now: Instant, _launch: &Candidate) {
        self.told.shed.fetch_add(1, Ordering::Relaxed);
    }

    fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, _outcome: &Outcome, permit: Permit) {
        self.told.permits.fetch_add(permit.0, Ordering::Relaxed);
    }
}

fn stacked<const N: usize>(answers: [fn(f64) -> BudgetDecision; N]) -> (Strategy, [Arc<Told>; N]) {
    let told = [(); N].map(|()| Arc::new(Told::default()));
    let parts: Vec<Part> = answers
        .into_iter()
        .zip(&told)
        .map(|(answer, told)| -> Part { Part::Budget(Box::new(Counting { answer, told: Arc::clone(told) })) })
        .collect();
    (Strategy::new(1, parts, Rules::up_to(u32::MAX)), told)
}

const PERMIT: fn(f64) -> BudgetDecision = |_| BudgetDecision::Permit;
const REFUSE: fn(f64) -> BudgetDecision = |_| BudgetDecision::Shed(Advice::None);
const HOLD: fn(f64) -> BudgetDecision = |_| BudgetDecision::Wait(Until::At(Instant::from_millis(5)));

#[test]
fn a_shed_is_reported_only_to_the_budget_that_sheds() {
    let (mut strategy, told) = stacked([PERMIT, REFUSE, REFUSE]);
    assert_eq!(strategy.admit(NOW, &view(0, 0), &mut RetryState::default()), LaunchDecision::Shed(SHED));
    let sheds = told.each_ref().map(|told| told.shed.load(Ordering::Relaxed));
    assert_eq!(sheds, [0, 1, 0]);
    assert!(told.iter().all(|told| told.sent.load(Ordering::Relaxed) == 0), "nothing was sent");
}

#[test]
fn a_launch_that_one_budget_holds_takes_nothing_from_the_others() {
    let (mut strategy, told) = stacked([PERMIT, HOLD]);
    assert_eq!(
        strategy.admit(NOW, &view(0, 0), &mut RetryState::default()),
        LaunchDecision::Wait(Until::At(Instant::from_millis(5)))
    );
    assert!(told.iter().all(|told| told.sent.load(Ordering::Relaxed) == 0));
}

#[test]
fn each_budget_gets_its_own_permit_back() {
    let (mut strategy, told) = stacked([PERMIT, PERMIT]);
    sent(&mut strategy, 0, 0, None);
    let permits = sent(&mut strategy, 1, 1, None);
    assert_eq!(permits[..2], [Permit(8), Permit(8)]);
    strategy.on_ended(
        NOW,
        &ended(1, 2),
        &OK,
        &[Permit(8), Permit(9), Permit(0), Permit(0)],
        &mut RetryState::default(),
    );
    assert_eq!(told.each_ref().map(|told| told.permits.load(Ordering::Relaxed)), [8, 9]);
}

#[test]
fn an_op_that_was_shed_draws_anew_and_asking_again_does_not() {
    const COIN: fn(f64) -> BudgetDecision =
        |r| if r < 0.5 { BudgetDecision::Shed(Advice::None) } else { HOLD(r) };
    // A delayed launch changes no state, so the answer stays the same.
    let (mut strategy, _) = stacked([COIN]);
    let lucky = (0..64)
        .find(|op| strategy.admit(NOW, &view(0, *op), &mut RetryState::default()) == HOLD_VERDICT)
        .unwrap();
    for _ in 0..20 {
        assert_eq!(strategy.admit(NOW, &view(0, lucky), &mut RetryState::default()), HOLD_VERDICT);
    }
    // A shed op is not shed forever.
    let (mut strategy, _) = stacked([COIN]);
    let sheds = (0..64)
        .take_while(|_| {
            strategy.admit(NOW, &view(0, 3), &mut RetryState::default()) == LaunchDecision::Shed(SHED)
        })
        .count();
    assert!(sheds < 64);
}

const HOLD_VERDICT: LaunchDecision = LaunchDecision::Wait(Until::At(Instant::from_millis(5)));

#[test]
fn stacked_budgets_draw_apart_from_one_another() {
    const COIN: fn(f64) -> BudgetDecision =
        |r| if r < 0.5 { BudgetDecision::Shed(Advice::None) } else { BudgetDecision::Permit };
    let (mut strategy, told) = stacked([COIN, COIN]);
    for op in 0..400 {
        strategy.admit(NOW, &view(0, op), &mut RetryState::default());
    }
    let sheds = told.each_ref().map(|told| told.shed.load(Ordering::Relaxed));
    // Half of all launches are shed by the first budget, and half of the rest by the second. With a common draw the
    // second budget would never shed.
    assert!((150..250).contains(&sheds[0]) && (60..140).contains(&sheds[1]), "{sheds:?}");
}

#[test]
fn the_same_seed_draws_the_same_back_off() {
    let delay = |seed| {
        let mut strategy = "full-jitter".parse::<StrategySpec>().unwrap().build(seed, None).unwrap();
        strategy.on_failure(NOW, &rejected(3), 3, &mut RetryState::default())
    };
    assert_eq!(delay(1), delay(1));
    assert_ne!(delay(1), delay(2));
}

/// Returns the delays in milliseconds of an op that always has this outcome, until it is given up.
fn delays_of(text: &str, outcome: Outcome) -> Vec<u128> {
    let mut strategy = strategy(text);
    let (mut state, mut delays, mut now) = (RetryState::default(), Vec::new(), NOW);
    for attempts in 1..1000_u32 {
        let mut view = view(0, u64::from(attempts) - 1);
        view.candidate = Candidate { op: 7, attempt: attempts, ..view.candidate };
        let LaunchDecision::Send(permits, _) = strategy.admit(now, &view, &mut state) else { panic!("held") };
        let outcome = Outcome { classification: strategy.classify(&outcome), ..outcome };
        let ended = AttemptEnd { attempt: attempts, op: 7, ..ended(view.candidate.seq, 1) };
        strategy.on_ended(now, &ended, &outcome, &permits, &mut state);
        let failed = FailedOp { op: 7, outcome, ..rejected(attempts) };
        match strategy.on_failure(now, &failed, attempts, &mut state) {
            Retry::After(delay) => {
                delays.push(delay.as_millis());
                now = now + delay;
            }
            Retry::GiveUp | Retry::GiveUpAfter(_) => {
                strategy.on_over(now, &mut state, false);
                assert_eq!(strategy.memory.len(), 0, "nothing is remembered of what is over");
                return delays;
            }
        }
    }
    panic!("`{text}` goes on for ever");
}

#[test]
fn giving_up_in_the_inner_layer_is_one_failure_of_the_outer() {
    let text = "exponential:base=1s,max-attempts=3 over constant:delay=10ms,max-attempts=2";
    assert_eq!(delays_of(text, REJECTED), [10, 1000, 10, 2000, 10]);
    let three = "constant:delay=9s,max-attempts=2 over constant:delay=1s,max-attempts=2 over \
                 constant:delay=10ms,max-attempts=2";
    assert_eq!(delays_of(three, REJECTED), [10, 1000, 10, 9000, 10, 1000, 10]);
}

#[test]
fn an_attempt_carries_the_free_slots_that_any_layer_requires() {
    let carrier = |text| match strategy(text).admit(NOW, &view(0, 0), &mut RetryState::default()) {
        LaunchDecision::Send(_, carrier) => carrier.map(|carrier| carrier.min_free),
        verdict => panic!("{text}: {verdict:?}"),
    };
    assert_eq!(carrier("constant over constant"), None);
    assert_eq!(carrier("constant over ethernet:threshold=3+constant"), Some(3));
    assert_eq!(carrier("ethernet:threshold=7+constant over constant"), Some(7));
    assert_eq!(carrier("ethernet:threshold=7+constant over ethernet:threshold=3+constant"), Some(7));
}

/// Limiter that adds 100 and the in-flight count at every call, so that one number shows both.
struct AppLimited(Arc<AtomicU32>);

impl crate::Limiter for AppLimited {
    fn poll(&self, _now: Instant, _view: &LimiterView) -> crate::Admit {
        crate::Admit::Go
    }

    fn on_app_limited(&mut self, _now: Instant, in_flight: u32) {
        self.0.fetch_add(100 + in_flight, Ordering::Relaxed);
    }
}

/// The limiter of each layer receives the number of attempts or tries in flight of its own layer.
#[test]
fn limiters_of_every_layer_learn_that_they_are_app_limited() {
    let told = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
    let layers = told.each_ref().map(|told| {
        let limiter: Box<dyn crate::Limiter> = Box::new(AppLimited(Arc::clone(told)));
        (vec![Part::Limiter(limiter)], Arc::default())
    });
    let mut strategy = Strategy::layered(1, layers.into(), u32::MAX, Arc::default());
    let verdict = strategy.admit(NOW, &view(0, 0), &mut RetryState::default());
    assert!(matches!(verdict, LaunchDecision::Send(..)), "{verdict:?}");
    strategy.on_app_limited(NOW, 5);
    assert_eq!(told.map(|told| told.load(Ordering::Relaxed)), [105, 101], "attempts, and tries");
}

#[test]
fn each_layer_has_its_own_opinion() {
    let text = "constant:delay=1s,max-attempts=3 over constant:delay=10ms,retry-on=closed";
    assert_eq!(delays_of(text, REJECTED), [1000, 1000], "the inner layer does not try it again");
    let closed = Outcome { facts: crate::Facts::missing(crate::Missing::Closed), ..TRANSPORT };
    assert_eq!(
        delays_of(
            "constant:delay=1s,max-attempts=3,retry-on=429 over constant:max-attempts=2,retry-on=closed,delay=90ms",
            closed
        ),
        [90]
    );
}

#[test]
fn retries_are_limited_by_the_kind_of_failure() {
    let text = "constant:max-attempts=9,max-connect=2,max-status=1,max-read=0";
    let missing = |why| Outcome { facts: crate::Facts::missing(why), ..TRANSPORT };
    assert_eq!(delays_of(text, missing(crate::Missing::Refused)).len(), 2);
    assert_eq!(delays_of(text, missing(crate::Missing::Closed)).len(), 0);
    assert_eq!(delays_of(text, Outcome { facts: crate::Facts::code(503), ..REJECTED }).len(), 1);
}

#[test]
fn an_op_that_would_take_too_long_is_given_up_before_the_wait() {
    assert_eq!(delays_of("constant:delay=4s,max-time=10s", REJECTED), [4000, 4000]);
    assert_eq!(delays_of("constant:delay=4s,max-time=10s,over-time=shorten", REJECTED), [4000, 4000, 2000]);
    assert_eq!(delays_of("constant:delay=4s,max-time=10s,over-time=last", REJECTED), [4000, 4000, 4000]);
}

fn after(text: &str, outcome: Outcome) -> AfterCopy {
    let failed = FailedOp { op: 0, arrived: Instant::ORIGIN, failures: 1, outcome };
    strategy(text).after_failed_copy(&failed)
}

#[test]
fn hedger_and_advice_decide_what_a_failure_does_to_copies() {
    let second = Duration::from_secs(1);
    let wait = advised(Advice::After(second));
    for (text, outcome, wanted) in [
        ("hedging", REJECTED, AfterCopy::NextAfter(Duration::ZERO)),
        ("hedging:after-failure=wait", REJECTED, AfterCopy::GoOn),
        ("hedging:after-failure=end", REJECTED, AfterCopy::Over),
        ("hedging", FATAL, AfterCopy::Over),
        ("hedging", wait, AfterCopy::NextAfter(second)),
        ("hedging:after-failure=wait", wait, AfterCopy::NextAfter(second)),
        ("hedging:retry-after=ignore", wait, AfterCopy::NextAfter(Duration::ZERO)),
        ("hedging:advice-zero=give-up", advised(Advice::After(Duration::ZERO)), AfterCopy::NoMore),
        ("hedging", advised(Advice::Never), AfterCopy::NoMore),
        ("full-jitter", REJECTED, AfterCopy::Over),
    ] {
        assert_eq!(after(text, outcome), wanted, "{text} {outcome:?}");
    }
}

#[test]
fn only_a_hedger_sends_copies_and_limits_apply_to_them() {
    let copies = |text| strategy(text).copies(Instant::ORIGIN, &launch(0, None)).map(|copies| copies.count);
    assert_eq!([copies("none+hedging:copies=2"), copies("none")], [Some(2), None]);
    assert!(strategy("hedging").hedges() && !strategy("aimd").hedges());
    let permits = |text, attempts, ms| {
        let now = Instant::from_millis(ms);
        strategy(text).permits_copy(now, Instant::ORIGIN, attempts, RetryState::default())
    };
    assert!(permits("hedging:max-attempts=3", 2, 0) && !permits("hedging:max-attempts=3", 3, 0));
    assert!(permits("hedging:max-time=1s", 2, 999) && !permits("hedging:max-time=1s", 2, 1000));
}
