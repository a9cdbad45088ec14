//! Properties of every strategy of the registry, and of combinations, under arbitrary events.
//!
//! Source: the project's design and issue. Any sequence of sends, successes, rejections, failures, cancellations and
//! time steps loses no op. It never sends while in flight ≥ window, never requests an instant in the past twice
//! consecutively, and never panics on extreme parameters. The same seed gives the same trace.

mod cancelling;
mod model;
mod specs;

use std::time::Duration;

use proptest::prelude::*;
use tailback::{Advice, Failure, Outcome, Status};

use model::{Client, Event, Step};

fn step() -> impl Strategy<Value = Step> {
    let status = prop_oneof![
        4 => Just(Status::Succeeded),
        4 => Just(Status::Rejected),
        1 => Just(Status::Failed(Failure::Timeout)),
        1 => Just(Status::Failed(Failure::Transport)),
        1 => Just(Status::Failed(Failure::Server)),
        1 => Just(Status::Failed(Failure::Fatal)),
        1 => Just(Status::Cancelled),
    ];
    let advice = prop_oneof![
        12 => Just(Advice::None),
        2 => (0..5000_u64).prop_map(|millis| Advice::After(Duration::from_millis(millis))),
        1 => Just(Advice::After(Duration::MAX)),
        1 => Just(Advice::Never),
    ];
    prop_oneof![
        2 => (1..20_u8).prop_map(Step::Arrive),
        8 => (any::<u8>(), status, advice).prop_map(|(pick, status, advice)| Step::End { pick, status, advice }),
        2 => (0..3000_u64).prop_map(|millis| Step::Advance(Duration::from_millis(millis))),
        3 => Just(Step::Wake),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    #[test]
    fn no_rule_is_broken_whatever_happens(
        spec in prop::sample::select(specs::all()),
        seed: u64,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        // The model client asserts the rules after every step.
        let mut client = Client::new(&spec, seed);
        for step in &steps {
            client.take(step);
        }
        let ended = client.drain();
        prop_assert!(ended || specs::may_starve(&spec), "{spec}: ops that never end");
    }

    #[test]
    fn the_same_seed_gives_the_same_trace(
        spec in prop::sample::select(specs::all()),
        seed: u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let trace = || {
            let mut client = Client::new(&spec, seed);
            for step in &steps {
                client.take(step);
            }
            client.drain();
            client.trace
        };
        prop_assert_eq!(trace(), trace());
    }

    #[test]
    fn no_rule_is_broken_by_any_back_off(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..9),
        seed: u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let parameters = tailback::find("backoff").expect("it is there").parameters();
        let options: Vec<String> = picks
            .iter()
            .map(|(which, end)| {
                let parameter = which.get(&parameters);
                format!("{}={}", parameter.key, end.get(&specs::ends(&parameter.accepted)))
            })
            .collect();
        let spec = specs::fitting("backoff", &options);
        let mut client = Client::new(&spec, seed);
        for step in &steps {
            client.take(step);
        }
        prop_assert!(client.drain(), "{spec}: ops that never end");
    }

    #[test]
    fn a_budget_with_ask_failure_decides_there_and_never_sheds(
        seed: u64,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut client = Client::new("constant+retry-budget:max=4,ratio=0.5,ask=failure", seed);
        for step in &steps {
            client.take(step);
        }
        client.drain();
        // Reference computation of the tokens, as in gRPC's proposal A6.
        let mut tokens = 4.0_f64;
        for (index, event) in client.trace.iter().enumerate() {
            let Event::AttemptEnd(at, op, Outcome { status, advice, .. }) = *event else {
                prop_assert!(!matches!(event, Event::Shed(..)), "{:?}", event);
                continue;
            };
            let retriable = status.is_congestion();
            if status == Status::Succeeded {
                tokens = (tokens + 0.5).min(4.0);
            } else if retriable || advice == Advice::Never {
                tokens = (tokens - 1.0).max(0.0);
            }
            let next = client.trace.get(index + 1);
            if retriable && advice != Advice::Never && tokens > 2.0 {
                prop_assert!(matches!(next, Some(Event::Slept(then, who, _)) if (*then, *who) == (at, op)), "{:?}", next);
            } else if !matches!(status, Status::Succeeded | Status::Cancelled) {
                prop_assert_eq!(next, Some(&Event::GaveUp(at, op)));
            }
        }
    }
}

/// Runs every strategy, not only randomly selected ones, through one long outage.
#[test]
fn every_strategy_survives_an_outage() {
    for spec in specs::all() {
        let mut client = Client::new(&spec, 1);
        let end = |pick, status| Step::End { pick, status, advice: Advice::None };
        for round in 0..40_u8 {
            client.take(&Step::Arrive(3));
            let outage = (10..25).contains(&round);
            for pick in 0..4 {
                client.take(&end(pick, if outage { Status::Rejected } else { Status::Succeeded }));
                client.take(&Step::Advance(Duration::from_millis(70)));
            }
            client.take(&Step::Wake);
        }
        assert!(client.drain() || specs::may_starve(&spec), "{spec}: ops that never end");
    }
}

#[test]
fn another_seed_gives_another_trace() {
    let trace = |seed| {
        let mut client = Client::new("full-jitter", seed);
        client.take(&Step::Arrive(5));
        for pick in 0..5 {
            client.take(&Step::End { pick, status: Status::Rejected, advice: Advice::None });
        }
        client.drain();
        client.trace
    };
    assert_ne!(trace(1), trace(2));
}
