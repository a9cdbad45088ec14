//! What is typed beside `--shard`: where its document goes, and what is refused because it is of all runs.

use std::path::PathBuf;

use experiments::runs::shard::Shard;

use crate::args::CheckArgs;
use crate::exit::{Exit, Fatal};
use crate::files::exports::Asked;
use crate::files::output::Output;

/// The flag that names the document.
const DOCUMENT: &str = "--json";

/// Refuses what does not go with a shard, and gives the place of its document. Nothing is touched yet.
pub(crate) fn document<'a>(
    shard: Shard,
    asked: &'a [Asked],
    checks: Option<&CheckArgs>,
) -> anyhow::Result<&'a PathBuf> {
    let refuse = |words: String| Err(Fatal::error(Exit::Usage, words));
    for (format, _) in asked {
        let why = match format.flag {
            DOCUMENT => continue,
            "--csv" | "--html" => "is made of all runs, and a shard has some; give it to `loadgen merge`",
            "--hdr" => {
                "needs the latencies of every op, which are in no shard; leave it out, or run without `--shard`"
            }
            _ => {
                "is of all attempts, and a shard has those of some runs; leave it out, or run without `--shard`"
            }
        };
        return refuse(format!("`{}` {why}", format.flag));
    }
    if let Some(flag) = checks.and_then(CheckArgs::first_given) {
        return refuse(format!("`{flag}` judges all runs, and a shard has some; give it to `loadgen merge`"));
    }
    match asked.iter().find(|(format, _)| format.flag == DOCUMENT) {
        Some((_, path)) => Ok(path),
        None => refuse(format!(
            "`--shard {shard}` prints nothing by itself; add `--json FILE` for `loadgen merge`"
        )),
    }
}

/// Makes sure that the document can be written.
pub(crate) fn output(path: &std::path::Path) -> anyhow::Result<Output> {
    Output::prepare(path, DOCUMENT)
}
