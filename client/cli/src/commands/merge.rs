//! `loadgen merge`: turns documents of one command that have different seeds, or the documents of its shards, into the document of the whole
//! command.

pub(crate) mod args;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use experiments::runs::past::Past;
use experiments::runs::virtual_time::series_points;
use experiments::servers::server_under_test::ServerUnderTest;
use experiments::{Experiment, restored};
use results::{Axis, Incomplete, MergePart, Merged, MergedCommand, MergedPoint, Mode, RunResult, Score};

use crate::args::{CheckArgs, ExplainArgs, ReportArgs, ScreenArgs};
use crate::commands::{compare, run, sweep};
use crate::exit::{Exit, Fatal};
use crate::files::exports::RequestedExport;
use crate::files::reading::{LARGE, text_of};
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;
use args::MergeArgs;

/// Maximum number of runs that a merge iterates over, including missing ones.
const MAX_RUNS: usize = 100_000_000;

pub(crate) fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    refuse_own_inputs(args)?;
    if args.together {
        return together(args);
    }
    let parts = args.files.iter().map(|path| part(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let merged = results::merged(parts, env!("CARGO_PKG_VERSION"))
        .map_err(|error| Fatal::error(Exit::Usage, error.to_string()))?;
    if !merged.missing.is_empty() {
        let missing = merged.missing.join(", and ");
        if !args.partial {
            let words = format!("{missing}; `--partial` merges the blocks that are complete");
            return Err(Fatal::error(Exit::Usage, words));
        }
        to_stderr(&format!("{}\n", wrapped(&format!("incomplete: {missing}"), "warning: ", "         ")));
    }
    let command = merged.command;
    let is_partial = merged.incomplete.is_some();
    let gaps = merged.seeds.windows(2).any(|pair| pair[0].wrapping_add(1) != pair[1]);
    if gaps && !args.report.quiet {
        let seeds: Vec<String> = merged.seeds.iter().map(ToString::to_string).collect();
        to_stderr(&format!("{}\n", wrapped(&format!("seeds {}", seeds.join(", ")), "note: ", "      ")));
    }
    let merging = Merging::new(args, merged)?;
    let code = match command {
        MergedCommand::Run => run::merged(merging)?,
        MergedCommand::Compare => compare::merged(merging)?,
        MergedCommand::Sweep => {
            if let Some(flag) = CheckArgs::first_given(&args.checks) {
                let words = format!(
                    "`{flag}` checks runs of a single point, but these are documents of a sweep; leave it out"
                );
                return Err(Fatal::error(Exit::Usage, words));
            }
            sweep::merged(merging)?
        }
    };
    Ok(if is_partial && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

/// Adds up runs that sent their load together. With `--partial`, files that cannot be read are left out, because their machine is lost.
fn together(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let (mut parts, mut lost) = (Vec::new(), Vec::new());
    for path in &args.files {
        match part(path) {
            Ok(part) => parts.push(part),
            Err(error) if args.partial => lost.push(error),
            Err(error) => return Err(error),
        }
    }
    for error in &lost {
        to_stderr(&format!("{}\n", wrapped(&format!("left out: {error:#}"), "warning: ", "         ")));
    }
    let mut run = results::together(parts, env!("CARGO_PKG_VERSION"))
        .map_err(|error| Fatal::error(Exit::Usage, error.to_string()))?;
    if !lost.is_empty() {
        let (lost, all) = (lost.len(), args.files.len());
        run.warnings
            .insert(0, format!("{lost} of {all} documents could not be read, so their load is missing"));
    }
    let code = run::merged(Merging::of_run(args, run)?)?;
    Ok(if !lost.is_empty() && code == ExitCode::SUCCESS { Exit::Unmet.into() } else { code })
}

fn part(path: &Path) -> anyhow::Result<(String, MergePart)> {
    let (name, text) = document(path)?;
    let part = MergePart::read(&text).map_err(|error| refusal(&name, &error))?;
    Ok((name, part))
}

fn document(path: &Path) -> anyhow::Result<(String, String)> {
    let name = path.display().to_string();
    match text_of(path, LARGE) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Fatal::because(Exit::Usage, format!("`{name}` cannot be read"), error)),
    }
}

fn refusal(name: &str, error: &impl std::fmt::Display) -> anyhow::Error {
    Fatal::error(Exit::Usage, format!("`{name}` cannot be merged: {error}"))
}

fn changed(error: anyhow::Error) -> anyhow::Error {
    let words = "these documents cannot be merged, because one was changed or is of another version";
    Fatal::because(Exit::Usage, words, error)
}

/// Refuses to overwrite a document that is an input, because it could not be merged again.
fn refuse_own_inputs(args: &MergeArgs) -> anyhow::Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    for (format, output) in args.asked() {
        let Some(there) = place(&output) else { continue };
        if args.files.iter().any(|file| place(file).as_ref() == Some(&there)) {
            let flag = if format.flag == "--json" { "--output" } else { format.flag };
            let words = format!(
                "`{}` ({flag}) is one of the documents that are merged; write to another file",
                output.display()
            );
            return Err(Fatal::error(Exit::Usage, words));
        }
    }
    Ok(())
}

