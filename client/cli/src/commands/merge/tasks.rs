//! Merge of run shards, each of which executed some of the runs of one command. The runs are checked, assembled, and passed to the code of
//! this command. The command continues as if it had executed all runs itself.

use std::process::ExitCode;

use results::{Assembled, Assembly, Incomplete, ReadShard, ShardedCommand};

use super::args::MergeArgs;
use super::documents::{Shards, refusal};
use crate::args::CheckArgs;
use crate::commands::{compare, run, sweep};
use crate::exit::{Exit, Fatal};
use crate::shards::kept::{SpoolRange, Texts};
use crate::shards::merging::Merging;
use crate::text::figures::{counted, thousands};
use crate::text::shards::named;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

pub(super) fn merge(args: &MergeArgs, documents: Shards<'_>) -> anyhow::Result<ExitCode> {
    let (mut assembly, mut texts) = (Assembly::new(env!("CARGO_PKG_VERSION")), Texts::default());
    let mut began: Option<String> = None;
    for document in documents {
        let (name, text) = document?;
        let shard = ReadShard::read(&text).map_err(|error| refusal(&name, &error))?;
        began = began.into_iter().chain(shard.began.clone()).min();
        assembly.take(name, shard, |text| texts.keep(text))?;
    }
    let whole = assembly.whole()?;
    let incomplete = whole.incomplete();
    if let Some(incomplete) = &incomplete {
        let missing = missing(&whole, incomplete);
        if !args.partial {
            let words = format!("{missing}; `--partial` merges the runs that exist");
            return Err(Fatal::error(Exit::Usage, words));
        }
        if whole.tasks.is_empty() {
            return Err(Fatal::error(Exit::Usage, format!("{missing}, so there is nothing to merge")));
        }
        to_stderr(&format!("{}\n", wrapped(&format!("incomplete: {missing}"), "warning: ", "         ")));
    }
    let merging = Merging {
        plan: whole.plan,
        texts,
        places: whole.tasks,
        began,
        incomplete,
        asked: args.asked(),
        checks: args.checks.clone(),
        output: args.report.clone(),
        explain: args.explain,
    };
    let partial = merging.incomplete.is_some();
    let code = match merging.plan.command {
        ShardedCommand::Run => run::merged(merging)?,
        ShardedCommand::Compare => compare::merged(merging)?,
        ShardedCommand::Sweep => {
            if let Some(flag) = CheckArgs::first_given(&args.checks) {
                let words = format!(
                    "`{flag}` checks runs of a single point, but these are shards of a sweep; leave it out"
                );
                return Err(Fatal::error(Exit::Usage, words));
            }
            sweep::merged(merging)?
        }
    };
    Ok(if partial && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

fn missing(whole: &Assembled<SpoolRange>, incomplete: &Incomplete) -> String {
    let mut words = Vec::new();
    let shards = &incomplete.missing_shards;
    if !shards.is_empty() {
        let (noun, verb) = if shards.len() == 1 { ("shard", "is") } else { ("shards", "are") };
        words.push(format!("{noun} {} {verb} missing", named(shards, whole.of)));
    }
    for (file, lacks) in &whole.cut_off {
        words.push(format!("`{file}` was cut off and lacks {}", counted(*lacks, "run")));
    }
    let (missing, tasks) = (thousands(incomplete.missing_tasks), counted(incomplete.tasks, "run"));
    format!("{} ({missing} of {tasks})", words.join(", and "))
}
