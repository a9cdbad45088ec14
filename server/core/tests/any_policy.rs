//! Property test over all policies: no request is lost, answered twice or left hanging.

#[path = "support/regressions.rs"]
mod regressions;

use std::sync::Arc;

use mockserver_core::{
    Config, Input, Output, POLICIES, Policies, Request, RequestFields, RequestId, Schedule, Server, Step,
};
use proptest::prelude::*;
use vocabulary::{Distribution, Instant};

use regressions::kept_in;

/// Returns every policy of the list, and some configurations that reject or crash often.
fn any_policy() -> impl Strategy<Value = Policies> {
    prop_oneof![any_single(), any_stack()].prop_map(|text| text.parse().expect("policies"))
}

fn any_single() -> impl Strategy<Value = String> {
    let mut texts: Vec<&str> = POLICIES.iter().map(|entry| entry.name).collect();
    texts.extend([
        "overwhelmed-queue:capacity=2,limit=3",
        "overwhelmed-queue:tick=7ms,capacity=1,service=2,reject=3,limit=2,subset=random",
        "descriptor-pool:descriptors=70,restart=100ms,startup=10ms,startup-slope=5ms,failed-start=0s",
        "descriptor-pool:descriptors=10",
        "script:steps=503|close|200;429 retry-after:@date%2B3|reset:after|truncate x:1 body:a",
        "descriptor-pool:per-process=0,per-connection=0,startup=0s,startup-slope=0s,restart=0s",
    ]);
    prop::sample::select(texts).prop_map(str::to_owned)
}

/// Returns one to three stages with every charging rule, optionally followed by a policy that serves requests itself.
fn any_stack() -> impl Strategy<Value = String> {
    let gates = prop::sample::select(vec![
        "concurrency-cap",
        "concurrency:cap=1,queue=2,queue-timeout=30ms",
        "concurrency:cap=2,queue=1,order=lifo,cost=2",
        "concurrency:queue=3,queue-timeout=60ms,cost=header:x-cost",
        "concurrency:cap=3,queue=4,queue-timeout=40ms,order=lifo,cost=header:x-cost,key=method",
        "token-bucket:rate=20/s,burst=2",
        "token-bucket:rate=1/50ms,burst=3,refill=stepwise,cost=2,refund=50%",
        "gcra:rate=30/s,burst=1",
        "gcra:rate=20/s,burst=4,cost=header:x-cost,refund=50%",
        "fixed-window:limit=2,window=100ms,align=first",
        "sliding-counter:limit=3,window=70ms",
        "sliding-log:limit=2,window=70ms",
        "leaky-queue:rate=30/s,burst=2",
        "leaky-queue:rate=50/s,burst=4,delay=2,cost=2",
        "reserve:rate=20/s,burst=2",
        "daily:limit=5",
        "growing-rate:start=1,by=1,most=3,per=50ms,every=60ms,idle=200ms",
        "growing-concurrency:start=1,by=1,most=3,every=60ms,idle=200ms",
        "random:p=0.3",
        "slow-down:knee=1,factor=2",
        "penalty:lock=40ms",
        "penalty:lock=20ms,early=prolong,ban-after=5,ban-window=100ms,ban=200ms",
        "penalty:lock=10ms,early=only,ban-after=3,ban-window=1s,ban=50ms",
    ]);
    let charged =
        prop::sample::select(vec!["", ",own=yes", ",later=keep", ",charged=answer", ",own=yes,later=keep"]);
    let gate = (gates, charged).prop_map(|(gate, charged)| match gate {
        _ if ["concurrency", "growing-conc", "penalty", "random", "slow"]
            .iter()
            .any(|name| gate.starts_with(name)) =>
        {
            gate.to_owned()
        }
        gate => format!("{gate}{charged}"),
    });
    let servers = vec![
        "",
        " then overwhelmed-queue:capacity=2,limit=3",
        " then descriptor-pool",
        " then script:steps=503|200",
    ];
    (prop::collection::vec(gate, 1..4), prop::sample::select(servers)).prop_map(|(gates, server)| {
        // A policy that serves requests itself has its own service times, which `slow-down` cannot extend.
        let slows = gates.iter().any(|gate| gate.starts_with("slow-down"));
        gates.join(" then ") + if slows { "" } else { server }
    })
}

fn any_config() -> impl Strategy<Value = Config> {
    let time = || prop::sample::select(vec!["0s", "3ms", "50ms", "exp(20ms)"]);
    let outages = prop::sample::select(vec!["", "100ms..300ms,1s..2s"]);
    let faults =
        vec!["", "reset:20%,hang:10%,slow-headers(70ms):20%,500:20%:after,hang:5%:after,slow-body(1s):5%"];
    let faults = prop::sample::select(faults);
    let times = [time(), time(), time(), time()];
    let caps = prop::sample::select(vec!["", "", "30ms=1,90ms=5", "100ms=4,200ms=1,250ms=2"]);
    let disturbed = (outages, faults, any_changes(), caps);
    (any_policy(), 1..4_u32, times, disturbed, 0..2_u32, any::<bool>()).prop_map(
        |(policy, max_busy, times, (outages, faults, changes, caps), reject_first, rejects_occupy)| {
            let [service_time, reject_time, network_delay, return_delay] =
                times.map(|text| text.parse::<Distribution>().expect("a time"));
            let config = Config {
                max_busy,
                service_time,
                reject_time,
                network_delay,
                return_delay,
                outages: outages.parse().expect("outages"),
                fault: faults.parse().expect("faults"),
                reject_first,
                rejects_occupy,
                schedule: followed(&policy, max_busy, &changes),
                policy,
                ..Config::default()
            };
            // The schedule may set the cap, too, and then `caps` must be empty.
            let with_caps = Config { caps: caps.parse().expect("caps"), ..config.clone() };
            if with_caps.validate().is_ok() { with_caps } else { config }
        },
    )
}

