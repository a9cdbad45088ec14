//! `loadgen merge`: turns the documents of shards into the document that a single machine would have written. Shards of runs and shards of
//! clients are merged in different ways.

pub(crate) mod args;
mod clients;
mod documents;
mod tasks;

use std::path::Path;
use std::process::ExitCode;

use results::ShardKind;

use crate::exit::{Exit, Fatal};
use args::MergeArgs;
use documents::Shards;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    refuse_own_inputs(args)?;
    let shards = Shards::new(&args.files)?.ok_or_else(|| Fatal::error(Exit::Usage, "no shard is given"))?;
    match shards.kind() {
        ShardKind::Tasks => tasks::merge(args, shards),
        ShardKind::Clients => clients::merge(args, shards),
    }
}

/// Refuses to overwrite a shard document that is an input, because this shard could not be merged again.
fn refuse_own_inputs(args: &MergeArgs) -> anyhow::Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    for (format, output) in args.asked() {
        let Some(there) = place(&output) else { continue };
        if args.files.iter().any(|file| place(file).as_ref() == Some(&there)) {
            let flag = if format.flag == "--json" { "--output" } else { format.flag };
            let words = format!(
                "`{}` ({flag}) is one of the shards that are merged; write to another file",
                output.display()
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
