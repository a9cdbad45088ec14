//! From a scenario to the runs that it takes: a cell for every strategy at every point of every experiment.

use std::time::Duration;

use anyhow::{anyhow, bail};
use indexmap::IndexMap;
use loadgen_core::{ArrivalProcess, Group, OperationKind, RunConfig, Workload};
use mockserver::core::Config;
use serde::Deserialize;
use tailback::StrategySpec;
use toml::{Table, Value};
use vocabulary::{TimeScale, did_you_mean, duration_text};

use super::file::{Experiment, Scenario};
use crate::args::Rate;
use crate::settings::{DEFAULT_DRAIN, DEFAULT_OPS, DEFAULT_RATE, LARGEST_BURST, Settings};

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
            let mut parameters = String::new();
            for (key, value) in &point {
                if let Some(parameter) = key.strip_prefix("strategy.") {
                    parameters = format!("{parameters}{parameter}={},", text(value));
                } else if WorkloadSection::KEYS.contains(&key.as_str()) {
                    workload.insert(key.clone(), value.clone());
                } else {
                    server.insert(key.clone(), value.clone());
                }
            }
            let section = |file: &Table, error: anyhow::Error, table: &str| {
                let key = named_key(&error.to_string());
                let own = key.as_ref().is_some_and(|key| file.contains_key(key));
                let mut path = if own { here(table) } else { vec![table.to_owned()] };
                path.extend(key);
                Fault { path, error }
            };
            let config =
                server_config(&server).map_err(|error| section(&experiment.server, error, "server"))?;
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
                let settings = settings(scenario, &workload, spec, repeats)
                    .map_err(|error| section(&experiment.workload, error, "workload"))?;
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
    parameters: &str,
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
    let spec = match parameters.strip_suffix(',') {
        None => written.parse(),
        Some(parameters) => {
            let joint = if written.contains(':') { ',' } else { ':' };
            format!("{written}{joint}{parameters}").parse()
        }
    };
    spec.map_err(|error: tailback::SpecError| (Some(label.to_owned()), error.into()))
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

/// The workload of a scenario, in the words of the command line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WorkloadSection {
    kind: Option<String>,
    ops: Option<u64>,
    duration: Option<String>,
    drain: Option<String>,
    rate: Option<String>,
    arrivals: Option<String>,
    scatter: Option<Vec<ScatterSection>>,
    at: Option<Vec<String>>,
    in_flight: Option<u32>,
    clients: Option<u32>,
    share_strategy: Option<bool>,
    ops_per_client: Option<u64>,
    timeout: Option<String>,
    deadline: Option<String>,
    retry_failed: Option<bool>,
    bins: Option<String>,
    patience: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScatterSection {
    ops: u64,
    from: String,
    to: String,
    #[serde(default)]
    grid: Option<String>,
}

impl WorkloadSection {
    const KEYS: &[&str] = &[
        "kind",
        "ops",
        "duration",
        "drain",
        "rate",
        "arrivals",
        "scatter",
        "at",
        "in_flight",
        "clients",
        "ops_per_client",
        "share_strategy",
        "timeout",
        "deadline",
        "retry_failed",
        "bins",
        "patience",
    ];
}

