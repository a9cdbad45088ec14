//! Conversion of command-line flags into an experiment, with checks and defaults.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use experiments::servers::target::ServerChoice;
use experiments::workload::Spelling;
use experiments::{Admin, Experiment};
use http::HeaderValue;
use loadgen_core::{ArrivalProcess, Mix, Workload};
use loadgen_http::{IdentityPem, RequestTemplate, Trust};
use mockserver::AdminToken;
use vocabulary::{TimeScale, duration_text};

use crate::files::reading::{SMALL, bytes_of};
use crate::secrets::HIDDEN;
use crate::text::{counted, thousands};
use crate::{RunArgs, usage, usage_because};

/// Strategy of runs for which the user named none. Against servers other than mockservers it is replaced by `none`.
pub const DEFAULT_STRATEGY: &str = "aimd";

pub fn of_flags(args: &RunArgs) -> anyhow::Result<Experiment> {
    let strategy = args.strategy.clone().map_or_else(|| DEFAULT_STRATEGY.parse(), Ok)?;
    let mut experiment = Experiment::new(strategy, &args.workload.0, Spelling::Flags).map_err(usage)?;
    let of_target = &args.target;
    let needs_target =
        of_target.cert.is_some() || of_target.key.is_some() || !of_target.connect_to.is_empty();
    if needs_target && of_target.target.is_none() {
        return Err(usage(
            "`--cert`, `--key` and `--connect-to` need `--target URL`, because the built-in mockserver speaks plain HTTP on this machine",
        ));
    }
    if let Some(flag) = with_hidden_value(args) {
        return Err(usage(format!(
            "{flag}: `…` stands for a value that results leave out; write the value instead"
        )));
    }
    if args.simulate && experiment.time_scale != TimeScale::default() {
        return Err(usage(
            "`--time-scale` needs HTTP, because virtual time takes no time; leave out one of `--time-scale` and `--simulate`",
        ));
    }
    if args.simulate && experiment.workload.success.is_some() {
        return Err(usage(
            "`--success` needs HTTP, because in virtual time the server's own verdict counts; leave out one of `--success` and `--simulate`",
        ));
    }
    if !args.simulate && experiment.workload.delay_noise.is_some() {
        return Err(usage(
            "`--delay-noise` has no effect over HTTP, where network delays vary anyway; leave it out, or add `--simulate`",
        ));
    }
    experiment.run.requests.bodies = bodies(experiment.run.requests.mix.as_ref())?;
    Ok(Experiment {
        is_default_strategy: args.strategy.is_none(),
        sending: args.target.transport.sending(args.output.threads)?,
        request: request(args)?,
        trust: Trust {
            insecure: args.target.insecure,
            roots_pem: args
                .target
                .cacert
                .as_ref()
                .map(|path| pem(path, "--cacert", CERTIFICATE))
                .transpose()?,
            identity: identity(args)?,
        },
        connect_to: args.target.connect_to.clone(),
        admin: admin(args)?,
        idempotent: args.target.idempotent,
        command_line: crate::secrets::command_line(),
        ..experiment
    })
}

pub fn server_choice<'a>(args: &'a RunArgs, experiment: &Experiment) -> ServerChoice<'a> {
    ServerChoice {
        target: args.target.target.as_deref(),
        ask: args.target.mock,
        own: args.server.to_config(experiment.run.seed),
        own_is_described: args.server.any_given(),
    }
}

pub fn workload_text(experiment: &Experiment) -> String {
    let Workload { arrivals, ops, duration } = &experiment.run.workload;
    let mut text = match (ops, duration) {
        (Some(ops), Some(duration)) => {
            format!("{} ops or {}", thousands(*ops), duration_text::format(*duration))
        }
        (Some(ops), None) => format!("{} ops", thousands(*ops)),
        (None, Some(duration)) => format!("ops for {}", duration_text::format(*duration)),
        (None, None) => "ops".to_owned(),
    };
    let rate = experiment.rate_text().unwrap_or_default();
    let _ = match arrivals {
        ArrivalProcess::Poisson { .. } | ArrivalProcess::Staged { is_uniform: false, .. } => {
            write!(text, ", poisson {rate}")
        }
        ArrivalProcess::Uniform { .. } | ArrivalProcess::Staged { is_uniform: true, .. } => {
            write!(text, ", uniform {rate}")
        }
        ArrivalProcess::Burst => write!(text, ", all at once"),
        ArrivalProcess::Scattered(_) => write!(text, ", scattered"),
        ArrivalProcess::Listed(_) => write!(text, ", as listed"),
        ArrivalProcess::Closed { in_flight } => write!(text, ", closed loop of {in_flight}"),
    };
    if experiment.run.clients > 1 {
        let _ = write!(text, ", {} clients", experiment.run.clients);
    }
    if let Some(mix) = &experiment.run.requests.mix {
        let count = mix.kinds().len();
        let _ = write!(text, ", {count} kind{} of requests", if count == 1 { "" } else { "s" });
    }
    if let Some(keys) = experiment.run.requests.api_keys {
        let _ = write!(text, ", {}", counted(keys.get().into(), "API key"));
    }
    text
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
            bytes_of(Path::new(path), SMALL).with_context(|| format!("cannot read `{path}` (--body)"))?
        }
        Some((body, None)) => body.as_bytes().to_vec(),
    };
    Ok(RequestTemplate { method: target.method.0.clone(), headers, body: body.into() })
}

