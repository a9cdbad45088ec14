//! Sums over runs of several machines that sent their load to one target at the same time. Values that cannot be added up become null, such
//! as percentiles of latencies without a histogram, fairness, and time series.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use loadgen_core::{
    AdviceFigures, AttemptCounts, EarlyFigures, FailureResult, Latencies, LatencyFigures, StatusCount,
    WindowFigures,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::ServerCounts;

use super::cells::{Merged, MergedPoint};
use super::part::{MergeError, MergedCommand, Part};
use crate::{
    AttemptsResult, ConfigRecord, GeneratorResult, LagResult, MergedLoad, Mode, OpLatencies, OpsResult,
    RunResult, WorkloadRecord, is_about_machine,
};

struct Load {
    file: String,
    run: RunResult,
    /// Start and end of the run, since 1970.
    start: Duration,
    end: Duration,
    latencies: Latencies,
}

/// Adds up single runs over HTTP, each with the name of its file. The order of the runs does not matter. The runs of `lost` further documents
/// are unknown.
///
/// # Errors
/// Fails if the runs differ in target, strategy or version, have equal seeds, or did not overlap in time.
pub fn together(parts: Vec<(String, Part)>, lost: usize, version: &str) -> Result<Merged, MergeError> {
    let mut loads = parts.into_iter().map(|(file, part)| load(file, part)).collect::<Result<Vec<_>, _>>()?;
    loads.sort_by_key(|load| load.run.seed);
    let Some(first) = loads.first() else { return Err(MergeError("there is no document to add up".into())) };
    if first.run.config.version != version {
        let what = format!("it was written by loadgen {}, and this is {version}", first.run.config.version);
        return Err(unsuitable(&first.file, &what));
    }
    for pair in loads.windows(2) {
        let [one, other] = pair else { continue };
        if one.run.seed == other.run.seed {
            let what = format!(", because they have the same seed {}; give each load its own", one.run.seed);
            return Err(apart(other, one, &what));
        }
        for (what, of) in SAME {
            let (ours, theirs) = (of(&one.run), of(&other.run));
            if ours != theirs {
                let what = format!(": {what} is `{theirs}` in the first and `{ours}` in the second");
                return Err(apart(other, one, &what));
            }
        }
    }
    let latest = loads.iter().max_by_key(|load| load.start);
    let earliest = loads.iter().min_by_key(|load| load.end);
    if let Some((latest, earliest)) =
        latest.zip(earliest).filter(|(latest, earliest)| latest.start > earliest.end)
    {
        return Err(apart(latest, earliest, ", because their runs did not overlap in time"));
    }
    let mut run = sum(&loads);
    if lost > 0 {
        let all = loads.len() + lost;
        run.warnings
            .insert(0, format!("{lost} of {all} documents could not be read, so their load is missing"));
    }
    Ok(Merged {
        common: Part::of_runs(Vec::new()),
        mode: run.mode,
        seeds: vec![run.seed],
        began: run.started_at.clone(),
        missing: Vec::new(),
        incomplete: None,
        points: vec![MergedPoint { at: Vec::new(), runs: vec![vec![Some(Box::new(run))]] }],
    })
}

fn unsuitable(file: &str, what: &str) -> MergeError {
    MergeError(format!("`{file}` cannot be added up: {what}"))
}

fn apart(one: &Load, other: &Load, why: &str) -> MergeError {
    MergeError(format!("`{}` and `{}` cannot be added up{why}", one.file, other.file))
}

type Figure = fn(&RunResult) -> String;

/// Figures that are the same in all runs.
const SAME: [(&str, Figure); 4] = [
    ("its version", |run| run.config.version.clone()),
    ("its target", |run| run.config.target.clone().unwrap_or_else(|| run.config.server.clone())),
    ("its strategy", |run| run.strategy.clone()),
    ("its time scale", |run| run.config.time_scale.to_string()),
];

fn load(file: String, part: Part) -> Result<Load, MergeError> {
    let unsuitable = |what| unsuitable(&file, what);
    let command = part.command;
    let Ok([run]) = <[RunResult; 1]>::try_from(part.runs) else {
        return Err(unsuitable("it is not the document of a single run"));
    };
    if command != MergedCommand::Run || run.mode != Mode::Http || !run.config.merged.is_empty() {
        return Err(unsuitable("it is not the document of a single run over HTTP"));
    }
    let WorkloadRecord { rate, rate_per_s, .. } = &run.config.workload;
    if rate.is_some() && rate_per_s.is_none() {
        return Err(unsuitable("its rate changes, and rates that change cannot be added up"));
    }
    let start = run.started_at.as_ref().and_then(|text| humantime::parse_rfc3339_weak(text).ok());
    let start = start.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let wall = run.wall_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let (Some(start), Some(wall)) = (start, wall) else {
        return Err(unsuitable("`started_at` and `wall_s` are no times"));
    };
    let Some(latencies) = run.op_latency_ms.read() else {
        return Err(unsuitable("`op_latency_ms.histogram` is missing, or contradicts the other figures"));
    };
    Ok(Load { file, run, start, end: start.saturating_add(wall), latencies })
}

