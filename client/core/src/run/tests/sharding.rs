//! Shards of a run's clients, which together equal the whole run, whatever happens in each of them.

use std::num::NonZero;
use std::time::Duration;

use proptest::prelude::*;
use tailback::Status;

use super::{Bench, closed};
use crate::client_shard::ClientShard;
use crate::requests::Requests;
use crate::run::Output;
use crate::workload::{ArrivalProcess, RunConfig, Workload};

/// Number of an op, its arrival, its client, and its randomly drawn key.
type Seen = (u64, u64, u32, Option<u32>);

/// Returns all ops of the run in the order of sending; every attempt is answered at once.
fn ops(config: &RunConfig) -> Vec<Seen> {
    let mut bench = Bench::new("none", config.clone());
    let mut now = super::ms(0);
    let mut seen = Vec::new();
    let mut output = bench.poll(now);
    while output != Output::Done {
        if let Output::WaitUntil(at) = output
            && bench.sent.is_empty()
        {
            now = at;
        }
        output = bench.poll(now);
        while !bench.sent.is_empty() {
            let sent = bench.sent[0];
            let key = config.requests.api_key_of(config.seed, sent.op);
            seen.push((sent.op, sent.due.as_nanos(), sent.client, key));
            output = bench.answer(now, Status::Succeeded);
        }
    }
    bench.assert_conserved();
    let arrived = bench.run.measurements().ops.arrived;
    assert_eq!(arrived, seen.len() as u64);
    seen
}

fn arrivals() -> impl Strategy<Value = ArrivalProcess> {
    prop_oneof![
        (1.0..5000.0).prop_map(|rate_per_s| ArrivalProcess::Poisson { rate_per_s }),
        (1.0..5000.0).prop_map(|rate_per_s| ArrivalProcess::Uniform { rate_per_s }),
        Just(ArrivalProcess::Burst),
    ]
}

proptest! {
    #[test]
    fn ops_of_shards_are_a_partition_of_those_of_the_whole(
        seed in any::<u64>(),
        arrivals in arrivals(),
        count in 1..200_u64,
        lasts in prop::option::of(1..200_u64),
        clients in 1..12_u32,
        shards in 1..12_u32,
    ) {
        let shards = shards.min(clients);
        let duration = lasts.map(Duration::from_millis);
        let requests = Requests { api_keys: NonZero::new(7), ..Requests::default() };
        let workload = Workload { arrivals, ops: Some(count), duration };
        let whole = RunConfig { seed, workload, requests, clients, ..RunConfig::default() };
        let mut together: Vec<Seen> = Vec::new();
        for index in 0..shards {
            let shard = ClientShard::new(index, shards).unwrap();
            let own = ops(&RunConfig { shard, ..whole.clone() });
            prop_assert!(own.iter().all(|(_, _, client, _)| client % shards == index));
            if duration.is_none() {
                prop_assert_eq!(own.len() as u64, shard.ops(count, clients), "as many as are foretold");
            }
            together.extend(own);
        }
        together.sort_unstable();
        let mut whole = ops(&whole);
        whole.sort_unstable();
        prop_assert_eq!(together, whole);
    }
}

/// The strategy is built with the global id of the client.
#[test]
fn each_client_of_the_shard_has_its_own_instance() {
    let mut asked = Vec::new();
    let workload = Workload { arrivals: ArrivalProcess::Burst, ops: Some(10), duration: None };
    let shard = ClientShard::new(1, 3).unwrap();
    let config = RunConfig { workload, clients: 5, shard, ..RunConfig::default() };
    let spec: tailback::StrategySpec = "fixed-window:window=1".parse().unwrap();
    let strategy = |client| {
        asked.push(client);
        spec.build(1, None)
    };
    let run = crate::run::Run::new(config, strategy, None).unwrap();
    assert_eq!(asked, [1, 4]);
    let mut bench = Bench { run, sent: Vec::new(), cancelled: 0 };
    bench.poll(super::ms(0));
    assert_eq!(bench.ops_out(), [1, 4], "each has a window of its own");
    while !bench.sent.is_empty() {
        bench.answer(super::ms(10), Status::Succeeded);
    }
    let counts = bench.run.measurements().clients().unwrap();
    assert_eq!(counts.clients.iter().map(|client| client.succeeded).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn a_sharded_closed_loop_has_only_its_own_ops() {
    let shard = ClientShard::new(1, 2).unwrap();
    let own = ops(&RunConfig { clients: 4, shard, ..closed(2, 9) });
    assert!(own.iter().all(|(op, ..)| op % 2 == 1), "{own:?}");
    assert_eq!(own.len(), 4);
}
