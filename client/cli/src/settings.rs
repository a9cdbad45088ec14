//! From what was typed to what a run uses: checked, and with defaults put in.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use http::header::IF_MATCH;
use http::{HeaderValue, Method};
use loadgen_core::{ArrivalProcess, OperationKind, RunConfig, Workload};
use loadgen_http::{RequestTemplate, Trust};
use mockserver::AdminToken;
use mockserver::core::Config;
use tailback::StrategySpec;
use vocabulary::{TimeScale, duration_text};

use crate::args::{ArrivalsArg, KindArg, Rate, RunArgs};
use crate::exit::{Exit, Fatal};
use crate::files::reading::{SMALL, bytes_of};

/// Ops of a run that is limited in neither number nor time.
pub(crate) const DEFAULT_OPS: u64 = 2000;
/// Ops that may arrive at once.
pub(crate) const LARGEST_BURST: u64 = 10_000_000;
/// Arrivals per second of an open loop.
pub(crate) const DEFAULT_RATE: Rate = Rate(1000.0);
/// How long a run of limited duration may go on to finish what has arrived.
pub(crate) const DEFAULT_DRAIN: Duration = Duration::from_mins(1);

/// What opens a mockserver's own endpoints.
#[derive(Clone)]
pub(crate) struct Admin {
    /// As it is sent.
    pub(crate) authorization: HeaderValue,
    /// Whether it was typed for this target; else it comes from the environment.
    pub(crate) typed: bool,
}