/// Input of a command that reports on merged runs: the runs, their experiments, and the requested outputs.
pub(crate) struct Merging {
    pub(crate) mode: Mode,
    pub(crate) by: String,
    pub(crate) is_sensitive: bool,
    pub(crate) axes: Vec<Axis>,
    pub(crate) labels: Vec<String>,
    /// Values of the varied parameters, experiments and server of each point.
    pub(crate) points: Vec<(Vec<String>, Vec<Experiment>, ServerUnderTest)>,
    pub(crate) past: Past,
    /// Start time of the first run; `None` in virtual time.
    pub(crate) began: Option<String>,
    pub(crate) incomplete: Option<Incomplete>,
    pub(crate) asked: Vec<RequestedExport>,
    pub(crate) checks: CheckArgs,
    pub(crate) output: ReportArgs,
    pub(crate) explain: ExplainArgs,
}

impl Merging {
    fn of_run(args: &MergeArgs, run: RunResult) -> anyhow::Result<Self> {
        let mut bare = run.clone();
        bare.config.merged.clear();
        let restored =
            restored::experiment(&bare).and_then(|experiment| Ok((experiment, restored::server(&bare)?)));
        let (experiment, server) = restored.map_err(changed)?;
        Ok(Self {
            mode: run.mode,
            by: String::new(),
            is_sensitive: false,
            axes: Vec::new(),
            labels: Vec::new(),
            points: vec![(Vec::new(), vec![experiment], server)],
            began: run.started_at.clone(),
            past: Past::new(vec![Some(Box::new(run))]),
            incomplete: None,
            asked: args.asked(),
            checks: args.checks.clone(),
            output: args.report.clone(),
            explain: args.explain,
        })
    }

