//! Record of one client shard, stored beside its result: its part of the clients, and the values that can be summed exactly.

use loadgen_core::{ClientCount, ClientShard, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocabulary::Instant;
use vocabulary::wire::{ServerStats, ShardRow};

use super::latency_record::{LatencyRecord, SumsRecord, attempts_per_op};

/// One shard of a run's clients.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClientShardRecord {
    /// What the whole was divided by.
    pub kind: ClientsKind,
    /// Which shard, from 0: client c belongs to shard c mod `of`.
    pub index: u32,
    /// How many shards there are.
    pub of: u32,
    /// The id that all shards of the run share, 16 hexadecimal digits.
    pub run: String,
    /// When it was to start, and when it did.
    pub start: StartRecord,
    /// The first op's arrival, in nanoseconds of the experiment since the common start, as all instants here.
    pub first_arrival_ns: Option<u64>,
    /// The last success.
    pub last_success_ns: Option<u64>,
    /// The last end of an op.
    pub last_end_ns: Option<u64>,
    /// Ops that succeeded within the deadline; null without one.
    pub in_time: Option<u64>,
    /// Ops that count as done in time.
    pub done_in_time: u64,
    /// Attempts that somebody between client and mockserver answered, and that succeeded.
    pub gateway_successes: u64,
    /// The width of a bucket of the series.
    pub bucket_ns: u64,
    /// From an op's arrival to its success.
    pub op_latency: LatencyRecord,
    /// Of attempts that succeeded.
    pub success_latency: LatencyRecord,
    /// Of attempts that were rejected.
    pub rejection_latency: LatencyRecord,
    /// Of attempts that failed.
    pub failure_latency: LatencyRecord,
    /// How late attempts were sent.
    pub send_lag: LatencyRecord,
    /// Attempts per op that ended: a histogram of `HdrHistogram` V2, deflated, in base64.
    pub attempts_per_op: String,
    /// Retries of which the server had said when to come.
    pub advised_retries: u64,
    /// By how much those of them came too early that did.
    pub advice_broken_early: SumsRecord,
    /// What every client of the shard got, in the order of their numbers; null where the run has one client only.
    pub clients: Option<ClientColumns>,
    /// A proven lower bound on the makespan of the whole run; null where none is known.
    pub whole_optimal_makespan_s: Option<f64>,
    /// What the mockserver had counted of the whole run when this shard had ended, with a row for each shard; others may have gone on. Null
    /// when the target is no mockserver, or its counts could not be compared.
    pub ledger: Option<ServerStats>,
}

/// Of which shards a result was put together.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct MergedClients {
    /// What the whole was divided by.
    pub kind: Option<ClientsKind>,
    /// How many shards there were.
    pub of: u32,
    /// The id that they shared.
    pub run: String,
    /// Shards that are missing, from 0: with any, this is not the whole, and figures of the server, which counted theirs, are null.
    pub missing: Vec<u32>,
    /// How much later than planned the latest of them was ready, in milliseconds of real time.
    pub late_ms: Option<f64>,
    /// What the server counted of each that is there; empty where it does not tell.
    pub rows: Vec<ShardRow>,
}

/// What the whole was divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientsKind {
    /// By its clients (--client-shard).
    Clients,
}

/// How shards came to start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartedBy {
    /// All waited for one another (--barrier).
    Barrier,
    /// At a time of the calendar (--start-at).
    Time,
}

/// When a shard started.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct StartRecord {
    /// By what.
    pub by: StartedBy,
    /// The planned instant (--start-at), in milliseconds since 1970; null at a barrier, which plans none.
    pub at_unix_ms: Option<u64>,
    /// How much later than planned it was ready, in milliseconds of real time. Its clock runs from the planned instant, so this shows as
    /// send lag.
    pub late_ms: f64,
}

impl StartRecord {
    pub(super) fn planned(&self) -> String {
        match self.at_unix_ms {
            None => "a barrier's".to_owned(),
            Some(ms) => format!("{ms} ms after 1970 began"),
        }
    }
}

/// What clients got, a column for each figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClientColumns {
    /// Ops that arrived.
    pub arrived: Vec<u64>,
    /// Ops that succeeded.
    pub succeeded: Vec<u64>,
    /// The sum of their latencies.
    pub latency_ns: Vec<u64>,
    /// How long they had work.
    pub busy_ns: Vec<u64>,
    /// Since when they had work that was not done at the end.
    pub busy_since_ns: Vec<Option<u64>>,
}

#[derive(Clone, Debug)]
pub struct ShardContext {
    pub shard: ClientShard,
    pub run: u64,
    pub start: StartRecord,
    pub whole_optimal_makespan_s: Option<f64>,
    pub ledger: Option<ServerStats>,
}

impl ClientShardRecord {
    pub fn new(run: &Run, context: ShardContext) -> Self {
        let measured = run.measurements();
        let (advised_retries, early) = measured.advice_sums();
        let nanos = |at: Option<Instant>| at.map(Instant::as_nanos);
        Self {
            kind: ClientsKind::Clients,
            index: context.shard.index(),
            of: context.shard.of(),
            run: format!("{:016x}", context.run),
            start: context.start,
            first_arrival_ns: nanos(measured.first_arrival),
            last_success_ns: nanos(measured.last_success),
            last_end_ns: nanos(measured.last_end),
            in_time: measured.in_time(),
            done_in_time: measured.done_in_time(),
            gateway_successes: measured.gateway_successes,
            bucket_ns: u64::try_from(measured.series.width().as_nanos()).unwrap_or(u64::MAX),
            op_latency: LatencyRecord::new(&measured.op_latency),
            success_latency: LatencyRecord::new(&measured.success_latency),
            rejection_latency: LatencyRecord::new(&measured.rejection_latency),
            failure_latency: LatencyRecord::new(&measured.failure_latency),
            send_lag: LatencyRecord::new(&measured.send_lag),
            attempts_per_op: attempts_per_op(&measured.attempts_per_op),
            advised_retries,
            advice_broken_early: SumsRecord::new(&early),
            clients: measured.clients().map(|counts| ClientColumns::new(&counts.clients)),
            whole_optimal_makespan_s: context.whole_optimal_makespan_s,
            ledger: context.ledger,
        }
    }
}

impl ClientColumns {
    pub(super) fn new(clients: &[ClientCount]) -> Self {
        Self {
            arrived: clients.iter().map(|client| client.arrived).collect(),
            succeeded: clients.iter().map(|client| client.succeeded).collect(),
            latency_ns: clients.iter().map(|client| client.latency_nanos).collect(),
            busy_ns: clients.iter().map(|client| client.busy_nanos).collect(),
            busy_since_ns: clients.iter().map(|client| client.busy_since.map(Instant::as_nanos)).collect(),
        }
    }

    pub(super) fn read(&self) -> Option<Vec<ClientCount>> {
        let Self { arrived, succeeded, latency_ns, busy_ns, busy_since_ns } = self;
        let lengths = [arrived.len(), succeeded.len(), latency_ns.len(), busy_ns.len(), busy_since_ns.len()];
        lengths.iter().all(|length| *length == arrived.len()).then(|| {
            let client = |place: usize| ClientCount {
                arrived: arrived[place],
                succeeded: succeeded[place],
                latency_nanos: latency_ns[place],
                busy_nanos: busy_ns[place],
                busy_since: busy_since_ns[place].map(Instant::from_nanos),
            };
            (0..arrived.len()).map(client).collect()
        })
    }
}