fn settings(
    scenario: &Scenario,
    workload: &Table,
    strategy: StrategySpec,
    repeats: u32,
) -> anyhow::Result<Settings> {
    let section = WorkloadSection::deserialize(workload.clone()).map_err(|error| {
        let message = error.message().trim().to_owned();
        match named_key(&message).filter(|_| message.starts_with("unknown field")) {
            Some(key) => {
                anyhow!(
                    "unknown key `{key}`{}; a workload takes `{}`",
                    did_you_mean(&key, WorkloadSection::KEYS.iter().copied()),
                    WorkloadSection::KEYS.join("`, `")
                )
            }
            None => anyhow!("{message}"),
        }
    })?;
    let defaults = RunConfig::default();
    let duration = |key: &str, value: &Option<String>| -> anyhow::Result<Option<Duration>> {
        let parsed = value.as_deref().map(duration_text::parse).transpose();
        parsed.map_err(|error| anyhow!("`{key}`: {error}"))
    };
    let lasts = duration("duration", &section.duration)?;
    let arrivals = arrivals(&section, lasts)?;
    let counted = matches!(arrivals, ArrivalProcess::Scattered(_) | ArrivalProcess::Listed(_));
    let unlimited = section.ops.is_none() && lasts.is_none() && !counted;
    let clients = section.clients.unwrap_or(1);
    let by_client = section.ops_per_client.map(|ops| ops.saturating_mul(u64::from(clients)));
    let ops = by_client.or(section.ops).or(unlimited.then_some(DEFAULT_OPS));
    if ops == Some(0) {
        bail!("`ops` is 0; at least one op is needed");
    }
    if arrivals == ArrivalProcess::Burst && ops.is_none_or(|ops| ops > LARGEST_BURST) {
        bail!("`arrivals` at once need `ops` of at most {LARGEST_BURST}");
    }
    if clients == 0 {
        bail!("`clients` is 0; at least one is needed");
    }
    let drain = duration("drain", &section.drain)?;
    let positive = |key: &str, value: Option<Duration>| match value {
        Some(Duration::ZERO) => Err(anyhow!("`{key}` must be longer than zero")),
        value => Ok(value),
    };
    let run = RunConfig {
        seed: scenario.seed,
        workload: Workload { arrivals, ops, duration: positive("duration", lasts)? },
        kind: match section.kind.as_deref() {
            None | Some("request") => OperationKind::Request,
            Some("read-modify-write") => OperationKind::ReadModifyWrite,
            Some(other) => {
                bail!("`kind` is \"{other}\"; accepted are \"request\" and \"read-modify-write\"")
            }
        },
        clients,
        share_strategy: section.share_strategy.unwrap_or(false) || strategy.needs_foreknowledge(),
        timeout: positive("timeout", duration("timeout", &section.timeout)?)?.unwrap_or(defaults.timeout),
        deadline: positive("deadline", duration("deadline", &section.deadline)?)?,
        drain: lasts.map(|_| drain.unwrap_or(DEFAULT_DRAIN)),
        retry_failed: section.retry_failed.unwrap_or(true),
        bins: positive("bins", duration("bins", &section.bins)?)?,
        patience: duration("patience", &section.patience)?.unwrap_or(defaults.patience),
        exact_latencies: true,
        ..defaults
    };
    Ok(Settings::for_experiment(strategy, run, repeats, TimeScale::default()))
}

fn arrivals(section: &WorkloadSection, lasts: Option<Duration>) -> anyhow::Result<ArrivalProcess> {
    let parse =
        |key: &str, text: &str| duration_text::parse(text).map_err(|error| anyhow!("`{key}`: {error}"));
    if let Some(groups) = &section.scatter {
        let mut scattered = Vec::new();
        for group in groups {
            let (from, to) = (parse("scatter", &group.from)?, parse("scatter", &group.to)?);
            if from >= to {
                bail!("`scatter`: ops cannot come from {} to {}: that is no time", group.from, group.to);
            }
            if let Some(lasts) = lasts.filter(|lasts| to > *lasts) {
                bail!(
                    "`scatter`: ops come until {}, but the run takes ops for {} only",
                    group.to,
                    duration_text::format(lasts)
                );
            }
            let grid = group.grid.as_deref().map_or(Ok(Duration::ZERO), |grid| parse("scatter", grid))?;
            scattered.push(Group { ops: group.ops, from, to, grid });
        }
        if scattered.iter().map(|group| group.ops).sum::<u64>() > LARGEST_BURST {
            bail!("`scatter` takes at most {LARGEST_BURST} ops");
        }
        return Ok(ArrivalProcess::Scattered(scattered.into()));
    }
    if let Some(instants) = &section.at {
        let mut listed = Vec::new();
        for instant in instants {
            listed.push(vocabulary::Instant::ORIGIN + parse("at", instant)?);
        }
        listed.sort();
        return Ok(ArrivalProcess::Listed(listed.into()));
    }
    if let Some(in_flight) = section.in_flight {
        if in_flight == 0 {
            bail!("`in_flight` is 0; at least one op must be under way");
        }
        return Ok(ArrivalProcess::Closed { in_flight });
    }
    let Rate(rate_per_s) = match &section.rate {
        None => DEFAULT_RATE,
        Some(rate) => rate.parse().map_err(|error| anyhow!("`rate`: {error}"))?,
    };
    match section.arrivals.as_deref() {
        None | Some("poisson") => Ok(ArrivalProcess::Poisson { rate_per_s }),
        Some("uniform") => Ok(ArrivalProcess::Uniform { rate_per_s }),
        Some("burst") => Ok(ArrivalProcess::Burst),
        Some(other) => {
            let suggestion = did_you_mean(other, ["poisson", "uniform", "burst"]);
            bail!(
                "`arrivals` is \"{other}\"{suggestion}; accepted are \"poisson\", \"uniform\" and \"burst\""
            )
        }
    }
}
