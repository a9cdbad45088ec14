//! Flag of a shard, which is a process that executes only some of the blocks of a command.

use std::env;

use clap::Args;
use experiments::runs::shard::Shard;

/// Variables with the index of a job's task, in the order in which they are looked up. The second name of a pair is the variable with the
/// first index, which is 0 if there is none.
const INDEXES: [(&str, Option<&str>); 3] = [
    ("JOB_COMPLETION_INDEX", None),
    ("SLURM_ARRAY_TASK_ID", Some("SLURM_ARRAY_TASK_MIN")),
    ("AWS_BATCH_JOB_ARRAY_INDEX", None),
];

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Shards")]
pub struct ShardArgs {
    /// Execute only every Nth block, starting at block I (from 0), such as `0/4`, and write the results with `--json`. A block is all
    /// strategies at one point with one seed. `loadgen merge` turns the documents of all shards into the document of the whole command.
    /// `auto/4` takes the index from the environment of an Indexed Job, a Slurm array or an AWS Batch array.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let Some(of) = text.strip_prefix("auto/") else { return text.parse() };
    let text = format!("{}/{of}", index(|name| env::var(name).ok())?);
    text.parse().map_err(|why| format!("`auto` is {text} here; {why}"))
}

fn index(variable: impl Fn(&str) -> Option<String>) -> Result<u64, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = variable(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| format!("`{name}` is `{text}`, which is no index"))
    };
    for (name, first) in INDEXES {
        if let Some(index) = number(name)? {
            let first = first.map_or(Ok(None), number)?.unwrap_or_default();
            return index
                .checked_sub(first)
                .ok_or_else(|| format!("`{name}` is {index}, below the first index {first}"));
        }
    }
    let names: Vec<String> = INDEXES.iter().map(|(name, _)| format!("`{name}`")).collect();
    Err(format!(
        "`auto` needs one of the variables {}; give the index itself, such as `0/4`",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_a_job_is_taken_from_the_first_variable() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> =
                set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            index(move |name| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone()))
        };
        assert_eq!(of(&[("JOB_COMPLETION_INDEX", "3"), ("AWS_BATCH_JOB_ARRAY_INDEX", "7")]), Ok(3));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "11"), ("SLURM_ARRAY_TASK_MIN", "10")]), Ok(1));
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "2")]), Ok(2));
        assert!(of(&[("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_MIN", "3")]).is_err());
        assert!(of(&[("JOB_COMPLETION_INDEX", "x")]).unwrap_err().contains("`JOB_COMPLETION_INDEX` is `x`"));
        let error = of(&[]).unwrap_err();
        assert!(INDEXES.iter().all(|(name, _)| error.contains(name)), "{error}");
    }
}
