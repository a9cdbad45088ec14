//! The bound, compared with every order of service of small workloads and with the words of its proof.

use tailback::{Status, StrategySpec};
use vocabulary::{Draws, Purpose, draws, unit};
use wire::AdvertisedLimits;

use super::*;
use crate::run::{AttemptResult, Completion, Input, Output, Run, ServerSeen};
use crate::snapshot::Snapshot;
use crate::workload::Workload;

#[derive(Clone, Debug)]
struct Written {
    /// 0 if slots bound nothing.
    slots: u32,
    there: u64,
    back: u64,
    least: u64,
    services: Vec<u64>,
}

impl LeastCosts for Written {
    fn slots(&self) -> Option<u32> {
        Some(self.slots).filter(|slots| *slots > 0)
    }

    fn paces(&self) -> Vec<Box<dyn Pace>> {
        Vec::new()
    }

    fn request_delay(&self) -> Duration {
        Duration::from_nanos(self.there)
    }

    fn response_delay(&self) -> Duration {
        Duration::from_nanos(self.back)
    }

    fn min_service(&self) -> Duration {
        Duration::from_nanos(self.least)
    }

    fn service(&self, op: u64) -> Duration {
        Duration::from_nanos(self.services[usize::try_from(op).unwrap()])
    }
}

fn open_loop(arrivals: &[u64]) -> RunConfig {
    let listed: Vec<Instant> = arrivals.iter().copied().map(Instant::from_nanos).collect();
    let arrivals = ArrivalProcess::Listed(listed.into());
    RunConfig { workload: Workload { arrivals, ops: None, duration: None }, ..RunConfig::default() }
}

fn closed_loop(in_flight: u32, ops: u64) -> RunConfig {
    let arrivals = ArrivalProcess::Closed { in_flight };
    RunConfig { workload: Workload { arrivals, ops: Some(ops), duration: None }, ..RunConfig::default() }
}

fn bound(config: &RunConfig, server: &Written) -> u64 {
    let bound = LowerBound::planned(config, Arc::new(server.clone()), 1000).expect("there is one");
    u64::try_from(bound.as_nanos()).unwrap()
}

/// Returns the makespan of serving ops in this order, each as soon as it is there and a slot is free.
fn served_in(order: &[usize], arrivals: &[u64], server: &Written) -> u64 {
    let mut slots = vec![0; server.slots as usize];
    let mut last = 0;
    for &op in order {
        slots.sort_unstable();
        slots[0] = slots[0].max(arrivals[op] + server.there) + server.services[op];
        last = last.max(slots[0]);
    }
    last + server.back - arrivals[0]
}

fn permutations(of: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for item in 0..of {
        let insert = |order: Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, item);
                longer
            })
        };
        all = all.into_iter().flat_map(insert).collect();
    }
    all
}

struct Dice(Draws);

