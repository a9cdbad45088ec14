//! Ops of several kinds and with several keys, in virtual time: servers count by the details of requests, and clients apply the
//! rules for each method.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadgen_core::{ArrivalProcess, OperationKind, Requests, Run, RunConfig, Sample, Workload};
use loadgen_sim::{Simulation, Steer};
use mockserver_core::Config;
use tailback::{Status, StrategySpec};
use wire::ServerCounts;

fn config(mix: &str, api_keys: u32, kind: OperationKind) -> RunConfig {
    let mix = Some(mix).filter(|mix| !mix.is_empty()).map(|mix| mix.parse().expect("a mix"));
    let requests = Requests { mix, api_keys: NonZero::new(api_keys), ..Requests::default() };
    let arrivals = ArrivalProcess::Uniform { rate_per_s: 100.0 };
    RunConfig {
        workload: Workload { arrivals, ops: Some(1000), duration: None },
        requests,
        kind,
        ..RunConfig::default()
    }
}

/// Runs this experiment and returns the server's counts and the attempts of each op.
fn run(strategy: &str, config: RunConfig, policy: &str) -> (ServerCounts, BTreeMap<u64, Vec<Status>>) {
    let kind = config.kind;
    let spec: StrategySpec = strategy.parse().expect("a strategy");
    let spec = match &config.requests.mix {
        Some(mix) => spec.with_methods(mix.kinds().iter().map(loadgen_core::RequestKind::rules_method)),
        None => spec,
    };
    let retry_after = Some(Duration::from_secs(1));
    let server = Config { policy: policy.parse().expect("a policy"), retry_after, ..Config::default() };
    server.validate().expect("a configuration");
    let mut client = Run::new(config, |_| spec.build(1, None), None).expect("it starts");
    let samples = Arc::new(Mutex::new(Vec::<Sample>::new()));
    let sink = samples.clone();
    client.record_samples(Box::new(move |sample| sink.lock().expect("nobody panics").push(*sample)));
    let finished = Simulation::with_method(client, kind, 1, server, "PUT").run(|_, _| Steer::On);
    let conservation = finished.run.conservation(Some(&finished.server.counts));
    assert!(conservation.holds(), "{:?}", conservation.mismatches);
    let mut attempts: BTreeMap<u64, Vec<Status>> = BTreeMap::new();
    for sample in samples.lock().expect("nobody panics").iter() {
        attempts.entry(sample.op).or_default().push(sample.status);
    }
    (finished.server.counts, attempts)
}

fn accepted(mix: &str, api_keys: u32, policy: &str) -> u64 {
    run("none", config(mix, api_keys, OperationKind::Request), policy).0.accepted
}

/// A rate so low that hardly any token returns during the run.
const BUCKET: &str = "token-bucket:rate=0.0001/s,burst=10";

#[test]
fn a_server_counts_by_key_method_path_and_cost() {
    let by = |more: &str| format!("{BUCKET},{more}");
    assert_eq!(accepted("", 0, BUCKET), 10);
    assert_eq!(accepted("", 7, BUCKET), 10, "nobody asks for the key");
    assert_eq!(accepted("", 7, &by("key=header:authorization")), 70);
    assert_eq!(accepted("", 0, &by("key=header:authorization")), 10, "nobody has one");
    assert_eq!(accepted("GET /a; POST /a; GET /b", 0, &by("key=method")), 20);
    assert_eq!(accepted("GET /a; POST /a; GET /b", 0, &by("key=path:1")), 20);
    assert_eq!(accepted("GET /a; POST /a; GET /b", 3, &by("key=method&header:authorization")), 60);
    assert_eq!(accepted("GET /a", 0, &by("key=address")), 10, "all are on this machine");
    assert_eq!(accepted("GET /a cost=5", 0, &by("cost=header:x-tailback-cost|1")), 2);
    assert_eq!(accepted("GET /a", 0, &by("cost=header:x-tailback-cost|1")), 10);
    assert_eq!(accepted("PUT /a", 0, &by("cost=PUT 5|1")), 2);
    assert_eq!(accepted("", 0, &by("cost=PUT 5|1")), 2, "the run's own method");
}

#[test]
fn what_a_request_turns_out_to_cost_comes_back() {
    let policy = format!("{BUCKET},cost=header:x-tailback-cost,refund=header:x-tailback-used");
    // One op at a time: each charges 5 and refunds 4, until fewer than 5 are left.
    let mut config = config("GET /a cost=5 used=1", 0, OperationKind::Request);
    config.workload.arrivals = ArrivalProcess::Closed { in_flight: 1 };
    assert_eq!(run("none", config, &policy).0.accepted, 6);
}

#[test]
fn halves_of_conditional_writes_have_methods_of_their_own() {
    let policy = format!("{BUCKET},key=method");
    let (counts, _) = run("none", config("", 0, OperationKind::ReadModifyWrite), &policy);
    // Ten reads pass, and the bucket of writes has ten more tokens.
    assert_eq!((counts.reads - counts.reads_rejected, counts.received), (10, 10));
}

#[test]
fn a_client_retries_only_the_methods_its_rules_allow() {
    let config = config("GET /a; POST /b", 0, OperationKind::Request);
    let mix = config.requests.mix.clone().expect("it was typed");
    let seed = config.seed;
    let (_, attempts) = run("preset:urllib3", config, BUCKET);
    // A few ops are served on a retry.
    let is_rejected = |statuses: &&Vec<Status>| statuses.last() == Some(&Status::Rejected);
    let (gets, posts): (Vec<_>, Vec<_>) =
        attempts.iter().partition(|(op, _)| &*mix.kinds()[mix.kind_of(seed, **op)].method == "GET");
    let gets: Vec<usize> = gets.into_iter().map(|(_, all)| all).filter(is_rejected).map(Vec::len).collect();
    let posts: Vec<usize> = posts.into_iter().map(|(_, all)| all).filter(is_rejected).map(Vec::len).collect();
    assert!(gets.len() > 100 && gets.iter().all(|attempts| *attempts == 4), "{gets:?}");
    assert!(posts.len() > 100 && posts.iter().all(|attempts| *attempts == 1), "{posts:?}");
}
