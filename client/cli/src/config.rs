//! From what was typed to what a run uses: checked, with defaults put in, and written down.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use loadgen_core::{ArrivalProcess, RunConfig, Workload};
use loadgen_http::{RequestTemplate, Trust};
use serde::Serialize;
use serde_json::{Value, json};
use tailback::StrategySpec;
use vocabulary::{TimeScale, duration_text};

use crate::args::{ArrivalsArg, Rate, RunArgs};
use crate::exit::{Exit, Fatal};
use crate::target::Server;

/// Ops of a run that is limited in neither number nor time.
const DEFAULT_OPS: u64 = 2000;
/// Arrivals per second of an open loop.
const DEFAULT_RATE: Rate = Rate(1000.0);
/// How long a run of limited duration may go on to finish what has arrived.
const DEFAULT_DRAIN: Duration = Duration::from_mins(1);

/// What was typed, checked and with defaults put in.
pub(crate) struct Settings {
    pub(crate) strategy: StrategySpec,
    pub(crate) run: RunConfig,
    pub(crate) repeats: u32,
    pub(crate) time_scale: TimeScale,
    pub(crate) request: RequestTemplate,
    pub(crate) trust: Trust,
    pub(crate) idempotent: bool,
}

impl Settings {
    /// Checks what was typed.
    pub(crate) fn new(args: &RunArgs) -> anyhow::Result<Self> {
        let workload = &args.workload;
        if workload.arrivals == ArrivalsArg::Burst && workload.duration.is_some() && workload.ops.is_none() {
            return Err(Fatal::error(
                Exit::Usage,
                "`--arrivals burst` needs `--ops`: a burst has no duration",
            ));
        }
        if workload.drain.is_some() && workload.duration.is_none() {
            return Err(Fatal::error(
                Exit::Usage,
                "`--drain` needs `--duration`: without it a run ends with its ops",
            ));
        }
        let Rate(rate_per_s) = workload.rate.unwrap_or(DEFAULT_RATE);
        let arrivals = match (workload.in_flight, workload.arrivals) {
            (Some(in_flight), _) => ArrivalProcess::Closed { in_flight },
            (None, ArrivalsArg::Poisson) => ArrivalProcess::Poisson { rate_per_s },
            (None, ArrivalsArg::Uniform) => ArrivalProcess::Uniform { rate_per_s },
            (None, ArrivalsArg::Burst) => ArrivalProcess::Burst,
        };
        let unlimited = workload.ops.is_none() && workload.duration.is_none();
        let mut strategy = args.strategy.clone();
        if let Some(max_attempts) = workload.max_attempts {
            strategy = strategy.with_max_attempts(max_attempts);
        }
        let shared = workload.share_strategy || strategy.needs_foreknowledge();
        Ok(Self {
            run: RunConfig {
                seed: workload.seed,
                workload: Workload {
                    arrivals,
                    ops: workload.ops.or(unlimited.then_some(DEFAULT_OPS)),
                    duration: workload.duration,
                },
                clients: workload.clients,
                share_strategy: shared,
                timeout: workload.timeout,
                deadline: workload.deadline,
                drain: workload.duration.map(|_| workload.drain.unwrap_or(DEFAULT_DRAIN)),
                retry_failed: workload.retry_failed,
                ..RunConfig::default()
            },
            strategy,
            repeats: workload.repeats,
            time_scale: workload.time_scale,
            request: request(args)?,
            trust: Trust {
                insecure: args.target.insecure,
                extra_roots_pem: args.target.cacert.as_ref().map(|path| roots(path)).transpose()?,
            },
            idempotent: args.target.idempotent,
        })
    }

    /// What depends on the server: how long an attempt takes, and whether failures may be retried at all.
    pub(crate) fn for_server(&self, server: &Server, seed: u64) -> RunConfig {
        let mut run = RunConfig { seed, ..self.run.clone() };
        match &server.model {
            Some(model) => {
                run.undisturbed_attempt = model.network_delay.mean() + model.service_time.mean();
            }
            None => run.retry_failed &= self.idempotent || self.request.method.is_idempotent(),
        }
        run
    }

