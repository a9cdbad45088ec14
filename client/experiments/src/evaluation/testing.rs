//! Runs for tests of this module: a driver with scripted results, and standings of literal figures.

use std::time::Duration;

use loadgen_core::{Conservation, RunConfig};
use results::{RankedStrategy, RunFigures, RunResult, Score};

use crate::experiment::Experiment;
use crate::runs::blocks::{Blocks, Measured};
use crate::runs::driver::{Driver, Nobody, Outcome, Take, Tasks, Watcher};
use crate::runs::one_run::Finished;
use crate::runs::stop::{Never, Stop};

/// Driver that runs nothing and takes the number of attempts of each run from a function of strategy and seed. A run without attempts
/// completes none of its ten ops.
pub(crate) struct Scripted<F>(pub(crate) F);

impl<F: Fn(&str, u64) -> u64 + Sync> Driver for Scripted<F> {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        for number in (0..tasks.count()).take_while(|_| stop.asked_by().is_none()) {
            let task = tasks.task(number);
            let strategy = task.experiment.strategy.to_string();
            let result = result(&strategy, task.seed, self.0(&strategy, task.seed));
            let outcome = Outcome { finished: finished(result), bins: None, took: Duration::ZERO };
            watcher.on_over(number, &outcome);
            take(number, outcome)?;
        }
        Ok(())
    }
}

pub(crate) fn experiment(strategy: &str, seed: u64, repeats: u32) -> Experiment {
    let run = RunConfig { seed, ..RunConfig::default() };
    Experiment { repeats, ..Experiment::of_run(strategy.parse().unwrap(), run) }
}

pub(crate) fn measured(blocks: Blocks<'_>, driver: &dyn Driver, by: Score) -> Measured {
    let figures: Vec<_> = RunFigures::ranked(by).collect();
    blocks.run(driver, &Never, &Nobody, &figures, &mut |_| ()).unwrap()
}

pub(crate) fn standings_of(attempts: &[(&str, Vec<u64>)]) -> Vec<RankedStrategy> {
    let given: Vec<_> = attempts
        .iter()
        .map(|(strategy, attempts)| {
            let runs: Vec<RunResult> =
                (1..).zip(attempts).map(|(seed, attempts)| result(strategy, seed, *attempts)).collect();
            ((*strategy).to_owned(), RunFigures::new(RunFigures::ranked(Score::attempts()), &runs))
        })
        .collect();
    results::standings(&given, Score::attempts(), 1)
}

/// Returns a result of ten ops, done within as many seconds as there are attempts; without attempts, none is done.
fn result(strategy: &str, seed: u64, attempts: u64) -> RunResult {
    let succeeded = if attempts == 0 { 0 } else { 10 };
    let text = format!(
        r#"{{"schema_version": 1, "mode": "simulated", "strategy": "{strategy}", "seed": {seed},
             "ops": {{"total": 10, "succeeded": {succeeded}, "given_up": {}}}, "attempts": {{"total": {attempts}}},
             "makespan_s": {attempts}.0, "makespan_complete": {}}}"#,
        10 - succeeded,
        succeeded == 10
    );
    serde_json::from_str(&text).unwrap()
}

fn finished(result: RunResult) -> Finished {
    Finished {
        result,
        conservation: Conservation { mismatches: Vec::new(), server_compared: false },
        generator_share: None,
        answered: true,
        last_arrived: None,
        bottleneck: false,
        latencies: None,
    }
}
