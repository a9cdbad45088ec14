//! Documents that `loadgen merge` combined, as input of the command that reports on them.

use std::sync::Arc;

use anyhow::Context as _;
use experiments::runs::past::Past;
use experiments::runs::point::{Point, SweepPoint};
use experiments::runs::virtual_time::series_points;
use experiments::{Experiment, restored};
use results::{Incomplete, Merged, MergedCommand, MergedPoint, Mode, RunResult, Score};

use crate::{MergeArgs, MultiArgs, usage, usage_because};

/// Maximum number of runs that a merge iterates over, including missing ones.
const MAX_RUNS: usize = 100_000_000;

/// Input of a command that reports on merged runs.
pub struct Merging<'a> {
    pub args: &'a MergeArgs,
    /// Merged documents. `past` has their runs.
    pub merged: Merged,
    /// Points without their situations, which only a sweep has.
    pub points: Vec<Point>,
    pub past: Past,
}

impl<'a> Merging<'a> {
    /// Makes the experiments of the merged documents again.
    ///
    /// # Errors
    /// Fails if there are too many runs, or if a document cannot be made again.
    pub fn new(args: &'a MergeArgs, mut merged: Merged) -> anyhow::Result<Self> {
        let Merged { common, mode, seeds, points, .. } = &mut merged;
        let is_sweep = common.command == MergedCommand::Sweep;
        if !is_sweep {
            // Without a grid, a seed without runs is as if it had not been asked for.
            let all = || points.iter().flat_map(|point| &point.runs);
            let is_there: Vec<bool> =
                (0..seeds.len()).map(|seed| all().any(|runs| runs[seed].is_some())).collect();
            let mut kept = is_there.iter();
            seeds.retain(|_| kept.next() == Some(&true));
            for runs in points.iter_mut().flat_map(|point| &mut point.runs) {
                let mut kept = is_there.iter();
                runs.retain(|_| kept.next() == Some(&true));
            }
        }
        let runs = points.iter().flat_map(|point| &point.runs).map(Vec::len).sum::<usize>();
        if runs > MAX_RUNS || u32::try_from(seeds.len()).is_err() {
            return Err(usage(format!("{runs} runs are too many; merge at most {MAX_RUNS}")));
        }
        let all_runs = || points.iter().flat_map(|point| &point.runs).flatten().flatten();
        let earliest = all_runs().min_by_key(|run| seeds.iter().position(|seed| *seed == run.seed));
        let command_line = without_seeds(earliest.map_or(&[], |run| &run.config.command_line));
        let seeds: Arc<[u64]> = seeds.as_slice().into();
        let experiment = |runs: &Vec<Option<Box<RunResult>>>| -> anyhow::Result<Experiment> {
            let mut first = runs.iter().flatten().next().context("a strategy has no run")?.clone();
            if args.together {
                first.config.merged.clear();
            }
            let mut experiment = restored::experiment(&first)?;
            experiment.run.seed = seeds[0];
            experiment.repeats = u32::try_from(seeds.len())?;
            experiment.merged_seeds = Some(seeds.clone());
            experiment.command_line.clone_from(&command_line);
            Ok(experiment)
        };
        let of_point = |point: &MergedPoint| -> anyhow::Result<Point> {
            let experiments = point.runs.iter().map(&experiment).collect::<anyhow::Result<_>>()?;
            let first = point.runs.iter().flatten().flatten().next().context("a point has no run")?;
            let server_under_test = restored::server(first)?.with_seed(seeds[0]);
            let situation = SweepPoint::default();
            Ok(Point { situation, at: point.at.clone(), experiments, server_under_test })
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
            if *mode == Mode::Simulated {
                run.thin(of_file);
            }
        }
        let mut in_order = Vec::with_capacity(runs);
        for MergedPoint { runs, .. } in points {
            if is_sweep {
                for seed in 0..seeds.len() {
                    in_order.extend(runs.iter_mut().map(|runs| runs[seed].take()));
                }
            } else {
                in_order.extend(runs.iter_mut().flat_map(std::mem::take));
            }
        }
        Ok(Self { args, points: restored, past: Past::new(in_order), merged })
    }

    /// Sets flags of a comparison or a sweep. The dashboard is off, because the runs are already complete.
    pub fn set(&self, several: &mut MultiArgs) -> anyhow::Result<()> {
        several.simulate = self.is_simulated();
        let by = &self.merged.common.by;
        several.by =
            Score::at(by).ok_or_else(|| usage(format!("`by`: strategies cannot be ranked by `{by}`")))?;
        several.screen.no_tui = true;
        several.output = self.args.report.clone();
        several.explain = self.args.explain;
        Ok(())
    }

    pub fn is_simulated(&self) -> bool {
        self.merged.mode == Mode::Simulated
    }

    /// Returns the only point of a comparison, its runs, and what is missing in them.
    pub fn point(self) -> anyhow::Result<(Point, (Past, Option<Incomplete>))> {
        let Ok([point]) = <[Point; 1]>::try_from(self.points) else {
            return Err(usage("these documents have runs at several points"));
        };
        Ok((point, (self.past, self.merged.incomplete)))
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

fn changed(error: anyhow::Error) -> anyhow::Error {
    let words = "these documents cannot be merged, because one was changed or is of another version";
    usage_because(words, error)
}
