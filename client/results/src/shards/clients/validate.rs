//! Plausibility checks of client shards. After these checks, summing shards neither overflows nor needs unbounded memory, whatever the
//! files contain.

use loadgen_core::{ClientShard, Series};

use super::record::ClientShardRecord;
use crate::document::countable::{beyond, uncountable, words};
use crate::document::run::RunResult;

pub(super) fn impossible(run: &RunResult, shard: &ClientShardRecord) -> Option<String> {
    if let Err(error) = ClientShard::new(shard.index, shard.of) {
        return Some(format!("`shard`: {error}"));
    }
    if !Series::is_width(shard.bucket_ns) {
        return Some(format!("`shard.bucket_ns` is {}, which is not a valid bucket width", shard.bucket_ns));
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
    let of_shard = [
        ("shard", beyond(&own)),
        ("shard.ledger", ledger.and_then(|ledger| beyond(&(&ledger.counts, &ledger.shards)))),
    ];
    let of_shard = of_shard.into_iter().find_map(|(place, count)| Some((place, count?)));
    uncountable(run).or(of_shard).map(|(place, count)| format!("`{place}`: {}", words(count)))
}
