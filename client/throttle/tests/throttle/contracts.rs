//! The contracts of the documentation, in random orders of polls, drops, delays and answers.

use std::time::Duration;

use proptest::prelude::*;
use tailback_http::Event;

use crate::world::{Step, World, on_paused_clock};

const ORDERS: u32 = 10_000;

fn step() -> impl Strategy<Value = Step> {
    let answer = prop_oneof![
        4 => Just((200, None)),
        2 => Just((429, None)),
        2 => (0..5_u64).prop_map(|seconds| (429, Some(seconds))),
        1 => (1..3_u64).prop_map(|seconds| (500, Some(seconds))),
        1 => Just((500, None)),
        1 => Just((404, None)),
    ];
    prop_oneof![
        4 => Just(Step::Begin),
        4 => any::<u8>().prop_map(Step::Poll),
        8 => any::<u8>().prop_map(Step::PollWoken),
        6 => (any::<u8>(), answer).prop_map(|(pick, (status, advice))| Step::Answer(pick, status, advice)),
        2 => any::<u8>().prop_map(Step::Drop),
        3 => (0..3000_u64).prop_map(|millis| Step::Advance(Duration::from_millis(millis))),
    ]
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..80)
}

/// Runs the steps, and then lets all calls end.
fn run(spec: &str, steps: &[Step]) -> (World, bool) {
    on_paused_clock(async {
        let mut world = World::new(spec, |builder| builder);
        for step in steps {
            world.take(step).await;
        }
        let ended = world.drain().await;
        (world, ended)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ORDERS, ..ProptestConfig::default() })]

    #[test]
    fn in_flight_never_exceeds_the_window_and_returns_to_zero(steps in steps()) {
        let (world, ended) = run("fixed-window:window=3+constant:delay=1s,max-attempts=4", &steps);
        prop_assert!(ended, "{} calls never end", world.open());
        prop_assert!(world.server.most_running.get() <= 3);
        prop_assert_eq!((world.throttle.in_flight(), world.throttle.calls()), (0, 0));
    }

    #[test]
    fn no_request_starts_inside_a_hold_and_every_wait_ends(
        spec in prop::sample::select(vec!["hold+fixed-window:window=4", "tailback", "hold:release=all+full-jitter"]),
        steps in steps(),
    ) {
        let (world, ended) = run(spec, &steps);
        prop_assert_eq!(world.server.early.get(), 0);
        prop_assert!(ended, "{} calls never end", world.open());
        prop_assert_eq!((world.throttle.in_flight(), world.throttle.calls()), (0, 0));
    }

    #[test]
    fn calls_are_admitted_in_the_order_of_the_queue(steps in steps()) {
        let (world, _) = run("fixed-window:window=2+none", &steps);
        let admitted = world.throttle.take_log().into_iter().filter_map(|event| match event {
            Event::Admit(launch) => Some(launch.op.op),
            _ => None,
        });
        prop_assert!(admitted.is_sorted());
    }
}
