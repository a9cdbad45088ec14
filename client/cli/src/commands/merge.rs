//! `loadgen merge`: of the documents of shards the one that a single machine would have written. Which kind of shards they are says who
//! puts them together.

pub(crate) mod args;
mod documents;
mod tasks;

use std::process::ExitCode;

use results::ShardKind;

use crate::exit::{Exit, Fatal};
use args::MergeArgs;
use documents::{Named, document, refusal};

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let documents: Vec<Named> = args.files.iter().map(|path| document(path)).collect::<Result<_, _>>()?;
    let mut first: Option<(ShardKind, &str)> = None;
    for (name, text) in &documents {
        let kind = ShardKind::of(text).map_err(|error| refusal(name, &error))?;
        let (of_first, named) = *first.get_or_insert((kind, name));
        if kind != of_first {
            let words = format!(
                "`{name}` and `{named}` are shards of another kind: one by runs, the other by clients"
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    match first {
        Some((ShardKind::Tasks, _)) => tasks::merge(args, documents),
        None => Err(Fatal::error(Exit::Usage, "no shard is given")),
    }
}

#[cfg(test)]
mod tests;