/// Returns changes of which only those apply whose policy is present.
fn any_changes() -> impl Strategy<Value = Vec<&'static str>> {
    let changes = [
        "5ms max-busy=1",
        "20ms..400ms max-busy=1..5",
        "10ms..200ms token-bucket.rate=1..300",
        "30ms token-bucket.burst=1",
        "15ms.. gcra.rate=50+49*sin(120ms)",
        "40ms gcra.burst=3",
        "10ms..900ms leaky-queue.rate=200..5",
        "20ms..70ms reserve.rate=10..90",
        "20ms..120ms concurrency.cap=1..4",
        "60ms concurrency.order=lifo",
        "35ms fixed-window.limit=1",
        "45ms sliding-counter.window=30ms",
        "55ms sliding-log.limit=1",
        "25ms growing-rate.most=2000",
        "25ms growing-concurrency.most=3000",
        "50ms..80ms down",
    ];
    prop::sample::subsequence(changes.to_vec(), 0..6)
}

fn followed(policy: &Policies, max_busy: u32, changes: &[&str]) -> Schedule {
    let begins = |change: &&str| change.split("ms").next().and_then(|ms| ms.parse::<u32>().ok());
    let mut kept: Vec<&str> = Vec::new();
    for change in changes {
        let config = Config {
            policy: policy.clone(),
            max_busy,
            schedule: change.parse().expect("an entry"),
            ..Config::default()
        };
        if config.validate().is_ok() {
            kept.push(change);
        }
    }
    kept.sort_by_key(begins);
    kept.join(";").parse().expect("a schedule")
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Work),
        1 => Just(Step::Read),
        1 => (0..3_u64).prop_map(|if_match| Step::Write { if_match }),
    ]
}

#[derive(Clone, Debug)]
enum Action {
    /// Id, step, and the cost that the request states, if any.
    Arrive(u32, Step, Option<u32>),
    Cancel(u32),
    Configure(Box<Config>),
    Reset,
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0..8_u32, any_step(), prop::option::of(0..5_u32))
            .prop_map(|(id, step, cost)| Action::Arrive(id, step, cost)),
        2 => (0..8_u32).prop_map(Action::Cancel),
        1 => any_config().prop_map(|config| Action::Configure(config.into())),
        1 => Just(Action::Reset),
    ]
}

fn costing(request: Request, cost: u32) -> Input {
    let headers = vec![("x-cost".into(), cost.to_string().into())];
    let method = if cost.is_multiple_of(2) { "GET" } else { "POST" }.into();
    let details = RequestFields { method, headers, ..RequestFields::default() };
    Input::Arrive { request, least: 0, details: Some(Arc::new(details)) }
}

/// Takes every due answer at the instants that the server returns, and marks its id as answered.
fn drain(server: &mut Server, until: Instant, open: &mut [bool]) -> Result<(), TestCaseError> {
    let (mut now, mut last) = (Instant::ORIGIN, Instant::ORIGIN);
    loop {
        match server.poll(now) {
            Output::Answer(answer) => {
                prop_assert!(std::mem::take(&mut open[answer.id.0 as usize]), "an answer to nobody");
                prop_assert!(answer.at >= last && answer.at <= now.max(until), "answers out of order");
                last = answer.at;
            }
            Output::WaitUntil(at) if at <= until => {
                prop_assert!(at > now || now == Instant::ORIGIN, "the server hangs at {now}");
                now = at;
            }
            Output::WaitUntil(_) | Output::Idle => return Ok(()),
        }
    }
}

proptest! {
    #![proptest_config(kept_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proptest-regressions/any_policy.txt")))]

    #[test]
    fn nothing_is_lost_and_nothing_hangs(
        config in any_config(),
        actions in prop::collection::vec((any_action(), 0..150_u64), 1..80),
    ) {
        let mut server = Server::new(config);
        let (mut now, mut open, mut attempt, mut cancelled) = (0, [false; 8], 0, 0);
        for (action, wait) in actions {
            now += wait;
            let at = Instant::from_millis(now);
            drain(&mut server, at, &mut open)?;
            match action {
                Action::Arrive(id, step, cost) if !open[id as usize] => {
                    open[id as usize] = true;
                    attempt += 1;
                    let id = RequestId(id);
                    let request = Request { id, run: Some(1), seed: 1, op: u64::from(id.0), attempt, step };
                    server.handle(at, cost.map_or(Input::Arrive { request, least: 0, details: None }, |cost| costing(request, cost)));
                }
                Action::Cancel(id) if open[id as usize] => {
                    open[id as usize] = false;
                    cancelled += 1;
                    server.handle(at, Input::Cancel(RequestId(id)));
                }
                Action::Configure(config) => server.handle(at, Input::Configure(config)),
                Action::Reset => server.handle(at, Input::Reset),
                _ => {}
            }
            drain(&mut server, at, &mut open)?;
        }
        drain(&mut server, Instant::FAR_FUTURE, &mut open)?;
        prop_assert_eq!(open, [false; 8]);
        prop_assert_eq!(server.poll(Instant::FAR_FUTURE), Output::Idle);
        prop_assert_eq!(server.busy(), 0);
        let counts = server.stats(Instant::FAR_FUTURE, Some(1)).counts;
        let decided = counts.accepted + counts.rejected + counts.failed;
        let adds_up = decided <= counts.received && counts.received <= decided + cancelled;
        prop_assert!(adds_up, "{:?}", counts);
    }
}