fn sum(loads: &[Load]) -> RunResult {
    let all: Vec<&RunResult> = loads.iter().map(|load| &load.run).collect();
    let runs = || all.iter().copied();
    let first = loads[0].run.clone();
    let ops: OpsResult = summed(runs().map(|run| &run.ops));
    let attempts: AttemptCounts = summed(runs().map(|run| &run.attempts));
    let per = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let start = loads.iter().map(|load| load.start).min().unwrap_or_default();
    let end = loads.iter().map(|load| load.end).max().unwrap_or_default();
    let scale = first.config.time_scale;
    let since_start = |load: &Load| load.start.saturating_sub(start).as_secs_f64() / scale;
    let makespan_s =
        loads.iter().filter_map(|load| Some(since_start(load) + load.run.makespan_s?)).reduce(f64::max);
    let mut latencies = Latencies::default();
    for load in loads {
        latencies.merge(&load.latencies);
    }
    let share = |of: fn(&RunResult) -> Option<f64>| -> Option<f64> {
        let done = runs().map(|run| Some(of(run)? * run.ops.share_base() as f64)).sum::<Option<f64>>()?;
        (ops.share_base() > 0).then(|| done / ops.share_base() as f64)
    };
    let combined = |of: fn(&RunResult) -> &LatencyFigures| combined(runs().map(of));
    let mut warnings: Vec<String> = runs()
        .flat_map(|run| run.warnings.iter().map(|warning| format!("seed {}: {warning}", run.seed)))
        .collect();
    warnings.sort_by_key(|warning| is_about_machine(warning));
    let work = runs().map(|run| Some(run.server_work_per_success_ms? * run.ops.succeeded as f64));
    let work = work.sum::<Option<f64>>();
    // All fields are named, so that a new figure is added up here, or is null.
    RunResult {
        schema_version: first.schema_version,
        mode: first.mode,
        strategy: first.strategy,
        seed: first.seed,
        config: config(loads).into(),
        amplification: per(attempts.total, ops.total),
        efficiency: per(ops.succeeded, attempts.total),
        attempts_per_success: per(attempts.total, ops.succeeded),
        makespan_s,
        makespan_complete: runs().all(|run| run.makespan_complete),
        optimal_makespan_s: None,
        goodput_per_s: makespan_s.filter(|s| *s > 0.0).map(|s| ops.succeeded as f64 / s),
        load_factor: None,
        load: None,
        failures: failures(runs()),
        statuses: statuses(runs()),
        given_up_after: summed(runs().map(|run| &run.given_up_after)),
        op_latency_ms: OpLatencies::new(&latencies, true),
        op_latency_curve: Vec::new(),
        attempt_latency_ms: combined(|run| &run.attempt_latency_ms),
        attempt_latency_bars: Vec::new(),
        success_latency_ms: combined(|run| &run.success_latency_ms),
        rejection_latency_ms: combined(|run| &run.rejection_latency_ms),
        failure_latency_ms: combined(|run| &run.failure_latency_ms),
        attempts_per_op: AttemptsResult {
            max: runs().filter_map(|run| run.attempts_per_op.max).max(),
            ..AttemptsResult::default()
        },
        stalled_at_s: loads
            .iter()
            .filter_map(|load| Some(since_start(load) + load.run.stalled_at_s?))
            .reduce(f64::min),
        late_share: share(|run| run.late_share),
        done_share: share(|run| run.done_share),
        share_is_lower_bound: runs().any(|run| run.share_is_lower_bound),
        advice: advice(&all),
        window: WindowFigures::default(),
        fairness: None,
        wasted_server_s: runs().map(|run| run.wasted_server_s).sum(),
        server_work_per_success_ms: work.filter(|_| ops.succeeded > 0).map(|ms| ms / ops.succeeded as f64),
        server: runs().map(|run| run.server.as_ref()).collect::<Option<Vec<_>>>().map(|all| server(&all)),
        generator: generator(&all),
        started_at: Some(humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + start).to_string()),
        wall_s: Some(end.saturating_sub(start).as_secs_f64()),
        interrupted: runs().find_map(|run| run.interrupted.clone()),
        warnings,
        series: Vec::new(),
        rate: None,
        at: None,
        ops,
        attempts,
    }
}

/// Returns the configuration of the first run, with the load of all runs.
fn config(loads: &[Load]) -> ConfigRecord {
    let workloads = || loads.iter().map(|load| &load.run.config.workload);
    let rate_per_s: Option<f64> = workloads().map(|workload| workload.rate_per_s).sum();
    let merged = |load: &Load| MergedLoad {
        seed: load.run.seed,
        started_at: load.run.started_at.clone(),
        wall_s: load.run.wall_s,
        ops: load.run.ops.total,
        attempts: load.run.attempts.total,
    };
    let first = loads[0].run.config.record();
    ConfigRecord {
        workload: WorkloadRecord {
            ops: workloads().map(|workload| workload.ops).sum(),
            rate: rate_per_s.map(|rate| format!("{rate}/s")),
            rate_per_s,
            in_flight: workloads().map(|workload| workload.in_flight).sum(),
            clients: workloads().map(|workload| workload.clients).fold(0, u32::saturating_add),
            ..first.workload
        },
        command_line: Vec::new(),
        merged: loads.iter().map(merged).collect(),
        ..first
    }
}

