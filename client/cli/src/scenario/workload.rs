//! The workload of a scenario: from its keys to what a run is told.

use std::time::Duration;

use anyhow::{anyhow, bail};
use loadgen_core::{ArrivalProcess, Group, OperationKind, RunConfig, Workload};
use serde::Deserialize;
use tailback::StrategySpec;
use toml::Table;
use vocabulary::{Instant, TimeScale, did_you_mean, duration_text};

use super::cell::named_key;
use crate::args::Rate;
use crate::settings::{DEFAULT_DRAIN, DEFAULT_OPS, DEFAULT_RATE, LARGEST_BURST, Settings};

/// The most clients, and the most ops of a closed loop, as on the command line.
const MOST_CLIENTS: u32 = 1_000_000;
/// The most ops, as on the command line.
const MOST_OPS: u64 = 4_000_000_000;

/// The workload of a scenario, in the words of the command line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WorkloadSection {
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
    pub(super) const KEYS: &[&str] = &[
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

/// What a run of this workload is told.
pub(super) fn settings(
    seed: u64,
    workload: &Table,
    strategy: StrategySpec,
    repeats: u32,
) -> anyhow::Result<Settings> {
    let section = WorkloadSection::deserialize(workload.clone()).map_err(|error| {
        // Without the line, which is that of the whole table, but with the key.
        let message = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
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
    if let Some(ops) = ops.filter(|ops| !(1..=MOST_OPS).contains(ops)) {
        bail!("`ops` is {ops}; it must be from 1 to {MOST_OPS}");
    }
    if arrivals == ArrivalProcess::Burst && ops.is_none_or(|ops| ops > LARGEST_BURST) {
        bail!("`arrivals` at once need `ops` of at most {LARGEST_BURST}");
    }
    if !(1..=MOST_CLIENTS).contains(&clients) {
        bail!("`clients` is {clients}; it must be from 1 to {MOST_CLIENTS}");
    }
    if counted && section.ops.is_some() {
        bail!("`ops` and a list of arrivals say the same twice: leave one out");
    }
    let drain = duration("drain", &section.drain)?;
    let positive = |key: &str, value: Option<Duration>| match value {
        Some(Duration::ZERO) => Err(anyhow!("`{key}` must be longer than zero")),
        value => Ok(value),
    };
    let run = RunConfig {
        seed,
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
    let ways = [
        ("scatter", section.scatter.is_some()),
        ("at", section.at.is_some()),
        ("in_flight", section.in_flight.is_some()),
        ("rate", section.rate.is_some()),
        ("arrivals", section.arrivals.is_some()),
    ];
    let given: Vec<&str> = ways.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
    match given.as_slice() {
        ["scatter"] => scattered(section.scatter.as_deref().unwrap_or_default(), lasts),
        ["at"] => listed(section.at.as_deref().unwrap_or_default(), lasts),
        ["in_flight"] => match section.in_flight {
            Some(in_flight @ 1..=MOST_CLIENTS) => Ok(ArrivalProcess::Closed { in_flight }),
            other => {
                bail!("`in_flight` is {}; it must be from 1 to {MOST_CLIENTS}", other.unwrap_or_default())
            }
        },
        [] | ["rate" | "arrivals"] | ["rate", "arrivals"] => open(section),
        several => bail!("`{}` exclude one another: each says how ops arrive", several.join("` and `")),
    }
}

fn open(section: &WorkloadSection) -> anyhow::Result<ArrivalProcess> {
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

fn scattered(groups: &[ScatterSection], lasts: Option<Duration>) -> anyhow::Result<ArrivalProcess> {
    let mut scattered = Vec::new();
    let mut ops: u64 = 0;
    for group in groups {
        let (from, to) = (since("scatter", &group.from)?, since("scatter", &group.to)?);
        if from >= to {
            bail!("`scatter`: ops cannot come from {} to {}: that is no time", group.from, group.to);
        }
        if let Some(lasts) = lasts.filter(|lasts| to > *lasts) {
            let lasts = duration_text::format(lasts);
            bail!("`scatter`: ops come until {}, but the run takes ops for {lasts} only", group.to);
        }
        let grid = group.grid.as_deref().map_or(Ok(Duration::ZERO), |grid| since("scatter", grid))?;
        ops = ops.saturating_add(group.ops);
        scattered.push(Group { ops: group.ops, from, to, grid });
    }
    if scattered.iter().any(|group| group.ops == 0) || !(1..=LARGEST_BURST).contains(&ops) {
        bail!("`scatter` takes groups of at least one op, and at most {LARGEST_BURST} in all");
    }
    Ok(ArrivalProcess::Scattered(scattered.into()))
}

fn listed(instants: &[String], lasts: Option<Duration>) -> anyhow::Result<ArrivalProcess> {
    let mut listed = Vec::new();
    for instant in instants {
        let at = since("at", instant)?;
        if let Some(lasts) = lasts.filter(|lasts| at >= *lasts) {
            bail!(
                "`at`: an op comes at {instant}, but the run takes ops for {} only",
                duration_text::format(lasts)
            );
        }
        listed.push(Instant::ORIGIN + at);
    }
    if listed.is_empty() {
        bail!("`at` lists no instant; at least one op is needed");
    }
    listed.sort();
    Ok(ArrivalProcess::Listed(listed.into()))
}

fn since(key: &str, text: &str) -> anyhow::Result<Duration> {
    duration_text::parse(text).map_err(|error| anyhow!("`{key}`: {error}"))
}
