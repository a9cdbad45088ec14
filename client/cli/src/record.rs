//! What a run uses, written down: the `config` of the result JSON, and what `--print-config` prints.

use std::ffi::OsString;

use loadgen_core::{ArrivalProcess, OperationKind};
use mockserver::core::Config;
use results::{ConfigRecord, PartRecord, RequestRecord, ServerModel, WorkloadRecord};
use vocabulary::duration_text;

use crate::secrets;
use crate::settings::Settings;

/// The server of a run, as it is written down.
pub(crate) struct ServerRecord<'a> {
    /// `embedded`, `found`, `simulated` or the URL.
    pub(crate) kind: String,
    pub(crate) target: Option<String>,
    pub(crate) model: Option<&'a Config>,
}

/// A mockserver's configuration, as it is written down.
pub(crate) fn server_model(config: &Config) -> ServerModel {
    ServerModel::of(config).expect("a test writes one: its keys have plain values")
}

/// Whether the server of a run is known to keep slots busy with rejections.
pub(crate) fn rejections_hold_slots(config: &ConfigRecord) -> bool {
    let model = config.server_model.as_ref().and_then(ServerModel::read::<Config>);
    model.is_some_and(|model| model.rejections_hold_slots())
}

/// What a run with this seed against this server uses.
pub(crate) fn config_record(settings: &Settings, server: &ServerRecord<'_>, seed: u64) -> ConfigRecord {
    let run = settings.for_server(server.model, seed);
    let mut parts = settings.strategy.describe();
    let common = parts.pop().map(|(_, common)| common).unwrap_or_default();
    let shared = |key: &str| {
        common
            .iter()
            .find(|parameter| parameter.key == key)
            .map_or_else(String::new, |found| found.value.clone())
    };
    let (arrivals, rate_per_s, in_flight) = match run.workload.arrivals {
        ArrivalProcess::Poisson { rate_per_s } => ("poisson", Some(rate_per_s), None),
        ArrivalProcess::Uniform { rate_per_s } => ("uniform", Some(rate_per_s), None),
        ArrivalProcess::Burst => ("burst", None, None),
        ArrivalProcess::Scattered(_) => ("scattered", None, None),
        ArrivalProcess::Listed(_) => ("listed", None, None),
        ArrivalProcess::Closed { in_flight } => ("closed", None, Some(in_flight)),
    };
    ConfigRecord {
        program: "loadgen".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: secrets::without(without_outputs(std::env::args_os().skip(1))),
        server: server.kind.clone(),
        target: server.target.clone(),
        strategy: parts
            .into_iter()
            .map(|(name, parameters)| PartRecord {
                name: name.to_owned(),
                parameters: parameters
                    .into_iter()
                    .map(|parameter| (parameter.key.to_owned(), parameter.value))
                    .collect(),
            })
            .collect(),
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
            in_flight,
            clients: run.clients,
            share_strategy: run.share_strategy,
        },
        timeout: duration_text::format(run.timeout),
        deadline: run.deadline.map(duration_text::format),
        warm_up: duration_text::format(run.warm_up),
        retry_failed: run.retry_failed,
        seed,
        repeats: settings.repeats,
        time_scale: settings.time_scale.factor(),
        request: RequestRecord {
            method: settings.request.method.to_string(),
            headers: settings.request.headers.keys().map(ToString::to_string).collect(),
            body_bytes: settings.request.body.len(),
        },
        server_model: server.model.map(server_model),
    }
}

/// The command line without what says where results go and how many threads work: it changes no figure, and a simulated
/// result must not depend on it.
fn without_outputs(typed: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    const WITH_VALUE: &[&str] = &["--csv", "--hdr", "--html", "--json", "--samples", "--threads"];
    const PLAIN: &[&str] = &["--no-tui", "--quiet", "-q"];
    let mut value_follows = false;
    typed.filter(move |argument| {
        if std::mem::take(&mut value_follows) {
            return false;
        }
        let argument = argument.to_string_lossy();
        value_follows = WITH_VALUE.contains(&argument.as_ref());
        let inline = WITH_VALUE
            .iter()
            .any(|flag| argument.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')));
        !value_follows && !inline && !PLAIN.contains(&argument.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_results_go_is_left_out_of_the_command_line() {
        let typed = ["--simulate", "--json", "a.json", "--threads=2", "-q", "--ops", "9", "--json=-"];
        let kept: Vec<OsString> = without_outputs(typed.into_iter().map(Into::into)).collect();
        assert_eq!(kept, ["--simulate", "--ops", "9"]);
    }
}
