//! Tests of every policy that is a stage, through the whole server: advised waits are exact, and a request is charged once or not at all.

#[path = "support/drain.rs"]
mod drain;
#[path = "support/regressions.rs"]
mod regressions;

use std::sync::Arc;
use std::time::Duration;

use mockserver_core::{
    Answer, Config, Input, POLICIES, Policies, Request, RequestFields, RequestId, Server, ServerDecision,
    Step,
};
use proptest::prelude::*;
use vocabulary::{Distribution, Instant};

use drain::drain;
use regressions::kept_in;

/// Stages with limits that a few requests reach. Policies of [`Kind::Other`] take no charging rule.
const STAGES: &[(&str, Kind, &[&str])] = &[
    ("concurrency-cap", Kind::Other, &[""]),
    ("concurrency", Kind::Other, &["cap=2"]),
    (
        "token-bucket",
        Kind::RateAlgorithm,
        &["rate=30/s,burst=4", "rate=7/min,burst=3", "rate=2/50ms,burst=5,refill=stepwise"],
    ),
    ("gcra", Kind::RateAlgorithm, &["rate=30/s,burst=4", "rate=1000000/h,burst=3"]),
    (
        "leaky-queue",
        Kind::Queue,
        &["rate=30/s,burst=3", "rate=100/min,burst=4,delay=2", "rate=7/s,burst=3,delay=unlimited"],
    ),
    ("reserve", Kind::Queue, &["rate=30/s,burst=3", "rate=1/3s,burst=4"]),
    ("fixed-window", Kind::RateAlgorithm, &["limit=4,window=70ms", "limit=4,window=70ms,align=first"]),
    ("daily", Kind::RateAlgorithm, &["limit=4", "limit=4,align=first"]),
    ("sliding-counter", Kind::RateAlgorithm, &["limit=4,window=70ms"]),
    ("sliding-log", Kind::RateAlgorithm, &["limit=4,window=70ms"]),
    (
        "growing-rate",
        Kind::RateAlgorithm,
        &[
            "start=3,by=1,most=6,per=60ms,every=70ms,idle=300ms",
            "start=3,by=2,most=9,per=300ms,every=50ms,idle=1s",
        ],
    ),
    ("growing-concurrency", Kind::Other, &["start=1,by=1,most=2,every=50ms,idle=90ms"]),
    (
        "penalty",
        Kind::Other,
        &[
            "lock=150ms then gcra:rate=30/s,burst=4",
            "lock=80ms,early=prolong then fixed-window:limit=4,window=70ms",
            "lock=60ms,early=only,ban-after=3,ban=1s then sliding-log:limit=4,window=70ms",
        ],
    ),
    ("random", Kind::Other, &["p=0.3"]),
    ("slow-down", Kind::Other, &["knee=1"]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Admits them at once or rejects them.
    RateAlgorithm,
    /// May make them wait.
    Queue,
    /// Charges nothing.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    AtOnce,
    AfterAWait,
    /// With the advised wait.
    Rejected(Option<Duration>),
    /// Reached the script behind the policy.
    Answered,
}

/// Arrival time of a request, and whether it is a `POST`, which costs 3.
type Arrival = (Instant, bool);

fn any_arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0), 0..2_000_000_u64, 0..400_000_000_u64];
    prop::collection::vec((gap, prop::bool::weighted(0.3)), 1..30).prop_map(|arrivals| {
        let mut at = 0;
        let arrivals = arrivals.into_iter().map(|(gap, is_post)| {
            at += gap;
            (Instant::from_nanos(at), is_post)
        });
        arrivals.collect()
    })
}

/// Returns the outcomes of requests with a service time of zero, in their order.
fn outcomes(policy: &str, arrivals: &[Arrival]) -> Vec<Outcome> {
    let config = Config {
        policy: policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}")),
        service_time: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    };
    let mut server = Server::new(config);
    let mut outcomes = vec![Outcome::Rejected(None); arrivals.len()];
    let mut note = |answer: Answer| {
        let index = answer.id.0 as usize;
        outcomes[index] = match answer.verdict {
            _ if answer.reply.is_some() => Outcome::Answered,
            ServerDecision::Accepted if answer.at == arrivals[index].0 => Outcome::AtOnce,
            ServerDecision::Accepted => Outcome::AfterAWait,
            _ => Outcome::Rejected(answer.advice),
        };
    };
    for (index, (at, is_post)) in arrivals.iter().enumerate() {
        drain(&mut server, *at, &mut note);
        let id = RequestId(u32::try_from(index).expect("few"));
        let request = Request { id, run: None, seed: 1, op: index as u64, attempt: 1, step: Step::Work };
        let method = if *is_post { "POST" } else { "GET" };
        let details =
            Arc::new(RequestFields { method: method.into(), path: "/".into(), ..RequestFields::default() });
        server.handle(*at, Input::Arrive { request, least: 0, details: Some(details) });
    }
    drain(&mut server, Instant::FAR_FUTURE, note);
    outcomes
}

