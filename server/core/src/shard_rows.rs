//! Request counts for the shards (parts) of a run's clients. Each shard has one row, and the total number of rows is limited.

use std::collections::BTreeMap;

use vocabulary::wire::{MAX_SHARDS, ServerCounts, ShardRow};

use crate::account::Account;

#[derive(Clone, Debug, Default)]
pub(crate) struct ShardRows(BTreeMap<u16, Account>);

impl ShardRows {
    /// Applies a change to the row of this shard. If the shard has no row, a row is created, but only if `shard` is below [`MAX_SHARDS`]
    /// and `left` is not zero. `left` is the number of rows that may still be created. If no row can be created, the change is dropped.
    /// Readers of the counts notice this, because the row is missing.
    pub(crate) fn update(&mut self, shard: u16, left: &mut usize, change: impl Fn(&mut Account)) {
        if let Some(row) = self.0.get_mut(&shard) {
            return change(row);
        }
        if u32::from(shard) >= MAX_SHARDS || *left == 0 {
            return;
        }
        *left -= 1;
        change(self.0.entry(shard).or_default());
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn rows(&self) -> Vec<ShardRow> {
        let row = |(shard, account): (&u16, &Account)| {
            let ServerCounts { received, reads, reads_rejected, accepted, rejected, failed, .. } =
                account.counts;
            let shard = u32::from(*shard);
            ShardRow { shard, received, reads, reads_rejected, accepted, rejected, failed }
        };
        self.0.iter().map(row).collect()
    }
}
