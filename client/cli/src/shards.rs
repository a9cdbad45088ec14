//! Shards of a command: checks of the command line, and the line that a shard prints.

use experiments::runs::shard::Shard;
use results::ShardRecord;

use crate::args::CheckArgs;
use crate::exit::{Exit, Fatal};
use crate::files::exports::RequestedExport;
use crate::text::figures::{counted, thousands};
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

const DOCUMENT: &str = "--json";
/// Maximum number of missing blocks that are named.
const NAMED: usize = 10;

/// Refuses flags that conflict with `--shard`. Does not touch any file.
pub(crate) fn refuse_conflicts(
    shard: Option<Shard>,
    asked: &[RequestedExport],
    checks: Option<&CheckArgs>,
) -> anyhow::Result<()> {
    let Some(shard) = shard else { return Ok(()) };
    let refuse = |words: String| Err(Fatal::error(Exit::Usage, words));
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
pub(crate) fn own(shard: Option<Shard>, blocks: usize) -> usize {
    shard.map_or(blocks, |shard| usize::try_from(shard.own(blocks as u64)).unwrap_or(usize::MAX))
}

pub(crate) fn record(shard: Shard, blocks: usize) -> ShardRecord {
    ShardRecord { index: shard.index(), of: shard.of(), blocks: blocks as u64 }
}

/// Prints how many of its blocks a shard has done, and which are missing.
pub(crate) fn report(shard: &ShardRecord, done: u64) {
    let ShardRecord { index, of, blocks } = *shard;
    let own = blocks.saturating_sub(index.into()).div_ceil(of.into());
    let missing: Vec<String> =
        (done..own).take(NAMED).map(|place| (u64::from(index) + place * u64::from(of)).to_string()).collect();
    let more = (own.saturating_sub(done)).saturating_sub(NAMED as u64);
    let missing = match (missing.len(), more) {
        (0, _) => String::new(),
        (1, 0) => format!("; block {} is missing", missing[0]),
        (_, 0) => format!("; blocks {} are missing", missing.join(", ")),
        (..) => format!("; blocks {}, {more} more are missing", missing.join(", ")),
    };
    let text = format!(
        "shard {index}/{of}: {} of its {} done, of {} in all shards{missing}; `loadgen merge` makes a result of all {of}",
        thousands(done),
        counted(own, "block"),
        thousands(blocks)
    );
    to_stderr(&format!("{}\n", wrapped(&text, "", "  ")));
}