/// Adds up records of counts. A count that one of them lacks is null, and lists become empty.
fn summed<'a, T: Clone + Default + Serialize + DeserializeOwned + 'a>(all: impl Iterator<Item = &'a T>) -> T {
    fn add(one: &Value, other: &Value) -> Value {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let sum = |(key, count): (&String, &Value)| Some((key.clone(), add(count, other.get(key)?)));
                one.iter().filter_map(sum).collect()
            }
            (Value::Array(_), _) => Value::Array(Vec::new()),
            (one, other) => one.as_u64().zip(other.as_u64()).map(|(one, other)| one + other).into(),
        }
    }
    let values = all.map(|counts| serde_json::to_value(counts).unwrap_or_default());
    let sum = values.reduce(|one, other| add(&one, &other)).unwrap_or_default();
    serde_json::from_value(sum).unwrap_or_default()
}

/// Adds up latencies without a histogram. Their percentiles are unknown.
fn combined<'a>(all: impl Iterator<Item = &'a LatencyFigures> + Clone) -> LatencyFigures {
    let count = all.clone().map(|figures| figures.count).sum();
    let total: f64 = all.clone().filter_map(|figures| Some(figures.mean? * figures.count as f64)).sum();
    LatencyFigures {
        count,
        min: all.clone().filter_map(|figures| figures.min).reduce(f64::min),
        mean: (count > 0).then(|| total / count as f64),
        max: all.filter_map(|figures| figures.max).reduce(f64::max),
        ..LatencyFigures::default()
    }
}

fn advice(runs: &[&RunResult]) -> AdviceFigures {
    let broken: u64 = runs.iter().map(|run| run.advice.broken).sum();
    let early = |advice: &AdviceFigures| Some(advice.early_ms.mean? * advice.broken as f64);
    let early_ms: f64 = runs.iter().filter_map(|run| early(&run.advice)).sum();
    AdviceFigures {
        retries: runs.iter().map(|run| run.advice.retries).sum(),
        broken,
        early_ms: EarlyFigures {
            mean: (broken > 0).then(|| early_ms / broken as f64),
            max: runs.iter().filter_map(|run| run.advice.early_ms.max).reduce(f64::max),
        },
        early_shared: runs.iter().map(|run| run.advice.early_shared).sum(),
    }
}

/// Adds up what a server counted for each run. Counts by policy are left out, because they cannot be added up in order.
fn server(all: &[&ServerCounts]) -> ServerCounts {
    let most =
        |count: fn(&ServerCounts) -> u64| all.iter().map(|counts| count(counts)).max().unwrap_or_default();
    ServerCounts {
        max_busy_seen: most(|counts| counts.max_busy_seen),
        max_accepted_seen: most(|counts| counts.max_accepted_seen),
        crashes: most(|counts| counts.crashes),
        by_policy: Vec::new(),
        ..summed(all.iter().copied())
    }
}

fn generator(runs: &[&RunResult]) -> GeneratorResult {
    let sum = |count: fn(&GeneratorResult) -> Option<u64>| runs.iter().map(|run| count(&run.generator)).sum();
    let most = |of: fn(&GeneratorResult) -> LagResult| LagResult {
        max: runs.iter().filter_map(|run| of(&run.generator).max).reduce(f64::max),
        ..LagResult::default()
    };
    GeneratorResult {
        send_lag_ms: most(|generator| generator.send_lag_ms),
        cpu_s: runs.iter().map(|run| run.generator.cpu_s).sum(),
        connections: sum(|generator| generator.connections),
        connect_ms: most(|generator| generator.connect_ms),
        resent: sum(|generator| generator.resent),
        waited_for_connection: sum(|generator| generator.waited_for_connection),
        connection_wait_ms: most(|generator| generator.connection_wait_ms),
        ..GeneratorResult::default()
    }
}

fn statuses<'a>(runs: impl Iterator<Item = &'a RunResult>) -> Vec<StatusCount> {
    let mut all = BTreeMap::new();
    for StatusCount { status, attempts } in runs.flat_map(|run| &run.statuses) {
        *all.entry(*status).or_default() += attempts;
    }
    all.into_iter().map(|(status, attempts)| StatusCount { status, attempts }).collect()
}

fn failures<'a>(runs: impl Iterator<Item = &'a RunResult>) -> Vec<FailureResult> {
    let mut all: Vec<FailureResult> = Vec::new();
    for failure in runs.flat_map(|run| &run.failures) {
        match all.iter_mut().find(|there| (there.status, there.kind) == (failure.status, failure.kind)) {
            Some(there) => there.attempts += failure.attempts,
            None => all.push(*failure),
        }
    }
    all.sort_by_key(|failure| {
        (std::cmp::Reverse(failure.attempts), failure.status.is_none(), failure.status, failure.kind)
    });
    all
}
