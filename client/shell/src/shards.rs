//! Shards of a command: checks of the command line, and the line that a shard prints.

use experiments::runs::shard::Shard;
use results::ShardRecord;

use crate::files::exports::RequestedExport;
use crate::text::{counted, thousands, to_stderr, wrapped};
use crate::{CheckArgs, usage};

const DOCUMENT: &str = "--json";

/// Refuses flags that conflict with `--shard`. Does not touch any file.
pub fn refuse_conflicts(
    shard: Option<Shard>,
    asked: &[RequestedExport],
    checks: Option<&CheckArgs>,
) -> anyhow::Result<()> {
    let Some(shard) = shard else { return Ok(()) };
    let refuse = |words: String| Err(usage(words));
    for (format, _) in asked {
        let why = match format.flag {
            DOCUMENT => continue,
            "--csv" | "--html" => "needs all runs, and a shard has only some; give it to `loadgen merge`",
            "--hdr" => {
                "needs the latency of every op, which documents do not contain; leave it out, or run without `--shard`"
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
    if asked.is_empty() {
        return refuse(format!(
            "`--shard {shard}` prints nothing by itself; add `--json FILE` for `loadgen merge`"
        ));
    }
    Ok(())
}

/// Returns the number of blocks that this program does.
pub fn own(shard: Option<Shard>, blocks: usize) -> usize {
    shard.map_or(blocks, |shard| usize::try_from(shard.record(blocks).own()).unwrap_or(usize::MAX))
}

/// Prints how many of its blocks a shard has done, and which are missing.
pub fn report(shard: &ShardRecord, done: u64) {
    let ShardRecord { index, of, blocks } = *shard;
    let lacking = shard.lacking(done).map(|blocks| format!("; it lacks {blocks}")).unwrap_or_default();
    let text = format!(
        "shard {index}/{of}: {} of its {} done, of {} in all shards{lacking}; `loadgen merge` makes a result of all {of}",
        thousands(done),
        counted(shard.own(), "block"),
        thousands(blocks)
    );
    to_stderr(&format!("{}\n", wrapped(&text, "", "  ")));
}
