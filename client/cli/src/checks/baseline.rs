//! Baselines: figures of runs, kept to compare later ones with.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;

use anyhow::anyhow;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Subject;
use super::condition::{at, number};
use super::verdict::JUDGED;
use crate::args::{BASELINES, BaselineName};
use crate::exit::{Exit, Fatal};
use crate::files::output::Output;

/// Rises when a baseline can no longer be read as before.
const VERSION: u32 = 1;
/// What tells a baseline from any other JSON.
const KIND: &str = "tailback-baseline";

/// More than any baseline has: a file that is not one must not fill the memory.
const LARGEST_BYTES: u64 = 256 << 20;

/// The figures of every run of one or several strategies, and the experiment that they are of.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Baseline {
    kind: String,
    version: u32,
    /// Everything that must be the same for a comparison to mean anything; the strategies are not part of it.
    experiment: Value,
    /// Figures by path, one value per run; by strategy as typed.
    pub(super) strategies: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>>,
}

impl Baseline {
    /// Keeps what is judged.
    pub(super) fn of(experiment: Value, subjects: &[Subject]) -> Self {
        let figures = |subject: &Subject| {
            let values = |path: &str| subject.runs.iter().map(|run| at(run, path).and_then(number)).collect();
            JUDGED.iter().map(|judged| (judged.path.to_owned(), values(judged.path))).collect()
        };
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            experiment,
            strategies: subjects.iter().map(|subject| (subject.strategy.clone(), figures(subject))).collect(),
        }
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is not there or no baseline; the error names file and place.
    pub(super) fn read(BaselineName(path): &BaselineName) -> anyhow::Result<Self> {
        let shown = path.display();
        let refuse = |why: anyhow::Error| {
            Fatal::because(Exit::Usage, format!("`{shown}` (--baseline) cannot be used"), why)
        };
        let file = File::open(path).map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let why = if missing {
                anyhow!("it is not there; make it with `--save-baseline`")
            } else {
                error.into()
            };
            refuse(why)
        })?;
        // A device may have no length and no end.
        let mut bytes = Vec::new();
        file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.into()))?;
        if bytes.len() as u64 > LARGEST_BYTES {
            return Err(refuse(anyhow!("it is larger than any baseline")));
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| refuse(error.into()))?;
        if value["kind"] != KIND {
            return Err(refuse(anyhow!("it is no baseline; make one with `--save-baseline`")));
        }
        match value["version"].as_u64() {
            Some(version) if version > u64::from(VERSION) => {
                return Err(refuse(anyhow!(
                    "it is a baseline of version {version}, and this program knows versions up to {VERSION}; use a newer one"
                )));
            }
            _ => {}
        }
        serde_json::from_value(value).map_err(|error| refuse(error.into()))
    }

    /// Refuses to compare with another server, seed or workload, and names what differs.
    pub(super) fn refuse_other(&self, name: &BaselineName, experiment: &Value) -> anyhow::Result<()> {
        let mut differences = Vec::new();
        differ("", experiment, &self.experiment, &mut differences);
        if differences.is_empty() {
            return Ok(());
        }
        let words = format!(
            "`{}` (--baseline) is of another experiment: {}; run the same, or save a new baseline",
            name.0.display(),
            differences.join("; ")
        );
        Err(Fatal::error(Exit::Usage, words))
    }

    /// Refuses when no strategy is in both.
    pub(super) fn refuse_foreign(&self, name: &BaselineName, strategies: &[&str]) -> anyhow::Result<()> {
        if strategies.iter().any(|strategy| self.strategies.contains_key(*strategy)) {
            return Ok(());
        }
        let there: Vec<&str> = self.strategies.keys().map(String::as_str).collect();
        let words = format!(
            "`{}` (--baseline) is of {}, and this is {}: there is nothing to compare; save a new baseline",
            name.0.display(),
            there.join(", "),
            strategies.join(", ")
        );
        Err(Fatal::error(Exit::Usage, words))
    }

    /// Writes it to where `output` is.
    pub(super) fn write(&self, output: &Output) -> anyhow::Result<()> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        output.write(text.as_bytes())
    }
}

/// Makes sure that a baseline can be saved.
pub(super) fn place(BaselineName(path): &BaselineName) -> anyhow::Result<Output> {
    if path.starts_with(BASELINES) {
        fs::create_dir_all(BASELINES).map_err(|error| {
            Fatal::because(Exit::Output, format!("`{BASELINES}` (--save-baseline) cannot be made"), error)
        })?;
    }
    Output::prepare(path, "--save-baseline")
}

/// What of a run's configuration must be the same.
pub(super) fn experiment(mode: &str, config: &Value) -> Value {
    /// What says how a run was asked for, not what it was; strategies are compared by name.
    const OTHER: [&str; 7] =
        ["program", "version", "command_line", "server", "strategy", "max_attempts", "retry_after"];
    let mut config = config.clone();
    if let Some(entries) = config.as_object_mut() {
        entries.retain(|key, _| !OTHER.contains(&key.as_str()));
        // A mock server is known by its model; its address is chance.
        if entries.get("server_model").is_some_and(|model| !model.is_null()) {
            entries.remove("target");
        }
        entries.insert("mode".to_owned(), mode.into());
    }
    config
}

/// The leaves that differ, by their paths.
fn differ(path: &str, now: &Value, then: &Value, differences: &mut Vec<String>) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            let keys: std::collections::BTreeSet<&String> = now.keys().chain(then.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let missing = Value::Null;
                let of =
                    |entries: &serde_json::Map<String, Value>| entries.get(key).unwrap_or(&missing).clone();
                differ(&path, &of(now), &of(then), differences);
            }
        }
        (now, then) if now == then => {}
        (now, then) => differences.push(format!("{path} is {now}, there {then}")),
    }
}
