//! `loadgen merge`: of the documents of shards the one that a single machine would have written. Which kind of shards they are says who
//! puts them together.

pub(crate) mod args;
mod clients;
mod documents;
mod tasks;

use std::process::ExitCode;

use results::ShardKind;

use crate::exit::{Exit, Fatal};
use args::MergeArgs;
use documents::Shards;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let shards = Shards::of(&args.files)?.ok_or_else(|| Fatal::error(Exit::Usage, "no shard is given"))?;
    match shards.kind() {
        ShardKind::Tasks => tasks::merge(args, shards),
        ShardKind::Clients => clients::merge(args, shards),
    }
}

#[cfg(test)]
mod tests;
