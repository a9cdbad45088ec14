//! The log of a throttle, replayed through a bare dispatcher.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, AttemptResult, Completion, Input, Refusal, Run, RunConfig, Workload};
use tailback::{Dispatcher, GiveUp, Host, Instant, Launch, Op, OpKey, Output, Settings, StrategySpec};
use tailback_http::Event;

/// Observer that records decisions, and knows the deadline of each op.
#[derive(Default)]
pub(crate) struct Decisions {
    given_up: Vec<(Instant, u32, GiveUp)>,
    stored: Option<OpKey>,
}

impl Host for Decisions {
    type Op = Option<Instant>;
    type Attempt = ();
    type Note = ();

    fn is_late(&self, op: &Op<Option<Instant>>, at: Instant) -> bool {
        op.data.is_some_and(|deadline| at >= deadline)
    }

    fn on_stored(&mut self, slot: u32, op: &Op<Option<Instant>>) {
        self.stored = Some(OpKey { slot, op: op.id });
    }

    fn on_given_up(&mut self, at: Instant, _slot: u32, op: &Op<Option<Instant>>, why: GiveUp) {
        self.given_up.push((at, op.id, why));
    }
}

/// Feeds the inputs of a log to a bare dispatcher, and asserts that it decides the same.
pub(crate) fn assert_replays(spec: &str, seed: u64, log: &[Event]) {
    let spec: StrategySpec = spec.parse().expect("it was built before");
    let settings = Settings { max_lateness: Duration::from_millis(100), ..Settings::default() };
    let mut dispatcher = Dispatcher::new([spec.build(seed, None).expect("it was built before")], settings);
    let (mut host, mut sent) = (Decisions::default(), Vec::new());
    let (mut logged_sent, mut logged_given_up): (Vec<Launch>, Vec<_>) = (Vec::new(), Vec::new());
    for event in log {
        match *event {
            Event::Arrive { at, op, deadline } => {
                dispatcher.arrive(&mut host, at, op, deadline, deadline).expect("the queue has no limit");
            }
            Event::Fire { at, due_at, due } => {
                assert_eq!(dispatcher.next_due(), Some((due_at, due)));
                dispatcher.fire(&mut host, at, (due_at, due));
            }
            Event::End { at, attempt, sent_at, outcome } => {
                dispatcher.ended(&mut host, at, attempt, sent_at, &outcome, &());
            }
            Event::Cancel { at, op, attempt } => dispatcher.cancel(&mut host, at, op, attempt),
            Event::Unsend { at, attempt } => dispatcher.unsend(&mut host, at, attempt),
            Event::Admit(launch) => logged_sent.push(launch),
            Event::GiveUp { at, op, why } => logged_given_up.push((at, op, why)),
            ref other => panic!("unknown event {other:?}"),
        }
        while let Some(output) = dispatcher.take_output() {
            if let Output::Send(launch) = output {
                sent.push(launch);
            }
        }
    }
    assert_eq!(sent, logged_sent);
    assert_eq!(host.given_up, logged_given_up);
}

/// Feeds the inputs of a log without cancellations to a run of the load generator, and asserts that it decides the same.
fn assert_replays_in_a_run(spec: &str, seed: u64, log: &[Event]) {
    let arrivals = log.iter().filter_map(|event| match event {
        Event::Arrive { at, .. } => Some(*at),
        _ => None,
    });
    let arrivals = ArrivalProcess::Listed(arrivals.collect());
    let forever = Duration::from_hours(100_000);
    let config = RunConfig {
        workload: Workload { arrivals, ops: None, duration: None },
        timeout: forever,
        patience: forever,
        ..RunConfig::default()
    };
    let spec: StrategySpec = spec.parse().expect("it was built before");
    let mut run = Run::new(config, |_| spec.build(seed, None), None).expect("it was built before");
    run.record_log();
    let mut sent = Vec::new();
    let mut collect = |run: &mut Run, at: Instant| loop {
        match run.poll_output(at) {
            loadgen_core::Output::Send(launch) => {
                sent.push((launch.op, launch.ordinal, launch.due, launch.attempt));
            }
            loadgen_core::Output::WaitUntil(until) if until <= at => {}
            _ => return,
        }
    };
    let (mut logged_sent, mut logged_given_up) = (Vec::new(), Vec::new());
    for event in log {
        match *event {
            Event::Arrive { at, .. } | Event::Fire { at, .. } => collect(&mut run, at),
            Event::End { at, attempt, sent_at, outcome } => {
                let result = AttemptResult { outcome, ..AttemptResult::plain(outcome.status) };
                run.handle_input(at, Input::AttemptEnd(Completion { attempt, sent_at, result }));
                collect(&mut run, at);
            }
            // A request that waits for a connection is taken back if a hold begins.
            Event::Unsend { at, attempt } => {
                run.handle_input(at, Input::Waiting(attempt));
                run.handle_input(at, Input::Connected(attempt));
                collect(&mut run, at);
            }
            Event::Admit(launch) => {
                logged_sent.push((u64::from(launch.op.op), launch.ordinal, launch.due, launch.attempt));
            }
            Event::GiveUp { at, op, .. } => logged_given_up.push((u64::from(op), at)),
            ref other => panic!("{other:?} in a log without cancellations"),
        }
    }
    let refusals = run.take_log().expect("it is recorded").refusals.into_iter();
    let given_up = refusals.filter_map(|refusal| match refusal {
        Refusal::GivenUp { op, at, .. } => Some((op, at)),
        Refusal::Shed { .. } => None,
    });
    assert_eq!(sent, logged_sent);
    assert_eq!(given_up.collect::<Vec<_>>(), logged_given_up);
}

mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contracts::steps;
    use crate::world::{Step, World, on_paused_clock};

    const SPECS: [&str; 8] = [
        "aimd",
        "tailback",
        "hold+aimd",
        "bbr",
        "aws-adaptive",
        "constant:delay=10ms,max-attempts=3+breaker:failures=2",
        "preset:openai",
        "constant:delay=1s,max-attempts=3+fixed-window:window=2 over constant:delay=10ms,max-attempts=3",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn a_bare_dispatcher_decides_the_same_again(
            spec in prop::sample::select(SPECS.to_vec()),
            deadline in any::<bool>(),
            steps in steps(),
        ) {
            let deadline = deadline.then_some(Duration::from_secs(5));
            let log = on_paused_clock(async {
                let mut world = World::new(spec, |builder| match deadline {
                    Some(deadline) => builder.deadline(deadline),
                    None => builder,
                });
                for step in &steps {
                    world.take(step).await;
                }
                world.throttle.take_log()
            });
            assert_replays(spec, 7, &log);
        }

        #[test]
        fn a_run_of_the_load_generator_decides_the_same_again(
            spec in prop::sample::select(SPECS.to_vec()),
            steps in steps(),
        ) {
            let log = on_paused_clock(async {
                let mut world = World::new(spec, |builder| builder.max_lateness(Duration::MAX));
                for step in steps.iter().filter(|step| !matches!(step, Step::Drop(_))) {
                    world.take(step).await;
                    // So that no two inputs have the same instant.
                    world.take(&Step::Advance(Duration::from_nanos(1))).await;
                }
                world.throttle.take_log()
            });
            assert_replays_in_a_run(spec, 7, &log);
        }
    }
}
