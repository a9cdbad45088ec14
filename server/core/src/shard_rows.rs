//! What was counted for the shards of a run's clients: a row for each, as many as there is room for.

use std::collections::BTreeMap;

use vocabulary::wire::{MOST_SHARDS, ServerCounts, ShardRow};

use crate::account::Account;

/// The rows of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShardRows(BTreeMap<u16, Account>);

impl ShardRows {
    /// Something is counted for this shard, unless it has no row and `left`, the rows that there is room for, is none. Who asks for its row
    /// and finds none knows.
    pub(crate) fn update(&mut self, shard: u16, left: &mut usize, change: impl Fn(&mut Account)) {
        if let Some(row) = self.0.get_mut(&shard) {
            return change(row);
        }
        if u32::from(shard) >= MOST_SHARDS || *left == 0 {
            return;
        }
        *left -= 1;
        change(self.0.entry(shard).or_default());
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// As clients are told.
    pub(crate) fn told(&self) -> Vec<ShardRow> {
        let row = |(shard, account): (&u16, &Account)| {
            let ServerCounts { received, reads, reads_rejected, accepted, rejected, failed, .. } =
                account.counts;
            let shard = u32::from(*shard);
            ShardRow { shard, received, reads, reads_rejected, accepted, rejected, failed }
        };
        self.0.iter().map(row).collect()
    }
}