impl Dice {
    fn seeded(seed: u64) -> Self {
        Self(draws(seed, Purpose::Subset, 0, 0))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below the limit")]
    fn below(&mut self, limit: u64) -> u64 {
        (unit(&mut self.0) * limit as f64) as u64
    }

    fn server(&mut self, ops: u64) -> Written {
        let (least, spread) = (self.below(30), [1, 5, 100][usize::try_from(self.below(3)).unwrap()]);
        Written {
            slots: u32::try_from(1 + self.below(3)).unwrap(),
            there: self.below(10),
            back: self.below(10),
            least,
            services: (0..ops).map(|_| least + self.below(spread)).collect(),
        }
    }
}

/// With equal service times, the best order reaches the bound.
#[test]
fn no_order_of_service_beats_the_bound() {
    let orders: Vec<_> = (0..=6).map(permutations).collect();
    let (mut reached, mut equal) = (0, 0);
    for seed in 0..600 {
        let mut dice = Dice::seeded(seed);
        let ops = 1 + dice.below(6);
        let server = dice.server(ops);
        let spread = [1, 20, 100][usize::try_from(dice.below(3)).unwrap()];
        let mut arrivals: Vec<u64> = (0..ops).map(|_| 50 + dice.below(spread)).collect();
        arrivals.sort_unstable();
        let best = orders[arrivals.len()].iter().map(|order| served_in(order, &arrivals, &server)).min();
        let (best, bound) = (best.unwrap(), bound(&open_loop(&arrivals), &server));
        assert!(bound <= best, "{bound} > {best}: {arrivals:?} {server:?}");
        reached += u32::from(bound == best);
        if server.services.iter().all(|service| *service == server.least) {
            assert_eq!(bound, best, "{arrivals:?} {server:?}");
            equal += 1;
        }
    }
    assert!(reached > 300 && equal > 150, "{reached} reached, {equal} of equal services");
}

#[test]
fn the_bound_is_at_least_the_longest_op_and_any_later_work() {
    for seed in 0..300 {
        let mut dice = Dice::seeded(seed);
        let ops = 1 + dice.below(40);
        let server = dice.server(ops);
        let mut arrivals: Vec<u64> = (0..ops).map(|_| dice.below(200)).collect();
        arrivals.sort_unstable();
        let bound = bound(&open_loop(&arrivals), &server);
        let (ways, slots) = (server.there + server.back, u64::from(server.slots));
        for (op, at) in arrivals.iter().enumerate() {
            assert!(bound >= at + server.services[op] + ways - arrivals[0], "{op}: {arrivals:?} {server:?}");
            let work: u64 = server.services[op..].iter().sum();
            assert!(bound >= at + work.div_ceil(slots) + ways - arrivals[0], "{op}: {arrivals:?} {server:?}");
        }
    }
}

#[test]
fn with_equal_services_the_bound_is_first_come_first_served() {
    let server = Written { slots: 2, there: 100, back: 7, least: 500, services: vec![500; 5] };
    // Services begin at 100, 110, 600, 610 and 1100.
    assert_eq!(bound(&open_loop(&[0, 10, 20, 30, 40]), &server), 1600 + 7);
    // No op waits, so the last op alone decides.
    assert_eq!(bound(&open_loop(&[1000, 2000, 3000, 4000, 5000]), &server), 4000 + 607);
}

/// Simulates a client that starts any op at any time, with at most `limit` unfinished ops, and returns its makespan.
/// Ops arrive as places free, in the order of their numbers.
fn some_closed_run(limit: u64, server: &Written, dice: &mut Dice) -> u64 {
    let ops = server.services.len();
    let (mut now, mut arrived, mut last) = (0, 0, 0);
    // Earliest admissions of waiting ops, ends of services, and ends of services whose answers are on their way back.
    let mut waiting: Vec<(usize, u64)> = Vec::new();
    let (mut serving, mut returning): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    loop {
        let (ended, rest) = serving.into_iter().partition(|end| *end <= now);
        serving = rest;
        returning.extend::<Vec<u64>>(ended);
        returning.retain(|end| {
            let over = end + server.back <= now;
            last = if over { now } else { last };
            !over
        });
        while arrived < ops && ((waiting.len() + serving.len() + returning.len()) as u64) < limit {
            waiting.push((arrived, now + server.there));
            arrived += 1;
        }
        let there: Vec<usize> = (0..waiting.len()).filter(|index| waiting[*index].1 <= now).collect();
        if !there.is_empty() && serving.len() < server.slots as usize && dice.below(4) > 0 {
            let chosen = there[usize::try_from(dice.below(there.len() as u64)).unwrap()];
            serving.push(now + server.services[waiting.remove(chosen).0]);
            continue;
        }
        if arrived == ops && waiting.is_empty() && serving.is_empty() && returning.is_empty() {
            return last;
        }
        now += 1;
    }
}

#[test]
fn no_closed_loop_beats_the_bound() {
    let mut close = 0;
    for seed in 0..400 {
        let mut dice = Dice::seeded(seed);
        let ops = 1 + dice.below(9);
        let (limit, server) = (1 + dice.below(4), dice.server(ops));
        let config = closed_loop(u32::try_from(limit).unwrap(), ops);
        let bound = bound(&config, &server);
        for _ in 0..10 {
            let makespan = some_closed_run(limit, &server, &mut dice);
            assert!(bound <= makespan, "{bound} > {makespan}: {limit} places, {server:?}");
            close += u32::from(makespan <= bound + 2);
        }
    }
    assert!(close > 100, "{close} of 4000 runs were as fast as the bound allows");
}

#[test]
fn places_of_a_closed_loop_bound_what_slots_do_not() {
    let server = Written { slots: 50, there: 10, back: 5, least: 0, services: vec![85, 285, 85, 85] };
    // Two places: the first is free at 100, 200 and 300; then all ops have ended.
    assert_eq!(bound(&closed_loop(2, 4), &server), 300);
    assert_eq!(bound(&closed_loop(1, 4), &server), 600);
    assert_eq!(bound(&closed_loop(4, 4), &server), 300);
}

/// The strategy determines the number of ops, ops are conditional writes, or there are none or too many ops.
#[test]
fn unpredictable_runs_have_no_lower_bound() {
    let server = Written { slots: 1, there: 0, back: 0, least: 1, services: vec![1; 10] };
    let none = |config: &RunConfig| LowerBound::planned(config, Arc::new(server.clone()), 1000).is_none();
    let mut timed = closed_loop(2, 10);
    timed.workload.duration = Some(Duration::from_secs(1));
    assert!(none(&timed));
    assert!(none(&RunConfig { kind: OperationKind::ReadModifyWrite, ..open_loop(&[0]) }));
    assert!(none(&open_loop(&[])));
    assert!(LowerBound::planned(&open_loop(&[0, 1, 2]), Arc::new(server.clone()), 2).is_none());
}

/// Returns whether a run's snapshot reports that the bound holds, before its only op's answer and after it.
fn holds(server: Option<ServerSeen>, by_gateway: bool) -> [bool; 2] {
    let costs = Written { slots: 4, there: 0, back: 0, least: 5, services: vec![5] };
    let spec: StrategySpec = "none".parse().unwrap();
    let build = |_| spec.build(1, None);
    let mut run = Run::new(open_loop(&[0]), build, Some(Arc::new(costs))).unwrap();
    let mut snapshot = Snapshot::default();
    let Output::Send(launched) = run.poll_output(Instant::ORIGIN) else { panic!("the op has arrived") };
    let mut look = |run: &Run| {
        run.snapshot(Instant::ORIGIN, &mut snapshot);
        assert_eq!(snapshot.bound_holds, run.optimal_makespan().is_some());
        snapshot.bound_holds
    };
    let before = look(&run);
    let completion = Completion {
        attempt: launched.attempt,
        sent_at: launched.due,
        result: AttemptResult { server, by_gateway, ..AttemptResult::plain(Status::Succeeded) },
    };
    run.handle_input(Instant::from_nanos(5), Input::AttemptEnd(completion));
    [before, look(&run)]
}

/// A changed cap and an answer by a gateway void the bound.
#[test]
fn snapshots_report_conditions_that_void_the_bound() {
    let with_cap = |cap| {
        Some(ServerSeen { busy: 1, cap, took: None, limits: AdvertisedLimits::default(), verdict: None })
    };
    assert_eq!(holds(with_cap(Some(4)), false), [true, true]);
    assert_eq!(holds(None, false), [true, true]);
    assert_eq!(holds(with_cap(Some(5)), false), [true, false], "another cap");
    assert_eq!(holds(None, true), [true, false], "a gateway");
}

#[test]
fn without_a_slot_limit_the_bound_holds_at_any_advertised_cap() {
    let costs = Written { slots: 0, there: 0, back: 0, least: 5, services: vec![5] };
    let bound = LowerBound::new(&open_loop(&[0]), Arc::new(costs)).unwrap();
    assert_eq!([None, Some(3)].map(|cap| bound.holds_at(cap)), [true, true]);
}