    fn new(args: &MergeArgs, merged: Merged) -> anyhow::Result<Self> {
        let Merged { command, mode, by, is_sensitive, axes, labels, mut seeds, mut points, .. } = merged;
        if command != MergedCommand::Sweep {
            // Without a grid, a seed without runs is as if it had not been asked for.
            let is_there: Vec<bool> = (0..seeds.len())
                .map(|seed| points.iter().flat_map(|point| &point.runs).any(|runs| runs[seed].is_some()))
                .collect();
            let keep = |index: usize| is_there[index];
            seeds = seeds
                .into_iter()
                .enumerate()
                .filter(|(index, _)| keep(*index))
                .map(|(_, seed)| seed)
                .collect();
            for runs in points.iter_mut().flat_map(|point| &mut point.runs) {
                let old = std::mem::take(runs);
                *runs = old
                    .into_iter()
                    .enumerate()
                    .filter(|(index, _)| keep(*index))
                    .map(|(_, run)| run)
                    .collect();
            }
        }
        let runs = points.iter().map(|point| point.runs.iter().map(Vec::len).sum::<usize>()).sum::<usize>();
        if runs > MAX_RUNS || u32::try_from(seeds.len()).is_err() {
            let words = format!("{runs} runs are too many; merge at most {MAX_RUNS}");
            return Err(Fatal::error(Exit::Usage, words));
        }
        let all_runs = || points.iter().flat_map(|point| &point.runs).flatten().flatten();
        let earliest = all_runs().min_by_key(|run| seeds.iter().position(|seed| *seed == run.seed));
        let command_line = without_seeds(earliest.map_or(&[], |run| &run.config.command_line));
        let seeds: std::sync::Arc<[u64]> = seeds.into();
        let of_point =
            |point: &MergedPoint| -> anyhow::Result<(Vec<String>, Vec<Experiment>, ServerUnderTest)> {
                let experiment = |runs: &Vec<Option<Box<RunResult>>>| -> anyhow::Result<Experiment> {
                    let first = runs.iter().flatten().next().context("a strategy has no run")?;
                    let mut experiment = restored::experiment(first)?;
                    experiment.run.seed = seeds[0];
                    experiment.repeats = u32::try_from(seeds.len())?;
                    experiment.merged_seeds = Some(seeds.clone());
                    experiment.command_line.clone_from(&command_line);
                    Ok(experiment)
                };
                let experiments = point.runs.iter().map(experiment).collect::<anyhow::Result<_>>()?;
                let first = point.runs.iter().flatten().flatten().next().context("a point has no run")?;
                Ok((point.at.clone(), experiments, restored::server(first)?.with_seed(seeds[0])))
            };
        let restored = points.iter().map(of_point).collect::<anyhow::Result<_>>().map_err(changed)?;
        let of_file = series_points(u32::try_from(runs).unwrap_or(u32::MAX));
        for run in points.iter_mut().flat_map(|point| &mut point.runs).flatten().flatten() {
            let config = &mut run.config;
            config.command_line.clone_from(&command_line);
            config.repeats = u32::try_from(seeds.len())?;
            if ["simulated", "embedded"].contains(&&*config.server) {
                config.server_model = config.server_model.take().map(|model| model.with_seed(seeds[0]));
            }
            if mode == Mode::Simulated {
                run.thin(of_file);
            }
        }
        let mut in_order = Vec::with_capacity(runs);
        for MergedPoint { runs, .. } in &mut points {
            if command == MergedCommand::Sweep {
                let blocks = 0..seeds.len();
                in_order.extend(
                    blocks.flat_map(|seed| runs.iter_mut().map(|runs| runs[seed].take()).collect::<Vec<_>>()),
                );
            } else {
                in_order.extend(runs.iter_mut().flat_map(std::mem::take));
            }
        }
        Ok(Self {
            mode,
            by,
            is_sensitive,
            axes,
            labels,
            points: restored,
            past: Past::new(in_order),
            began: merged.began,
            incomplete: merged.incomplete,
            asked: args.asked(),
            checks: args.checks.clone(),
            output: args.report.clone(),
            explain: args.explain,
        })
    }

    /// Returns screen flags that turn off the dashboard, because the runs to merge are already complete.
    pub(crate) fn screen() -> ScreenArgs {
        ScreenArgs { no_tui: true, theme: crate::args::Theme::Auto }
    }

    pub(crate) fn score(&self) -> anyhow::Result<Score> {
        Score::at(&self.by).ok_or_else(|| {
            Fatal::error(Exit::Usage, format!("`by`: strategies cannot be ranked by `{}`", self.by))
        })
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.mode == Mode::Simulated
    }

    /// Returns the only point of a comparison, with its runs.
    #[expect(clippy::type_complexity, reason = "the experiments with their server, and the runs")]
    pub(crate) fn point(
        self,
    ) -> anyhow::Result<((Vec<Experiment>, ServerUnderTest), Past, Option<Incomplete>)> {
        let Ok([(_, experiments, server)]) = <[_; 1]>::try_from(self.points) else {
            return Err(Fatal::error(Exit::Usage, "these documents have runs at several points"));
        };
        Ok(((experiments, server), self.past, self.incomplete))
    }
}

/// Returns a command line without the flags in which the merged documents differ.
fn without_seeds(words: &[String]) -> Vec<String> {
    const FLAGS: [&str; 2] = ["--seed", "--repeats"];
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if FLAGS.contains(&word.as_str()) {
            words.next();
        } else if !FLAGS.iter().any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
        {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests;