/// Returns every stage of the list with its parameters, and with this charging rule if it takes any.
fn stages(rule: &str) -> impl Iterator<Item = (Kind, String)> {
    STAGES.iter().flat_map(move |(name, kind, all)| {
        let written = all.iter().map(move |parameters| match kind {
            Kind::Other if parameters.is_empty() => (*name).to_owned(),
            Kind::Other => format!("{name}:{parameters}"),
            Kind::RateAlgorithm | Kind::Queue => format!("{name}:{parameters},cost=POST 3|1{rule}"),
        });
        written.map(move |text| (*kind, text))
    })
}

#[test]
fn every_stage_is_looked_at() {
    let is_stage = |name: &str| format!("{name} then gcra").parse::<Policies>().is_ok();
    let stages = POLICIES.iter().map(|entry| entry.name).filter(|name| is_stage(name));
    assert_eq!(stages.collect::<Vec<_>>(), STAGES.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..kept_in(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proptest-regressions/charges.txt")) })]

    /// A request that returns after the advised wait passes, if no other arrived in between. A nanosecond earlier it does not.
    #[test]
    fn waits_are_exact(arrivals in any_arrivals(), rule in prop::sample::select(vec!["", ",own=yes", ",charged=answer", ",refund=50%"])) {
        for (kind, policy) in stages(rule) {
            // If a waiting request is charged or refunded at its answer, that happens later than earlier advice assumed.
            if kind == Kind::Queue && [",charged=answer", ",refund=50%"].contains(&rule) {
                continue;
            }
            for (index, outcome) in outcomes(&policy, &arrivals).into_iter().enumerate() {
                let Outcome::Rejected(Some(wait)) = outcome else { continue };
                let (at, is_post) = arrivals[index];
                let again = |at: Instant| {
                    let mut arrivals = arrivals[..=index].to_vec();
                    arrivals.push((at, is_post));
                    outcomes(&policy, &arrivals).pop()
                };
                let in_time = again(at + wait);
                let passes = matches!(in_time, Some(Outcome::AtOnce | Outcome::AfterAWait));
                prop_assert!(passes, "{policy}: {wait:?} at {at} is too short");
                prop_assert!(wait > Duration::ZERO, "{policy} at {at}");
                let early = again(Instant::from_nanos((at + wait).as_nanos() - 1));
                // A nanosecond early, the request is rejected with another wait, or would have to wait.
                prop_assert!(early != in_time && early != Some(Outcome::AtOnce), "{policy}: {wait:?} at {at} is too long");
            }
        }
    }

    /// A request that a later policy rejects stays charged as if it had been accepted, or is refunded as if it had never arrived.
    #[test]
    fn charges_are_kept_or_come_back(arrivals in any_arrivals(), rule in prop::sample::select(vec!["", ",own=yes", ",charged=answer"])) {
        let charging = |rule: &str| {
            stages(rule).filter(|(kind, _)| *kind != Kind::Other).collect::<Vec<_>>()
        };
        for ((_, policy), (_, kept)) in charging(rule).into_iter().zip(charging(&format!("{rule},later=keep"))) {
            let alone = outcomes(&policy, &arrivals);
            let kept = outcomes(&format!("{kept} then script:steps=503"), &arrivals);
            for (alone, kept) in alone.iter().zip(&kept) {
                let passes = matches!(alone, Outcome::AtOnce | Outcome::AfterAWait);
                prop_assert!(passes == (*kept == Outcome::Answered), "{policy}: {alone:?} and {kept:?}");
            }
        }
        // A waiting request holds its charge until it is rejected, so only laws are tested here. A request that would be charged at its
        // answer is charged nothing if that is a rejection.
        let back = charging("").into_iter().filter(|(kind, _)| *kind == Kind::RateAlgorithm);
        let late = charging(",charged=answer").into_iter();
        for (_, policy) in back.chain(late) {
            let all = outcomes(&format!("{policy} then script:steps=503"), &arrivals);
            prop_assert!(all.iter().all(|outcome| *outcome == Outcome::Answered), "{policy}: {all:?}");
        }
    }
}
