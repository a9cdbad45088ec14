//! Whether a shard of clients can be one: whatever a file says, adding shards up neither overflows nor asks for memory without bound.

use loadgen_core::{ClientShard, Series};
use serde::Serialize;
use serde_json::Value;

use super::record::ClientShardRecord;
use crate::run::RunResult;

/// Beyond this no count can be: sums over all shards that there can be stay far from the greatest number there is.
const MOST: u64 = 1 << 50;

/// What cannot be, in words.
pub(super) fn impossible(run: &RunResult, shard: &ClientShardRecord) -> Option<String> {
    if let Err(error) = ClientShard::new(shard.index, shard.of) {
        return Some(format!("`shard`: {error}"));
    }
    if !Series::is_width(shard.bucket_ns) {
        return Some(format!("`shard.bucket_ns` is {}, and no series has such buckets", shard.bucket_ns));
    }
    let own = [
        shard.in_time.unwrap_or_default(),
        shard.done_in_time,
        shard.gateway_successes,
        shard.advised_retries,
        shard.advice_broken_early.count,
        shard.op_latency.sums.count,
        shard.success_latency.sums.count,
        shard.rejection_latency.sums.count,
        shard.failure_latency.sums.count,
        shard.send_lag.sums.count,
    ];
    let ledger = shard.ledger.as_ref();
    let counts = [
        ("ops", beyond(&run.ops)),
        ("attempts", beyond(&run.attempts)),
        ("failures", beyond(&run.failures)),
        ("given_up_after", beyond(&run.given_up_after)),
        ("generator", beyond(&run.generator)),
        ("shard", beyond(&own)),
        ("shard.ledger", ledger.and_then(|ledger| beyond(&(&ledger.counts, &ledger.shards)))),
    ];
    let told = counts.into_iter().find_map(|(place, count)| Some((place, count?)));
    told.map(|(place, count)| format!("`{place}`: {count} is more than anybody can count"))
}

/// The first number in it that is none of a count.
fn beyond(counts: &impl Serialize) -> Option<u64> {
    fn within(value: &Value) -> Option<u64> {
        match value {
            Value::Number(number) => number.as_u64().filter(|count| *count > MOST),
            Value::Array(list) => list.iter().find_map(within),
            Value::Object(object) => object.values().find_map(within),
            Value::Null | Value::Bool(_) | Value::String(_) => None,
        }
    }
    serde_json::to_value(counts).ok().as_ref().and_then(within)
}
