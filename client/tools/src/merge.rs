//! `loadgen merge`: turns documents of one command that have different seeds, or the documents of its shards, into the document of the whole
//! command.

use std::path::Path;
use std::process::ExitCode;

use results::{MergePart, MergedCommand};
use shell::files::reading::{LARGE, text_of};
use shell::text::labelled_to_stderr;
use shell::{CheckArgs, Exit, MergeArgs, Merging, usage, usage_because};

pub(crate) const EXAMPLES: &str = r"Examples:
  loadgen compare --simulate -s aimd,full-jitter --json 1.json
  loadgen compare --simulate -s aimd,full-jitter --seed 11 --json 2.json
  loadgen merge 1.json 2.json -o all.json --html all.html
      The bytes of one command with 20 seeds, but for the command line.
  loadgen merge shard-*.json --fail-if 'amplification of aimd > 1.2'
      The shards of one command (`--shard 0/2`, `--shard 1/2`), checked together.
  loadgen merge --partial shard-*.json -o partial.json
      Although a shard is missing; the result is marked incomplete (exit code 1).
  loadgen merge --together a.json b.json -o all.json
      Two machines sent their load at the same time, each with its own seed.

The documents must be of the same command and version, with equal conditions and different seeds.

Exit codes: those of the merged command; 1 also with --partial if something is missing; 2 a document is broken, of another command, or repeats a run, or a shard or block is missing: nothing is written.";

/// Function with which a command reports on merged documents of its runs.
type Reporter = fn(Merging<'_>) -> anyhow::Result<ExitCode>;

pub(crate) fn run(args: &MergeArgs, reporter: fn(MergedCommand) -> Reporter) -> anyhow::Result<ExitCode> {
    refuse_own_inputs(args)?;
    let (mut parts, mut lost) = (Vec::new(), 0);
    for path in &args.files {
        match part(path) {
            Ok(part) => parts.push(part),
            // The machine of one of several loads is lost.
            Err(error) if args.together && args.partial => {
                labelled_to_stderr("warning: ", &format!("left out: {error:#}"));
                lost += 1;
            }
            Err(error) => return Err(error),
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    let merged =
        if args.together { results::together(parts, lost, version) } else { results::merged(parts, version) };
    let merged = merged.map_err(usage)?;
    if !merged.missing.is_empty() {
        let missing = merged.missing.join(", and ");
        if !args.partial {
            return Err(usage(format!("{missing}; `--partial` merges the blocks that are complete")));
        }
        labelled_to_stderr("warning: ", &format!("incomplete: {missing}"));
    }
    let command = merged.common.command;
    let is_partial = lost > 0 || merged.incomplete.is_some();
    let gaps = merged.seeds.windows(2).any(|pair| pair[0].wrapping_add(1) != pair[1]);
    if gaps && !args.report.quiet {
        let seeds: Vec<String> = merged.seeds.iter().map(ToString::to_string).collect();
        labelled_to_stderr("note: ", &format!("seeds {}", seeds.join(", ")));
    }
    let merging = Merging::new(args, merged)?;
    if command == MergedCommand::Sweep
        && let Some(flag) = CheckArgs::first_given(&args.checks)
    {
        return Err(usage(format!(
            "`{flag}` checks runs of a single point, but these are documents of a sweep; leave it out"
        )));
    }
    let code = reporter(command)(merging)?;
    Ok(if is_partial && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

fn part(path: &Path) -> anyhow::Result<(String, MergePart)> {
    let name = path.display().to_string();
    let text =
        text_of(path, LARGE).map_err(|error| usage_because(format!("`{name}` cannot be read"), error))?;
    let part =
        MergePart::read(&text).map_err(|error| usage(format!("`{name}` cannot be merged: {error}")))?;
    Ok((name, part))
}

/// Refuses to overwrite a document that is an input, because it could not be merged again.
fn refuse_own_inputs(args: &MergeArgs) -> anyhow::Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    for (format, output) in args.asked() {
        let Some(there) = place(&output) else { continue };
        if args.files.iter().any(|file| place(file).as_ref() == Some(&there)) {
            let flag = if format.flag == "--json" { "--output" } else { format.flag };
            return Err(usage(format!(
                "`{}` ({flag}) is one of the documents that are merged; write to another file",
                output.display()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
