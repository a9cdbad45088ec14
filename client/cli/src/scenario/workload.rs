//! The workload of a scenario: from its keys to what a run is given.

use experiments::workload::{FileError, Spelling, from_table};
use loadgen_core::RunConfig;
use tailback::StrategySpec;
use toml::Table;

use crate::settings::Settings;

/// What runs of this workload are given; an error comes with the key that is to blame.
pub(super) fn settings(
    seed: u64,
    workload: &Table,
    strategy: StrategySpec,
    repeats: u32,
) -> Result<Settings, (String, anyhow::Error)> {
    let spec = from_table(workload).map_err(|error: FileError| (error.key.clone(), error.into()))?;
    let experiment = Settings::new(strategy, &spec, Spelling::Keys)
        .map_err(|error| (error.key.to_owned(), error.into()))?;
    let run = RunConfig { seed, exact_latencies: true, ..experiment.run };
    Ok(Settings { run, repeats, paced: true, ..experiment })
}
