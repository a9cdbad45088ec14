//! Record of one client shard, stored beside the shard's result. It contains the identity of the shard, and values that can be summed
//! exactly over shards.

use loadgen_core::{ClientCount, ClientShard, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocabulary::Instant;
use vocabulary::wire::{ServerStats, ShardRow};

use super::latency_record::{LatencyRecord, SumsRecord, attempts_per_op};

/// Record of one client shard, which executes a part of the clients of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClientShardRecord {
    pub kind: ClientsKind,
    pub index: u32,
    pub of: u32,
    pub run: String,
    pub start: StartRecord,
    /// Instant at which the first op arrived. All instants of this record are in nanoseconds of the experiment since the common start of
    /// the shards.
    pub first_arrival_ns: Option<u64>,
    /// Instant of the last success of an op, in nanoseconds since the common start of the shards. Null if no op succeeded.
    pub last_success_ns: Option<u64>,
    /// Instant at which the last op ended, in nanoseconds since the common start of the shards. Null if no op ended.
    pub last_end_ns: Option<u64>,
    /// Number of ops that succeeded within the deadline; null without a deadline.
    pub in_time: Option<u64>,
    /// Number of ops that succeeded within the time limit set by the user. Without such a limit, the deadline takes its place; without
    /// either, all successes are counted.
    pub done_in_time: u64,
    /// Number of successful attempts that an intermediary between client and mockserver answered.
    pub gateway_successes: u64,
    /// Width of a bucket of the time series, in nanoseconds.
    pub bucket_ns: u64,
    /// Latencies of successful ops, from an op's arrival to its success.
    pub op_latency: LatencyRecord,
    pub success_latency: LatencyRecord,
    pub rejection_latency: LatencyRecord,
    pub failure_latency: LatencyRecord,
    /// Delays from the instant an attempt was due to the instant it was sent.
    pub send_lag: LatencyRecord,
    /// Attempts per op that ended, as a histogram of `HdrHistogram` V2, deflated, in base64.
    pub attempts_per_op: String,
    /// Number of retries for which the server had advised a time.
    pub advised_retries: u64,
    /// Sums of the times by which retries were sent earlier than the server advised. Other retries are not included.
    pub advice_broken_early: SumsRecord,
    /// Figures of every client of the shard, in the order of client numbers; null if the run has only one client.
    pub clients: Option<ClientColumns>,
    /// Proven lower bound on the makespan of the whole run; null if no bound is known.
    pub whole_optimal_makespan_s: Option<f64>,
    pub ledger: Option<ServerStats>,
}

#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct MergedClients {
    pub kind: Option<ClientsKind>,
    pub of: u32,
    pub run: String,
    pub missing: Vec<u32>,
    pub late_ms: Option<f64>,
    pub rows: Vec<ShardRow>,
}

/// Unit by which the work is divided into client shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientsKind {
    Clients,
}

/// Method by which the client shards of a run start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartedBy {
    Barrier,
    Time,
}

/// Planned and actual start of a client shard.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct StartRecord {
    pub by: StartedBy,
    pub at_unix_ms: Option<u64>,
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

/// Figures of clients: a column for each figure, with one value per client.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct ClientColumns {
    /// Number of ops that arrived, for each client of the shard.
    pub arrived: Vec<u64>,
    /// Number of ops that succeeded, for each client of the shard.
    pub succeeded: Vec<u64>,
    /// Sum of the latencies of the ops that succeeded, in nanoseconds.
    pub latency_ns: Vec<u64>,
    /// Time for which the client had unfinished work, in nanoseconds. The period that was still open at the end of the run is excluded (see
    /// `busy_since_ns`).
    pub busy_ns: Vec<u64>,
    /// Instant since which the client had unfinished work at the end of the run. Null if no work was left.
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
