//! Check that client shards belong to the same run, and search for shards that are missing.

use std::collections::BTreeMap;

use loadgen_core::Mismatch;

use super::record::ClientShardRecord;
use super::validate::impossible;
use crate::conditions::{Conditions, WrittenConditions};
use crate::document::run::RunResult;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientShardError {
    #[error("no shard is given")]
    None,
    #[error("`{file}` is not a client shard of a run; one is written with `--client-shard 0/4 --json FILE`")]
    Whole { file: String },
    #[error("`{file}` and `{first}` are shards of different runs: {what}")]
    Foreign { file: String, first: String, what: String },
    #[error("`{file}` and `{first}` are both shard {index} of {of}; give each once")]
    Doubled { file: String, first: String, index: u32, of: u32 },
    #[error("`{file}` cannot be merged: {what}")]
    Broken { file: String, what: String },
    #[error("`{file}`: ACCOUNTING MISMATCH: {mismatch}")]
    NotConserved { file: String, mismatch: Mismatch },
}

pub(super) struct Part {
    pub(super) file: String,
    pub(super) run: RunResult,
    pub(super) shard: ClientShardRecord,
}

/// Returns the shards of one run in the order of their indexes, and the indexes of the missing shards.
pub(super) fn together(shards: Vec<(String, RunResult)>) -> Result<(Vec<Part>, Vec<u32>), ClientShardError> {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut first: Option<(String, RunResult, ClientShardRecord)> = None;
    for (file, mut run) in shards {
        let Some(shard) = run.shard.take().map(|shard| *shard) else {
            return Err(ClientShardError::Whole { file });
        };
        if let Some(what) = impossible(&run, &shard) {
            return Err(ClientShardError::Broken { file, what });
        }
        match &first {
            None => first = Some((file.clone(), run.clone(), shard.clone())),
            Some((named, there, of)) => {
                if let Some(what) = difference((&run, &shard), (there, of)) {
                    return Err(ClientShardError::Foreign { file, first: named.clone(), what });
                }
            }
        }
        if let Some(Part { file: before, .. }) = parts.get(&shard.index) {
            let (index, of) = (shard.index, shard.of);
            return Err(ClientShardError::Doubled { file, first: before.clone(), index, of });
        }
        parts.insert(shard.index, Part { file, run, shard });
    }
    let Some((.., of)) = first else { return Err(ClientShardError::None) };
    let missing = (0..of.of).filter(|index| !parts.contains_key(index)).collect();
    Ok((parts.into_values().collect(), missing))
}

fn difference(
    (run, shard): (&RunResult, &ClientShardRecord),
    (there, of): (&RunResult, &ClientShardRecord),
) -> Option<String> {
    let differs = |what: &str, here: &str, there: &str| {
        (here != there).then(|| format!("{what} is `{here}` in the first and `{there}` in the second"))
    };
    differs("its version", &run.config.version, &there.config.version)
        .or_else(|| differs("the number of shards", &shard.of.to_string(), &of.of.to_string()))
        .or_else(|| differs("its strategy", &run.strategy, &there.strategy))
        .or_else(|| differs("its seed", &run.seed.to_string(), &there.seed.to_string()))
        .or_else(|| {
            let same = run.config.strategy == there.config.strategy;
            (!same).then(|| "parameters of its strategy differ".to_owned())
        })
        .or_else(|| {
            let there = WrittenConditions::from(&Conditions::from_run(there));
            Conditions::from_run(run).differences(&there).into_iter().next()
        })
        .or_else(|| differs("its run id", &shard.run, &of.run))
        .or_else(|| differs("its common start", &shard.start.planned(), &of.start.planned()))
        .or_else(|| {
            let clients = |shard: &ClientShardRecord| shard.clients.is_some().to_string();
            differs("whether the server distinguishes clients", &clients(shard), &clients(of))
        })
}
