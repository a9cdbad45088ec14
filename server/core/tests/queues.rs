//! Test that queued requests wait for a reason: at every moment, too little is free for the first in the queue's order.

#[path = "support/drain.rs"]
mod drain;
#[path = "support/regressions.rs"]
mod regressions;

use std::sync::Arc;
use std::time::Duration;

use mockserver_core::{Config, Input, Request, RequestFields, RequestId, Server, ServerDecision, Step};
use proptest::prelude::*;
use vocabulary::{Distribution, Instant};

use drain::drain;
use regressions::kept_in;

const SERVICE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug)]
struct Visit {
    came: Instant,
    cost: u32,
    /// End of its wait.
    left: Instant,
    /// End of its service; `None` if it was not served.
    served: Option<Instant>,
}

/// Number of slots before 100 ms, from then on, and from 200 ms on.
type Slots = [u32; 3];

fn slots_at(slots: Slots, at: Instant) -> u32 {
    slots[usize::try_from(at.as_nanos() / 100_000_000).unwrap_or(2).min(2)]
}

/// Runs requests, given as milliseconds since the previous one and cost.
fn visits(config: &Config, requests: &[(u64, u32)]) -> Vec<Visit> {
    let mut server = Server::new(config.clone());
    let (mut visits, mut at_ms, mut answers) = (Vec::new(), 0, Vec::new());
    for (op, (gap_ms, cost)) in (0..).zip(requests) {
        at_ms += gap_ms;
        let at = Instant::from_millis(at_ms);
        drain(&mut server, at, |answer| answers.push(answer));
        let request =
            Request { id: RequestId(op), run: Some(1), seed: 1, op: op.into(), attempt: 1, step: Step::Work };
        let headers = vec![("x-cost".into(), cost.to_string().into())];
        let details = Arc::new(RequestFields { headers, ..RequestFields::default() });
        server.handle(at, Input::Arrive { request, least: 0, details: Some(details) });
        visits.push(Visit { came: at, cost: *cost, left: at, served: None });
    }
    drain(&mut server, Instant::FAR_FUTURE, |answer| answers.push(answer));
    assert_eq!(answers.len(), requests.len(), "everybody is answered");
    for answer in answers {
        let visit = &mut visits[answer.id.0 as usize];
        visit.left = answer.at;
        if answer.verdict == ServerDecision::Accepted {
            let began = answer.at.since_origin().checked_sub(SERVICE).expect("it was served");
            visit.left = Instant::ORIGIN + began;
            visit.served = Some(answer.at);
        }
    }
    visits
}

/// Returns the busy slots at an instant, after all events of that instant.
fn busy(visits: &[Visit], at: Instant) -> u32 {
    let serving = |visit: &&Visit| visit.served.is_some_and(|until| visit.left <= at && at < until);
    visits.iter().filter(serving).map(|visit| visit.cost).sum()
}

proptest! {
    #![proptest_config(kept_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proptest-regressions/queues.txt")))]

    #[test]
    fn nobody_waits_beside_places_it_fits_in(
        requests in prop::collection::vec((prop_oneof![Just(0), 0..60_u64], 1..7_u32), 1..25),
        queue in 0..6_u32,
        timeout_ms in 1..150_u64,
        is_lifo in any::<bool>(),
        slots in [1..10_u32, 1..10_u32, 1..10_u32],
        by_schedule in any::<bool>(),
    ) {
        let order = if is_lifo { "lifo" } else { "fifo" };
        let policy =
            format!("concurrency:queue={queue},queue-timeout={timeout_ms}ms,order={order},cost=header:x-cost");
        let [first, second, third] = slots;
        let mut config = Config {
            policy: policy.parse().expect("a policy"),
            max_busy: first,
            service_time: Distribution::Constant(SERVICE),
            reject_time: Distribution::ZERO,
            network_delay: Distribution::ZERO,
            rejects_occupy: false,
            ..Config::default()
        };
        if by_schedule {
            config.schedule =
                format!("100ms max-busy={second}; 200ms max-busy={third}").parse().expect("a schedule");
        } else {
            config.caps = format!("100ms={second},200ms={third}").parse().expect("caps");
        }
        // A request at the start makes the run's clock that of the server.
        let mut requests = requests;
        requests[0].0 = 0;
        let visits = visits(&config, &requests);
        let moments = visits.iter().flat_map(|visit| [Some(visit.came), Some(visit.left), visit.served]);
        let changes = [100, 200].map(|ms| Some(Instant::from_millis(ms)));
        for at in moments.chain(changes).flatten() {
            let (busy, slots) = (busy(&visits, at), slots_at(slots, at));
            let mut waiting = visits.iter().filter(|visit| visit.came <= at && at < visit.left);
            let next = if is_lifo { waiting.next_back() } else { waiting.next() };
            if let Some(next) = next {
                prop_assert!(busy + next.cost > slots, "{next:?} waits at {at}: {busy} of {slots} are busy");
            }
        }
    }
}