/// Returns the flag whose value was copied from results, which contain `…` instead of the value.
fn with_hidden_value(args: &RunArgs) -> Option<&'static str> {
    let target = &args.target;
    let kinds = args.workload.0.mix.iter().flat_map(Mix::kinds);
    let is_hidden = |text: Option<&str>| text == Some(HIDDEN);
    let has_hidden = |text: Option<&str>| text.is_some_and(|text| text.contains(HIDDEN));
    [
        ("--header", target.headers.iter().any(|header| header.value == HIDDEN)),
        ("--body", is_hidden(target.body.as_deref())),
        ("--admin-token", is_hidden(target.admin_token.as_deref())),
        ("--mix", kinds.into_iter().any(|kind| has_hidden(kind.query.as_deref()))),
        ("--target", has_hidden(target.target.as_deref())),
    ]
    .into_iter()
    .find_map(|(flag, is_hidden)| is_hidden.then_some(flag))
}

/// Reads the files with the bodies of kinds of requests.
fn bodies(mix: Option<&Mix>) -> anyhow::Result<BTreeMap<usize, Arc<[u8]>>> {
    let kinds = mix.into_iter().flat_map(Mix::kinds).enumerate();
    let files = kinds.filter_map(|(number, kind)| Some((number, kind.body.as_deref()?)));
    let read = files.map(|(number, path)| {
        let body =
            bytes_of(Path::new(path), SMALL).with_context(|| format!("cannot read `{path}` (--mix)"))?;
        Ok((number, body.into()))
    });
    read.collect()
}

fn admin(args: &RunArgs) -> anyhow::Result<Option<Admin>> {
    let token = match &args.target.admin_token {
        Some(typed) => AdminToken::typed("--admin-token", typed).map(Some),
        None => AdminToken::environment(),
    };
    let token = token.map_err(|error| usage_because("no token for the mockserver", error))?;
    let Some(token) = token else { return Ok(None) };
    let mut value = HeaderValue::from_str(&token.bearer())?;
    value.set_sensitive(true);
    Ok(Some(Admin { authorization: value, typed: args.target.admin_token.is_some() }))
}

const CERTIFICATE: &str = "BEGIN CERTIFICATE-----";
const KEY: &str = "PRIVATE KEY-----";

/// Reads a file of a flag, which must contain `mark`: the line that begins a certificate or a private key.
fn pem(path: &Path, flag: &str, mark: &str) -> anyhow::Result<Vec<u8>> {
    let path_text = path.display();
    let pem = bytes_of(path, SMALL).with_context(|| format!("cannot read `{path_text}` ({flag})"))?;
    let holds = |mark: &str| pem.windows(mark.len()).any(|bytes| bytes == mark.as_bytes());
    // The second one is the older form of OpenSSL (RFC 1421).
    if mark == KEY && (holds("ENCRYPTED PRIVATE KEY") || holds("Proc-Type: 4,ENCRYPTED")) {
        return Err(usage(format!(
            "the private key in `{path_text}` ({flag}) has a password; decrypt it first, with `openssl pkey -in FILE -out FILE`"
        )));
    }
    if holds(mark) {
        return Ok(pem);
    }
    let (what, other) = if mark == KEY { ("private key", "--key") } else { ("certificate", "--cert") };
    let hint =
        if flag == "--cacert" || flag == other { String::new() } else { format!("; add `{other} FILE`") };
    Err(usage(format!("`{path_text}` ({flag}) holds no {what} in PEM form{hint}")))
}

/// Returns the client certificate and its private key. One file may hold both.
fn identity(args: &RunArgs) -> anyhow::Result<Option<IdentityPem>> {
    let cert = args.target.cert.as_deref().map(|path| (path, "--cert"));
    let key = args.target.key.as_deref().map(|path| (path, "--key"));
    let Some((of_cert, of_key)) = cert.or(key).zip(key.or(cert)) else { return Ok(None) };
    let certificates = pem(of_cert.0, of_cert.1, CERTIFICATE)?;
    Ok(Some(IdentityPem { certificates, key: pem(of_key.0, of_key.1, KEY)? }))
}
