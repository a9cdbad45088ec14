//! Checks of the command line with `--shard`: the path of the shard's document, and flags that are refused because they concern all runs.

use std::path::PathBuf;

use experiments::runs::shard::Shard;

use crate::args::CheckArgs;
use crate::exit::{Exit, Fatal};
use crate::files::exports::RequestedExport;
use crate::files::output::Output;

const DOCUMENT: &str = "--json";

/// Refuses flags that conflict with `--shard`, and returns the path of the shard's document. Does not touch any file.
pub(crate) fn document<'a>(
    shard: Shard,
    asked: &'a [RequestedExport],
    checks: Option<&CheckArgs>,
) -> anyhow::Result<&'a PathBuf> {
    let refuse = |words: String| Err(Fatal::error(Exit::Usage, words));
    for (format, _) in asked {
        let why = match format.flag {
            DOCUMENT => continue,
            "--csv" | "--html" => "needs all runs, and a shard has only some; give it to `loadgen merge`",
            "--hdr" => {
                "needs the latency of every op, which shards do not contain; leave it out, or run without `--shard`"
            }
            _ => {
                "needs the attempts of all runs, and a shard has only some; leave it out, or run without `--shard`"
            }
        };
        return refuse(format!("`{}` {why}", format.flag));
    }
    if let Some(flag) = checks.and_then(CheckArgs::first_given) {
        return refuse(format!(
            "`{flag}` checks all runs, but a shard has only some; give it to `loadgen merge`"
        ));
    }
    match asked.iter().find(|(format, _)| format.flag == DOCUMENT) {
        Some((_, path)) => Ok(path),
        None => refuse(format!(
            "`--shard {shard}` prints nothing by itself; add `--json FILE` for `loadgen merge`"
        )),
    }
}

pub(crate) fn output(path: &std::path::Path) -> anyhow::Result<Output> {
    Output::prepare(path, DOCUMENT)
}
