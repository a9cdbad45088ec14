//! Expansion of a scenario into its cells: one cell for every strategy at every point of every experiment.

use experiments::workload::{Spelling, WorkloadError, from_table, is_key};
use experiments::{Experiment, words_of};
use indexmap::IndexMap;
use loadgen_core::RunConfig;
use mockserver::core::Config;
use tailback::{SpecError, StrategySpec};
use toml::{Table, Value};
use vocabulary::did_you_mean;

use crate::scenario::file::{ExperimentSection, Scenario};
use crate::scenario::wrong::{Wrong, refuse};

pub struct Cell {
    pub experiment: String,
    pub label: String,
    pub point: Vec<(String, Value)>,
    pub settings: Experiment,
    pub server: Config,
}

pub(super) fn cells(scenario: &Scenario) -> Result<Vec<Cell>, Wrong> {
    let mut cells = Vec::new();
    for (name, section) in &scenario.experiment {
        let here = |wrong: Wrong| wrong.within(&["experiment", name]);
        let repeats = section.repeats.unwrap_or(scenario.repeats);
        for point in points(&section.vary).map_err(|words| here(Wrong::new("vary", words)))? {
            let (workload, server, parameters) = at_point(scenario, section, &point);
            let blamed = |file: &Table, key: Option<&str>, words: String, table: &str| {
                let mut wrong = Wrong::new(table, words);
                wrong.path.extend(key.map(str::to_owned));
                if key.is_some_and(|key| file.contains_key(key)) { here(wrong) } else { wrong }
            };
            let config = server_config(&server)
                .map_err(|words| blamed(&section.server, named_key(&words), words.clone(), "server"))?;
            if repeats == 0 {
                return refuse("repeats", "`repeats` is 0; at least one run is needed").map_err(here);
            }
            for label in scenario.labels(section) {
                let Some(written) = scenario.strategies.get(label) else {
                    let suggestion = did_you_mean(label, scenario.strategies.keys().map(String::as_str));
                    let known =
                        scenario.strategies.keys().map(String::as_str).collect::<Vec<_>>().join("`, `");
                    let words = format!(
                        "no strategy is labelled `{label}`{suggestion}; `[strategies]` has `{known}`"
                    );
                    return refuse("strategies", words).map_err(here);
                };
                let spec = strategy(written, &parameters)
                    .map_err(|error| Wrong::new(label, words_of(&error)).within(&["strategies"]))?;
                let settings = experiment(scenario.seed, repeats, &workload, spec).map_err(|error| {
                    blamed(&section.workload, Some(&error.key), error.to_string(), "workload")
                })?;
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

/// Returns true if a cell of the scenario is at the given point. If the point is a single value, one of the cell's varied parameters must
/// have this value. If the point is a table of parameters, the cell must have the table's value of each of them.
pub(super) fn is_at(cell: &Cell, point: &Value) -> bool {
    match point {
        Value::Table(keys) => keys
            .iter()
            .all(|(key, wanted)| cell.point.iter().any(|(varied, value)| varied == key && value == wanted)),
        wanted => cell.point.iter().any(|(_, value)| value == wanted),
    }
}

fn at_point<'a>(
    scenario: &Scenario,
    section: &ExperimentSection,
    point: &'a [(String, Value)],
) -> (Table, Table, Vec<(&'a str, String)>) {
    let mut workload = scenario.workload.clone();
    workload.extend(section.workload.clone());
    let mut server = scenario.server.clone();
    server.extend(section.server.clone());
    let mut parameters = Vec::new();
    for (key, value) in point {
        if let Some(parameter) = key.strip_prefix("strategy.") {
            parameters.push((parameter, text(value)));
        } else if is_key(key) {
            workload.insert(key.clone(), value.clone());
        } else {
            server.insert(key.clone(), value.clone());
        }
    }
    (workload, server, parameters)
}

/// Returns the settings of a strategy's runs.
fn experiment(
    seed: u64,
    repeats: u32,
    workload: &Table,
    strategy: StrategySpec,
) -> Result<Experiment, WorkloadError> {
    let experiment = Experiment::new(strategy, &from_table(workload)?, Spelling::Keys)?;
    let run = RunConfig { seed, exact_latencies: true, ..experiment.run };
    Ok(Experiment { run, repeats, paced: true, ..experiment })
}

/// Formats a value as a command line would contain it, with no quotes around strings.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns every combination of the varied values as a point. If no parameter is varied, the only point is empty.
fn points(vary: &IndexMap<String, Vec<Value>>) -> Result<Vec<Vec<(String, Value)>>, String> {
    if vary.len() > 2 {
        return Err(format!("`vary` has {} keys; at most two can be varied", vary.len()));
    }
    let mut points = vec![Vec::new()];
    for (key, values) in vary {
        if values.is_empty() {
            return Err(format!("`{key}` is varied, but has no values"));
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

/// Parses a strategy, and sets its varied parameters. They belong to the last part of the strategy, even if its text does not set them.
fn strategy(written: &str, parameters: &[(&str, String)]) -> Result<StrategySpec, SpecError> {
    let mut spec: StrategySpec = written.parse()?;
    let last = spec.names().last().unwrap_or_default();
    for (key, value) in parameters {
        spec = spec.with(last, key, value)?.unwrap_or(spec);
    }
    Ok(spec)
}

fn server_config(server: &Table) -> Result<Config, String> {
    // Infinite numbers and NaN are rejected here, because the settings are then converted to JSON, which cannot represent them.
    let endless = server.iter().find(|(_, value)| value.as_float().is_some_and(|number| !number.is_finite()));
    if let Some((key, value)) = endless {
        return Err(format!("`{key}` is {value}; it must be a finite number"));
    }
    match serde_json::to_value(server) {
        Ok(serde_json::Value::Object(patch)) => {
            Config::default().patched(&patch).map_err(|error| words_of(&error))
        }
        Ok(_) => Err("`server` must be a table".to_owned()),
        Err(error) => Err(words_of(&error)),
    }
}

/// Returns the key that an error message is about. This key is the first name between backticks.
fn named_key(error: &str) -> Option<&str> {
    let (_, rest) = error.split_once('`')?;
    let (key, _) = rest.split_once('`')?;
    key.split('=').next()
}
