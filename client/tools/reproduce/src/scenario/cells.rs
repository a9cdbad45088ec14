//! Expansion of a scenario into its cells: one cell for every strategy at every point of every experiment.

use experiments::workload::{Spelling, from_table, is_key};
use experiments::{Experiment, words_of};
use indexmap::IndexMap;
use loadgen_core::RunConfig;
use mockserver::core::Config;
use tailback::StrategySpec;
use toml::{Table, Value};
use vocabulary::did_you_mean;

use crate::scenario::file::{ExperimentSection, Scenario};

pub struct Cell {
    pub experiment: String,
    pub label: String,
    pub point: Vec<(String, Value)>,
    pub settings: Experiment,
    pub server: Config,
}

#[derive(Debug)]
pub(super) struct CellFault {
    pub(super) path: Vec<String>,
    pub(super) words: String,
}

pub(super) fn cells(scenario: &Scenario) -> Result<Vec<Cell>, CellFault> {
    let mut cells = Vec::new();
    for (name, section) in &scenario.experiment {
        let here = |key: &str| vec!["experiment".to_owned(), name.clone(), key.to_owned()];
        let repeats = section.repeats.unwrap_or(scenario.repeats);
        for point in points(&section.vary).map_err(|words| CellFault { path: here("vary"), words })? {
            let (workload, server, parameters) = at_point(scenario, section, &point);
            let blamed = |file: &Table, key: Option<String>, words: String, table: &str| {
                let own = key.as_ref().is_some_and(|key| file.contains_key(key));
                let mut path = if own { here(table) } else { vec![table.to_owned()] };
                path.extend(key);
                CellFault { path, words }
            };
            let config = server_config(&server)
                .map_err(|words| blamed(&section.server, named_key(&words), words, "server"))?;
            if repeats == 0 {
                let words = "`repeats` is 0; at least one run is needed".to_owned();
                return Err(CellFault { path: here("repeats"), words });
            }
            for label in scenario.labels(section) {
                let spec =
                    strategy(scenario, section, label, &parameters).map_err(|(path, words)| CellFault {
                        path: path.map_or_else(
                            || vec!["experiment".into(), name.clone(), "strategies".into()],
                            |label| vec!["strategies".into(), label],
                        ),
                        words,
                    })?;
                let settings = experiment(scenario.seed, repeats, &workload, spec)
                    .map_err(|(key, words)| blamed(&section.workload, Some(key), words, "workload"))?;
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

/// Returns the settings of a strategy's runs. An error consists of the invalid key of the workload and a message.
fn experiment(
    seed: u64,
    repeats: u32,
    workload: &Table,
    strategy: StrategySpec,
) -> Result<Experiment, (String, String)> {
    let spec = from_table(workload).map_err(|error| (error.key.clone(), error.to_string()))?;
    let experiment = Experiment::new(strategy, &spec, Spelling::Keys)
        .map_err(|error| (error.key.to_owned(), error.to_string()))?;
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

/// Returns the strategy with the given label. An error contains a message. If the label exists but its strategy is invalid, the error also
/// contains the label.
fn strategy(
    scenario: &Scenario,
    section: &ExperimentSection,
    label: &str,
    parameters: &[(&str, String)],
) -> Result<StrategySpec, (Option<String>, String)> {
    let Some(written) = scenario.strategies.get(label) else {
        let suggestion = did_you_mean(label, scenario.strategies.keys().map(String::as_str));
        let known =
            scenario.labels(&ExperimentSection { strategies: Vec::new(), ..section.clone() }).join("`, `");
        let words = format!("no strategy is labelled `{label}`{suggestion}; `[strategies]` has `{known}`");
        return Err((None, words));
    };
    let varied = || -> Result<StrategySpec, tailback::SpecError> {
        let mut spec: StrategySpec = written.parse()?;
        // A varied parameter belongs to the last part of a strategy, even if the strategy's text does not set the parameter.
        let last = spec.names().last().unwrap_or_default();
        for (key, value) in parameters {
            spec = spec.with(last, key, value)?.unwrap_or(spec);
        }
        Ok(spec)
    };
    varied().map_err(|error| (Some(label.to_owned()), words_of(&error)))
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
fn named_key(error: &str) -> Option<String> {
    let (_, rest) = error.split_once('`')?;
    let (key, _) = rest.split_once('`')?;
    Some(key.split('=').next().unwrap_or(key).to_owned())
}
