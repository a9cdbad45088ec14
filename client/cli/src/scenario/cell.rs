//! From a scenario to the runs that it takes: a cell for every strategy at every point of every experiment.

use anyhow::{anyhow, bail};
use indexmap::IndexMap;
use mockserver::core::Config;
use tailback::StrategySpec;
use toml::{Table, Value};
use vocabulary::did_you_mean;

use super::file::{Experiment, Scenario};
use super::workload::settings;
use crate::settings::Settings;

/// One strategy at one point of an experiment.
pub(crate) struct Cell {
    pub(crate) experiment: String,
    /// The strategy's label.
    pub(crate) label: String,
    /// What is varied, and its values here.
    pub(crate) point: Vec<(String, Value)>,
    pub(crate) settings: Settings,
    pub(crate) server: Config,
}

/// A cell that cannot be: what is wrong, and the path of the key that is to blame.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) path: Vec<String>,
    pub(crate) error: anyhow::Error,
}

/// All cells of a scenario, experiment by experiment, point by point.
pub(crate) fn cells(scenario: &Scenario) -> Result<Vec<Cell>, Fault> {
    let mut cells = Vec::new();
    for (name, experiment) in &scenario.experiment {
        let here = |key: &str| vec!["experiment".to_owned(), name.clone(), key.to_owned()];
        for point in points(&experiment.vary).map_err(|error| Fault { path: here("vary"), error })? {
            let mut workload = scenario.workload.clone();
            workload.extend(experiment.workload.clone());
            let mut server = scenario.server.clone();
            server.extend(experiment.server.clone());
            let mut parameters = Vec::new();
            for (key, value) in &point {
                if let Some(parameter) = key.strip_prefix("strategy.") {
                    parameters.push((parameter, text(value)));
                } else if experiments::workload::is_key(key) {
                    workload.insert(key.clone(), value.clone());
                } else {
                    server.insert(key.clone(), value.clone());
                }
            }
            let section = |file: &Table, key: Option<String>, error: anyhow::Error, table: &str| {
                let own = key.as_ref().is_some_and(|key| file.contains_key(key));
                let mut path = if own { here(table) } else { vec![table.to_owned()] };
                path.extend(key);
                Fault { path, error }
            };
            let config = server_config(&server).map_err(|error| {
                section(&experiment.server, named_key(&error.to_string()), error, "server")
            })?;
            let repeats = experiment.repeats.unwrap_or(scenario.repeats);
            if repeats == 0 {
                let error = anyhow!("`repeats` is 0; at least one run is needed");
                return Err(Fault { path: here("repeats"), error });
            }
            for label in scenario.labels(experiment) {
                let spec =
                    strategy(scenario, experiment, label, &parameters).map_err(|(path, error)| Fault {
                        path: path.map_or_else(
                            || vec!["experiment".into(), name.clone(), "strategies".into()],
                            |label| vec!["strategies".into(), label],
                        ),
                        error,
                    })?;
                let settings = settings(scenario.seed, &workload, spec, repeats)
                    .map_err(|(key, error)| section(&experiment.workload, Some(key), error, "workload"))?;
                cells.push(Cell {
                    experiment: name.clone(),
                    label: label.to_owned(),
                    point: point.clone(),
                    settings,
                    server: config.clone(),
                });
            }
        }
    }
    Ok(cells)
}

/// A value as it is typed on a command line.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Every combination of what is varied; one empty point when nothing is.
fn points(vary: &IndexMap<String, Vec<Value>>) -> anyhow::Result<Vec<Vec<(String, Value)>>> {
    if vary.len() > 2 {
        bail!("`vary` has {} keys; at most two can be varied", vary.len());
    }
    let mut points = vec![Vec::new()];
    for (key, values) in vary {
        if values.is_empty() {
            bail!("`{key}` is varied over no values");
        }
        points = points
            .into_iter()
            .flat_map(|point| {
                values.iter().map(move |value| [point.clone(), vec![(key.clone(), value.clone())]].concat())
            })
            .collect();
    }
    Ok(points)
}

/// The strategy of a label; an error says which label of `[strategies]` is to blame, if any.
fn strategy(
    scenario: &Scenario,
    experiment: &Experiment,
    label: &str,
    parameters: &[(&str, String)],
) -> Result<StrategySpec, (Option<String>, anyhow::Error)> {
    let Some(written) = scenario.strategies.get(label) else {
        let suggestion = did_you_mean(label, scenario.strategies.keys().map(String::as_str));
        let known =
            scenario.labels(&Experiment { strategies: Vec::new(), ..experiment.clone() }).join("`, `");
        return Err((
            None,
            anyhow!("no strategy is labelled `{label}`{suggestion}; `[strategies]` has `{known}`"),
        ));
    };
    let varied = || -> Result<StrategySpec, tailback::SpecError> {
        let mut spec: StrategySpec = written.parse()?;
        // What is varied is a parameter of the last part, whether it was written there or not.
        let last = written.rsplit('+').next().unwrap_or(written);
        let last = last.split(':').next().unwrap_or(last).trim();
        for (key, value) in parameters {
            spec = spec.with(last, key, value)?.unwrap_or(spec);
        }
        Ok(spec)
    };
    varied().map_err(|error| (Some(label.to_owned()), error.into()))
}

fn server_config(server: &Table) -> anyhow::Result<Config> {
    let patch = serde_json::to_value(server)?;
    let serde_json::Value::Object(patch) = patch else { bail!("`server` must be a table") };
    Ok(Config::default().patched(&patch)?)
}

/// The first name between backticks: errors begin with the key that they are about.
fn named_key(error: &str) -> Option<String> {
    let (_, rest) = error.split_once('`')?;
    let (key, _) = rest.split_once('`')?;
    Some(key.split('=').next().unwrap_or(key).to_owned())
}