/// What was typed, checked and with defaults put in.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) strategy: StrategySpec,
    pub(crate) run: RunConfig,
    /// Whether somebody said how fast ops arrive: foreign servers are not loaded by default.
    pub(crate) paced: bool,
    pub(crate) repeats: u32,
    pub(crate) time_scale: TimeScale,
    pub(crate) request: RequestTemplate,
    pub(crate) trust: Trust,
    /// `Authorization` for the endpoints of a mockserver on another host.
    pub(crate) admin: Option<Admin>,
    pub(crate) idempotent: bool,
    /// Whether op latencies of runs that are over are kept for an interval log.
    pub(crate) keep_latencies: bool,
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
        if workload.arrivals == ArrivalsArg::Burst && workload.ops.is_some_and(|ops| ops > LARGEST_BURST) {
            let words = format!(
                "`--arrivals burst` takes at most {LARGEST_BURST} ops: they all wait in memory at once"
            );
            return Err(Fatal::error(Exit::Usage, words));
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
                kind: match workload.kind {
                    KindArg::Request => OperationKind::Request,
                    KindArg::ReadModifyWrite => OperationKind::ReadModifyWrite,
                },
                clients: workload.clients,
                share_strategy: shared,
                timeout: workload.timeout,
                deadline: workload.deadline,
                warm_up: workload.warm_up,
                drain: workload.duration.map(|_| workload.drain.unwrap_or(DEFAULT_DRAIN)),
                retry_failed: workload.retry_failed,
                ..RunConfig::default()
            },
            strategy,
            paced: workload.rate.is_some()
                || workload.in_flight.is_some()
                || workload.arrivals == ArrivalsArg::Burst,
            repeats: workload.repeats,
            time_scale: workload.time_scale,
            request: request(args)?,
            trust: Trust {
                insecure: args.target.insecure,
                roots_pem: args.target.cacert.as_ref().map(|path| roots(path)).transpose()?,
            },
            admin: admin(args)?,
            idempotent: args.target.idempotent,
            keep_latencies: args.output.figures.hdr.is_some(),
        })
    }

    /// The settings of an experiment that was not typed but read.
    pub(crate) fn for_experiment(
        strategy: StrategySpec,
        run: RunConfig,
        repeats: u32,
        time_scale: TimeScale,
    ) -> Self {
        Self {
            strategy,
            run,
            paced: true,
            repeats,
            time_scale,
            request: RequestTemplate::default(),
            trust: Trust::default(),
            admin: None,
            idempotent: true,
            keep_latencies: false,
        }
    }

    /// Refuses the oracle where there is no plan for it: of anything but single requests against a plain cap.
    pub(crate) fn refuse_unplannable(&self, server: &Config) -> anyhow::Result<()> {
        let plannable = server.is_plain_cap() && self.run.kind == OperationKind::Request;
        if plannable || !self.strategy.needs_foreknowledge() {
            return Ok(());
        }
        let words = "the oracle has a plan for single requests against a plain cap only; leave out `--policy`, `--loss`, \
                     `--outages`, `--reject-first` and `--kind`, or choose another strategy";
        Err(Fatal::error(Exit::Usage, words))
    }

    /// Refuses to say how a request looks where attempts are of requests of their own.
    pub(crate) fn refuse_request_of_its_own(&self) -> anyhow::Result<()> {
        let request = &self.request;
        if self.run.kind != OperationKind::ReadModifyWrite {
            return Ok(());
        }
        let what = match () {
            () if ![Method::GET, Method::PUT].contains(&request.method) => "--method",
            () if request.headers.contains_key(IF_MATCH) => "--header if-match",
            () => return Ok(()),
        };
        let words = format!(
            "`{what}` means nothing with `--kind read-modify-write`, whose attempts are a GET and a PUT with the tag that \
             the GET brought; leave it out"
        );
        Err(Fatal::error(Exit::Usage, words))
    }

    /// What depends on the server (a mockserver's model, or none): how long an attempt takes, and whether failures may be
    /// retried at all.
    pub(crate) fn for_server(&self, model: Option<&Config>, seed: u64) -> RunConfig {
        let mut run = RunConfig { seed, ..self.run.clone() };
        if let Some(model) = model {
            run.undisturbed_attempt = model.undisturbed_attempt();
            run.mean_service = Some(model.mean_service());
        } else {
            // A conditional write counts once, however often it is sent.
            let conditional = run.kind == OperationKind::ReadModifyWrite;
            run.retry_failed &= self.idempotent || conditional || self.request.method.is_idempotent();
            // Nothing is known of how long an attempt takes: patience for at least two that time out.
            run.undisturbed_attempt = run.undisturbed_attempt.max(run.timeout / 50);
        }
        run
    }

    /// The workload in a few words.
    pub(crate) fn workload_text(&self) -> String {
        let Workload { arrivals, ops, duration } = &self.run.workload;
        let mut text = match (ops, duration) {
            (Some(ops), Some(duration)) => {
                format!(
                    "{} ops or {}",
                    crate::text::figures::thousands(*ops),
                    duration_text::format(*duration)
                )
            }
            (Some(ops), None) => format!("{} ops", crate::text::figures::thousands(*ops)),
            (None, Some(duration)) => format!("ops for {}", duration_text::format(*duration)),
            (None, None) => "ops".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = match arrivals {
            ArrivalProcess::Poisson { rate_per_s } => write!(text, ", poisson {rate_per_s}/s"),
            ArrivalProcess::Uniform { rate_per_s } => write!(text, ", uniform {rate_per_s}/s"),
            ArrivalProcess::Burst => write!(text, ", all at once"),
            ArrivalProcess::Scattered(_) => write!(text, ", scattered"),
            ArrivalProcess::Listed(_) => write!(text, ", as listed"),
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
            bytes_of(Path::new(path), SMALL).with_context(|| format!("cannot read `{path}` (--body)"))?
        }
        Some((body, None)) => body.as_bytes().to_vec(),
    };
    Ok(RequestTemplate { method: target.method.0.clone(), headers, body: body.into() })
}

/// What opens a mockserver's endpoints to this host, typed or from the environment.
fn admin(args: &RunArgs) -> anyhow::Result<Option<Admin>> {
    let token = match &args.target.admin_token {
        Some(typed) => AdminToken::typed("--admin-token", typed).map(Some),
        None => AdminToken::environment(),
    };
    let token = token.map_err(|error| Fatal::because(Exit::Usage, "no token for the mockserver", error))?;
    let Some(token) = token else { return Ok(None) };
    let mut value = HeaderValue::from_str(&token.bearer())?;
    value.set_sensitive(true);
    Ok(Some(Admin { authorization: value, typed: args.target.admin_token.is_some() }))
}

/// Certificates to trust, as they stand in a file.
fn roots(path: &Path) -> anyhow::Result<Vec<u8>> {
    let pem =
        bytes_of(path, SMALL).with_context(|| format!("cannot read `{}` (--cacert)", path.display()))?;
    let begin = b"-----BEGIN CERTIFICATE-----";
    if !pem.windows(begin.len()).any(|bytes| bytes == begin) {
        let message = format!("`{}` (--cacert) holds no certificate in PEM form", path.display());
        return Err(Fatal::error(Exit::Usage, message));
    }
    Ok(pem)
}