    /// The workload in a few words.
    pub(crate) fn workload_text(&self) -> String {
        let Workload { arrivals, ops, duration } = self.run.workload;
        let mut text = match (ops, duration) {
            (Some(ops), Some(duration)) => {
                format!("{} ops or {}", crate::figures::thousands(ops), duration_text::format(duration))
            }
            (Some(ops), None) => format!("{} ops", crate::figures::thousands(ops)),
            (None, Some(duration)) => format!("ops for {}", duration_text::format(duration)),
            (None, None) => "ops".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = match arrivals {
            ArrivalProcess::Poisson { rate_per_s } => write!(text, ", poisson {rate_per_s}/s"),
            ArrivalProcess::Uniform { rate_per_s } => write!(text, ", uniform {rate_per_s}/s"),
            ArrivalProcess::Burst => write!(text, ", all at once"),
            ArrivalProcess::Closed { in_flight } => write!(text, ", closed loop of {in_flight}"),
        };
        if self.run.clients > 1 {
            let _ = write!(text, ", {} clients", self.run.clients);
        }
        text
    }
}

fn request(args: &RunArgs) -> anyhow::Result<RequestTemplate> {
    let target = &args.target;
    let mut headers = http::HeaderMap::new();
    for header in &target.headers {
        headers.append(header.name.clone(), header.value.clone());
    }
    let body = match target.body.as_deref().map(|body| (body, body.strip_prefix('@'))) {
        None => Vec::new(),
        Some((_, Some(path))) => {
            std::fs::read(path).with_context(|| format!("cannot read `{path}` (--body)"))?
        }
        Some((body, None)) => body.as_bytes().to_vec(),
    };
    Ok(RequestTemplate { method: target.method.0.clone(), headers, body: body.into() })
}

/// The command line with the values of headers left out: results are passed on, and values may be secrets.
fn without_secrets(typed: impl Iterator<Item = std::ffi::OsString>) -> Vec<String> {
    let mut header_follows = false;
    typed
        .map(|argument| {
            let argument = argument.to_string_lossy().into_owned();
            if std::mem::take(&mut header_follows) {
                return name_only(&argument);
            }
            // Short flags without a value may stand before `H`.
            let short = argument
                .strip_prefix('-')
                .and_then(|flags| flags.trim_start_matches(['k', 'q']).strip_prefix('H'));
            let header = argument.strip_prefix("--header=").or(short);
            header_follows = argument == "--header" || short == Some("");
            match header {
                Some(header) if !header.is_empty() => {
                    let flag = &argument[..argument.len() - header.len()];
                    format!("{flag}{}", name_only(header))
                }
                _ => argument,
            }
        })
        .collect()
}

fn name_only(header: &str) -> String {
    let name = header.split(':').next().unwrap_or_default();
    format!("{name}: …")
}

/// Certificates to trust, as they stand in a file.
fn roots(path: &Path) -> anyhow::Result<Vec<u8>> {
    let pem = std::fs::read(path).with_context(|| format!("cannot read `{}` (--cacert)", path.display()))?;
    let begin = b"-----BEGIN CERTIFICATE-----";
    if !pem.windows(begin.len()).any(|bytes| bytes == begin) {
        let message = format!("`{}` (--cacert) holds no certificate in PEM form", path.display());
        return Err(Fatal::error(Exit::Usage, message));
    }
    Ok(pem)
}

/// Everything needed to repeat a run: the `config` of the result JSON, and what `--print-config` prints.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConfigRecord {
    program: &'static str,
    version: &'static str,
    command_line: Vec<String>,
    /// `embedded`, `found` or the URL.
    server: String,
    target: String,
    strategy: Vec<PartRecord>,
    max_attempts: String,
    retry_after: String,
    workload: WorkloadRecord,
    timeout: String,
    deadline: Option<String>,
    retry_failed: bool,
    seed: u64,
    repeats: u32,
    time_scale: f64,
    request: RequestRecord,
    /// The mockserver's own configuration; null for any other server.
    server_model: Option<Value>,
}

#[derive(Clone, Debug, Serialize)]
struct PartRecord {
    name: &'static str,
    parameters: BTreeMap<&'static str, String>,
}

#[derive(Clone, Debug, Serialize)]
struct WorkloadRecord {
    ops: Option<u64>,
    duration: Option<String>,
    drain: Option<String>,
    arrivals: &'static str,
    rate_per_s: Option<f64>,
    in_flight: Option<u32>,
    clients: u32,
    share_strategy: bool,
}

#[derive(Clone, Debug, Serialize)]
struct RequestRecord {
    method: String,
    /// Names only: values may be secrets.
    headers: Vec<String>,
    body_bytes: usize,
}

impl ConfigRecord {
    /// What a run with this seed against this server uses.
    pub(crate) fn new(settings: &Settings, server: &Server, seed: u64) -> Self {
        let run = settings.for_server(server, seed);
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
            ArrivalProcess::Closed { in_flight } => ("closed", None, Some(in_flight)),
        };
        Self {
            program: "loadgen",
            version: env!("CARGO_PKG_VERSION"),
            command_line: without_secrets(std::env::args_os().skip(1)),
            server: server.kind.to_string(),
            target: server.url(),
            strategy: parts
                .into_iter()
                .map(|(name, parameters)| PartRecord {
                    name,
                    parameters: parameters
                        .into_iter()
                        .map(|parameter| (parameter.key, parameter.value))
                        .collect(),
                })
                .collect(),
            max_attempts: shared("max-attempts"),
            retry_after: shared("retry-after"),
            workload: WorkloadRecord {
                ops: run.workload.ops,
                duration: run.workload.duration.map(duration_text::format),
                drain: run.drain.map(duration_text::format),
                arrivals,
                rate_per_s,
                in_flight,
                clients: run.clients,
                share_strategy: run.share_strategy,
            },
            timeout: duration_text::format(run.timeout),
            deadline: run.deadline.map(duration_text::format),
            retry_failed: run.retry_failed,
            seed,
            repeats: settings.repeats,
            time_scale: settings.time_scale.factor(),
            request: RequestRecord {
                method: settings.request.method.to_string(),
                headers: settings.request.headers.keys().map(ToString::to_string).collect(),
                body_bytes: settings.request.body.len(),
            },
            server_model: server.model.as_ref().map(|model| json!(model)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_headers_are_left_out_of_the_command_line() {
        let typed =
            ["-H", "a: 1", "--header", "b: 2", "--header=c: 3", "-Hd: 4", "-kqH", "e: 5", "--ops", "9"];
        assert_eq!(
            without_secrets(typed.into_iter().map(Into::into)),
            ["-H", "a: …", "--header", "b: …", "--header=c: …", "-Hd: …", "-kqH", "e: …", "--ops", "9"]
        );
    }
}
