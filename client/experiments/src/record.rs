//! Recorded configuration of a run: the `config` of the result JSON, and the output of `--print-config`.

use std::collections::BTreeMap;

use loadgen_core::{ArrivalProcess, OperationKind};
use mockserver::core::Config;
use results::{ConfigRecord, PartRecord, RequestRecord, ServerModel, TransportRecord, WorkloadRecord};
use tailback::StrategySpec;
use vocabulary::{ParameterInfo, duration_text};

use crate::experiment::Experiment;

const SIMULATED: &str = "simulated";

pub struct ServerRecord<'a> {
    /// Kind of server (`embedded`, `found` or `simulated`), or the URL of the server.
    pub kind: String,
    pub target: Option<String>,
    pub model: Option<&'a Config>,
}

pub fn server_model(config: &Config) -> ServerModel {
    ServerModel::new(config).expect("a configuration can always be serialized, as a test checks")
}

pub fn rejections_hold_slots(config: &ConfigRecord) -> bool {
    model(config).is_some_and(|model| model.rejections_hold_slots())
}

pub fn has_faults(config: &ConfigRecord) -> bool {
    model(config).is_some_and(|model| model.has_faults())
}

fn model(config: &ConfigRecord) -> Option<Config> {
    config.server_model.as_ref()?.read()
}

/// Returns the records of a strategy's parts, from the outermost layer to the innermost. If a layer changes retry rules, the record of
/// these rules follows the records of the layer's parts. Rules of the innermost layer are left out if results have separate keys for them.
fn part_records(described: Vec<(&'static str, Vec<ParameterInfo>)>) -> Vec<PartRecord> {
    let (usual, last) = (StrategySpec::common_parameters(), described.len().saturating_sub(1));
    let parts = described.into_iter().enumerate().filter_map(|(index, (name, parameters))| {
        let is_rules = name.is_empty();
        let has_key = |key| index == last && ["max-attempts", "retry-after"].contains(&key);
        let is_recorded =
            |parameter: &ParameterInfo| !is_rules || !has_key(parameter.key) && !usual.contains(parameter);
        let recorded = parameters.into_iter().filter(is_recorded);
        let parameters: BTreeMap<String, String> =
            recorded.map(|parameter| (parameter.key.to_owned(), parameter.value)).collect();
        let name = if is_rules { "rules" } else { name }.to_owned();
        (!is_rules || !parameters.is_empty()).then_some(PartRecord { name, parameters })
    });
    parts.collect()
}

pub fn config_record(settings: &Experiment, server: &ServerRecord<'_>, seed: u64) -> ConfigRecord {
    let run = settings.for_server(server.model, seed);
    let described = settings.strategy.describe();
    let common = described.last().map(|(_, common)| common.clone()).unwrap_or_default();
    let shared = |key: &str| {
        common
            .iter()
            .find(|parameter| parameter.key == key)
            .map_or_else(String::new, |found| found.value.clone())
    };
    let (arrivals, rate_per_s, in_flight) = match run.workload.arrivals {
        ArrivalProcess::Poisson { rate_per_s } => ("poisson", Some(rate_per_s), None),
        ArrivalProcess::Uniform { rate_per_s } => ("uniform", Some(rate_per_s), None),
        ArrivalProcess::Staged { is_uniform: false, .. } => ("poisson", None, None),
        ArrivalProcess::Staged { is_uniform: true, .. } => ("uniform", None, None),
        ArrivalProcess::Burst => ("burst", None, None),
        ArrivalProcess::Scattered(_) => ("scattered", None, None),
        ArrivalProcess::Listed(_) => ("listed", None, None),
        ArrivalProcess::Closed { in_flight } => ("closed", None, Some(in_flight)),
    };
    ConfigRecord {
        program: "loadgen".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: settings.command_line.clone(),
        server: server.kind.clone(),
        target: server.target.clone(),
        strategy: part_records(described),
        max_attempts: shared("max-attempts"),
        retry_after: shared("retry-after"),
        workload: WorkloadRecord {
            kind: match run.kind {
                OperationKind::Request => "request".to_owned(),
                OperationKind::ReadModifyWrite => "read-modify-write".to_owned(),
            },
            ops: run.workload.ops,
            duration: run.workload.duration.map(duration_text::format),
            drain: run.drain.map(duration_text::format),
            arrivals: arrivals.to_owned(),
            rate_per_s,
            rate: settings.rate_text(),
            in_flight,
            clients: run.clients,
            share_strategy: run.share_strategy,
            more: settings.recorded_as_typed.clone(),
        },
        // The recorded timeout is the requested one, even if the strategy has a timeout of its own. Such a strategy therefore remains
        // comparable with others.
        timeout: duration_text::format(settings.run.timeout),
        deadline: run.deadline.map(duration_text::format),
        within: run.within.map(duration_text::format),
        warm_up: duration_text::format(run.warm_up),
        retry_failed: run.retry_failed,
        seed,
        repeats: settings.repeats,
        time_scale: settings.time_scale.factor(),
        delay_noise: (server.kind == SIMULATED)
            .then(|| duration_text::format(settings.workload.delay_noise())),
        request: RequestRecord {
            method: settings.request.method.to_string(),
            headers: settings.request.headers.keys().map(ToString::to_string).collect(),
            body_bytes: settings.request.body.len(),
            more: BTreeMap::new(),
        },
        transport: (server.kind != SIMULATED).then(|| TransportRecord {
            name: settings.sending.transport.towards(server.model.is_some()).name.to_owned(),
            threads: settings.sending.threads.get(),
            no_keepalive: !settings.sending.keep_alive,
        }),
        server_model: server.model.map(server_model),
        merged: Vec::new(),
        more: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::{plain, said_of_each};
    use crate::workload::{Spelling, WorkloadSpec};

    fn record(workload: &WorkloadSpec) -> ConfigRecord {
        let strategy = "immediate".parse().unwrap();
        let experiment = Experiment::new(strategy, workload, Spelling::Flags).unwrap();
        let server = ServerRecord { kind: "simulated".to_owned(), target: None, model: None };
        config_record(&experiment, &server, experiment.run.seed)
    }

    #[test]
    fn every_workload_parameter_is_recorded() {
        let plain = plain();
        for (parameter, said) in said_of_each() {
            assert_ne!(record(&said), record(&plain), "`{}` leaves no trace", parameter.key);
        }
    }
}
