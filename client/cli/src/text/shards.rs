//! Summary lines of a run whose clients were divided among several programs.

use std::fmt::Write as _;

use results::{ClientShardRecord, MergedClients, RunResult};
use vocabulary::wire::ShardRow;

use crate::text::figures::{milliseconds, thousands};

/// Maximum number of shards that a summary line lists one by one.
const NAMED: usize = 10;

pub(super) fn share(shard: &ClientShardRecord) -> String {
    let ClientShardRecord { index, of, run, start, .. } = shard;
    let mut text = format!("{index}/{of} of run {run}   ready {} late", milliseconds(start.late_ms));
    if let Some(row) = row(shard) {
        let [received, accepted, rejected] = [row.received, row.accepted, row.rejected].map(thousands);
        let _ = write!(text, "   server: {received} received   {accepted} accepted   {rejected} rejected");
    }
    text
}

pub(super) fn together(merged: &MergedClients) -> String {
    let MergedClients { of, run, missing, late_ms, .. } = merged;
    let there = (*of as usize).saturating_sub(missing.len());
    let mut text = format!("{there} of {of} of run {run}");
    if let Some(late_ms) = late_ms {
        let _ = write!(text, "   ready {} late at most", milliseconds(*late_ms));
    }
    if !missing.is_empty() {
        let _ = write!(text, "   without the clients of {}", named(missing, *of));
    }
    text
}

pub(crate) fn named(shards: &[u32], of: u32) -> String {
    let mut named: Vec<String> = shards.iter().take(NAMED).map(|index| format!("{index}/{of}")).collect();
    if shards.len() > NAMED {
        named.push(format!("{} more", thousands((shards.len() - NAMED) as u64)));
    }
    named.join(", ")
}

/// Returns the number of attempts that the server received from the clients of this result, including rejected reads. `None` if unknown.
pub(super) fn received(result: &RunResult) -> Option<u64> {
    let of_row = |row: &ShardRow| row.received + row.reads_rejected;
    if let Some(server) = &result.server {
        return Some(server.received + server.reads_rejected);
    }
    if let Some(shard) = &result.shard {
        return row(shard).map(of_row);
    }
    let rows = &result.merged.as_ref()?.rows;
    (!rows.is_empty()).then(|| rows.iter().map(of_row).sum())
}

fn row(shard: &ClientShardRecord) -> Option<&ShardRow> {
    shard.ledger.iter().flat_map(|ledger| &ledger.shards).find(|row| row.shard == shard.index)
}
