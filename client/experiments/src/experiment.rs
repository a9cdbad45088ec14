//! Settings of one experiment: strategy, workload, number of runs, and the requests sent over HTTP.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, IF_MATCH};
use http::{HeaderValue, Method};
use loadgen_core::{ArrivalProcess, ArrivalRate, Mix, OperationKind, PlannedOutages, RequestKind, RunConfig};
use loadgen_http::{ConnectTo, RequestTemplate, TransportChoice, Trust};
use mockserver::core::Config;
use results::Setting;
use tailback::StrategySpec;
use vocabulary::{Instant, Rate, TimeScale};

use crate::error::refuse;
use crate::workload::{Spelling, WorkloadError, WorkloadSpec, recorded_as_typed};

/// Credentials for the administrative endpoints of a mockserver.
#[derive(Clone)]
pub struct Admin {
    pub authorization: HeaderValue,
    /// True if the user gave the credentials on the command line for this target. False if the credentials come from the environment.
    pub typed: bool,
}

/// Maximum time by which a used-up rate-limit window may delay the decision that a run has stalled.
const MAX_WINDOW: Duration = Duration::from_hours(1);

#[derive(Clone, Debug)]
pub struct Sending {
    pub transport: TransportChoice,
    /// Local IP addresses that connections use in turn. If the list is empty, the operating system chooses the address.
    pub local_addresses: Arc<[IpAddr]>,
    pub threads: NonZero<usize>,
    /// Whether connections are used for further requests.
    pub keep_alive: bool,
    /// Number of HTTP/2 connections that each thread opens.
    pub http2_connections: NonZero<usize>,
}

impl Default for Sending {
    fn default() -> Self {
        let one = NonZero::<usize>::MIN;
        Self {
            transport: TransportChoice::Auto,
            local_addresses: Arc::default(),
            threads: one,
            keep_alive: true,
            http2_connections: one,
        }
    }
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Experiment {
    pub strategy: StrategySpec,
    /// True if the user named no strategy.
    pub is_default_strategy: bool,
    /// Client configuration that all runs share, except for the seed. Its `seed` is the seed of the first run.
    pub run: RunConfig,
    /// Workload from which the configuration `run` was built. From this workload, another process can plan the same experiment.
    pub workload: WorkloadSpec,
    /// Values of workload parameters for which results have no separate field, in the form in which results record them.
    pub recorded_as_typed: BTreeMap<String, Setting>,
    /// True if the user specified the load. Without this, no load is sent to servers other than mockservers.
    pub paced: bool,
    /// Number of runs of the experiment.
    pub repeats: u32,
    /// Seeds of the runs, if they are merged runs. All other runs have consecutive seeds.
    pub merged_seeds: Option<Arc<[u64]>>,
    /// Conversion between experiment time and real time, for runs over HTTP only.
    pub time_scale: TimeScale,
    pub sending: Sending,
    pub request: RequestTemplate,
    pub trust: Trust,
    pub connect_to: Vec<ConnectTo>,
    pub admin: Option<Admin>,
    /// True if every request may be sent more than once, even if its HTTP method is not idempotent.
    pub idempotent: bool,
    pub command_line: Vec<String>,
    /// Whether the op latencies of completed runs are kept, because an interval log needs them.
    pub keep_latencies: bool,
}

impl Experiment {
    /// Creates an experiment that sends the default request. This request may be sent more than once.
    ///
    /// # Errors
    /// Fails if parameters of the workload contradict each other.
    pub fn new(
        strategy: StrategySpec,
        workload: &WorkloadSpec,
        spelling: Spelling,
    ) -> Result<Self, WorkloadError> {
        let strategy = match workload.max_attempts {
            Some(max_attempts) => strategy.with_max_attempts(max_attempts),
            None => strategy,
        };
        let run = workload.run_config(&strategy, spelling)?;
        Ok(Self {
            workload: workload.clone(),
            recorded_as_typed: recorded_as_typed(workload),
            paced: workload.is_paced(),
            repeats: workload.repeats.unwrap_or(1),
            time_scale: workload.time_scale.unwrap_or_default(),
            ..Self::of_run(strategy, run)
        })
    }

    /// Creates an experiment with a single run, whose configuration is `run`. The strategy is used as it is.
    pub fn of_run(strategy: StrategySpec, run: RunConfig) -> Self {
        Self {
            strategy,
            is_default_strategy: false,
            run,
            workload: WorkloadSpec::default(),
            recorded_as_typed: BTreeMap::new(),
            paced: true,
            repeats: 1,
            merged_seeds: None,
            time_scale: TimeScale::default(),
            sending: Sending::default(),
            request: RequestTemplate::default(),
            trust: Trust::default(),
            connect_to: Vec::new(),
            admin: None,
            idempotent: true,
            command_line: Vec::new(),
            keep_latencies: false,
        }
    }

    /// Returns the seed of the run with this number, from 0.
    pub fn seed(&self, number: usize) -> u64 {
        let merged = self.merged_seeds.as_ref().and_then(|seeds| seeds.get(number).copied());
        merged.unwrap_or_else(|| self.run.seed.wrapping_add(number as u64))
    }

    /// Replaces the default strategy by `none`, for a server that is not a mockserver. Its users expect the load that they specified,
    /// and every failure of the server. A strategy would send less, and retries would hide failures.
    ///
    /// # Errors
    /// Fails if a flag has no effect on `none`.
    pub fn use_strategy_of_foreign_servers(&mut self) -> anyhow::Result<()> {
        if !self.is_default_strategy {
            return Ok(());
        }
        let flags = [
            ("--max-attempts", self.workload.max_attempts.is_some()),
            ("--idempotent", self.idempotent),
            ("--no-retry-failed", self.workload.retry_failed == Some(false)),
            ("--share-strategy", self.workload.share_strategy == Some(true)),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
            return refuse(format!(
                "`{flag}` has no effect on `none`; add `--strategy`, because a server that is not a mockserver gets no retries \
                 without it"
            ));
        }
        self.strategy = "none".parse()?;
        Ok(())
    }

    /// Returns the arrival rate of ops, in the unit in which it was given; `None` if arrivals have no rate.
    pub fn rate(&self) -> Option<Rate> {
        let (ArrivalProcess::Poisson { rate_per_s } | ArrivalProcess::Uniform { rate_per_s }) =
            self.run.workload.arrivals
        else {
            return None;
        };
        let given = self.workload.rate.as_ref().and_then(ArrivalRate::steady);
        let given = given.filter(|rate| rate.per_s().total_cmp(&rate_per_s).is_eq());
        Some(given.unwrap_or(Rate::per_second(rate_per_s)))
    }

    /// Returns the arrival rate, or its stages, as the user gave them; `None` if arrivals have no rate.
    pub fn rate_text(&self) -> Option<String> {
        let stages = self
            .workload
            .rate
            .as_ref()
            .filter(|_| matches!(self.run.workload.arrivals, ArrivalProcess::Staged { .. }));
        stages.map(ToString::to_string).or_else(|| Some(self.rate()?.to_string()))
    }

    /// Rejects oracles (strategies that follow an optimal schedule) if such a schedule cannot be computed. It can be computed only if each
    /// op is a single request and the server has nothing but a concurrency limit.
    pub fn refuse_unplannable(&self, server: &Config) -> anyhow::Result<()> {
        if !self.strategy.needs_foreknowledge() {
            return Ok(());
        }
        let is_other_kind = self.run.kind != OperationKind::Request;
        let in_the_way: Vec<String> = server
            .beyond_a_plain_cap()
            .into_iter()
            .chain(is_other_kind.then_some("kind"))
            .map(|key| format!("`{key}`"))
            .collect();
        if in_the_way.is_empty() {
            return Ok(());
        }
        refuse(format!(
            "`oracle` supports only single requests and a server with a plain concurrency cap; leave out {}, or choose another strategy",
            in_the_way.join(", ")
        ))
    }

    /// Rejects a strategy that has retry rules of its own if it would resend a request that may then take effect twice. Removing the
    /// retries instead would silently turn the strategy into a different client. Called only for servers other than mockservers.
    pub fn refuse_sending_twice(&self) -> anyhow::Result<()> {
        let twice = match &self.run.requests.mix {
            _ if self.idempotent || !self.run.retry_failed || !self.strategy.has_rules() => None,
            _ if self.run.kind == OperationKind::ReadModifyWrite => None,
            None => Some(self.request.method.as_str()).filter(|_| !self.request.method.is_idempotent()),
            Some(mix) => {
                let mut kinds = mix.kinds().iter();
                kinds.find(|kind| !kind.rules_method().is_idempotent()).map(|kind| &*kind.method)
            }
        };
        let Some(method) = twice else { return Ok(()) };
        refuse(format!(
            "`{}` has its own rules for retries, and a {method} request sent twice may take effect twice; add `--idempotent` if it does not, or `--no-retry-failed` to end ops at their first failure",
            self.strategy
        ))
    }

    /// Returns the strategy that clients are built from, adapted to the HTTP methods of the experiment's requests. All clients built from
    /// the returned spec share their common data.
    pub fn strategy_of_clients(&self) -> StrategySpec {
        let spec = self.strategy.clone();
        let of_method = |method: &Method| tailback::Method::named(method.as_str());
        match (&self.run.requests.mix, self.run.kind) {
            (Some(mix), _) => spec.with_methods(mix.kinds().iter().map(RequestKind::rules_method)),
            (None, OperationKind::Request) => spec.with_method(of_method(&self.request.method)),
            (None, OperationKind::ReadModifyWrite) => spec.with_method(of_method(&Method::PUT)),
        }
    }

    pub fn refuse_own_endpoints(&self) -> anyhow::Result<()> {
        let kinds = self.run.requests.mix.iter().flat_map(Mix::kinds);
        match kinds.map(|kind| &*kind.path).find(|path| *path == "/metrics") {
            None => Ok(()),
            Some(path) => refuse(format!(
                "`{path}` (--mix) is an admin endpoint of the mockserver; choose another path"
            )),
        }
    }

    pub fn refuse_request_of_its_own(&self) -> anyhow::Result<()> {
        let request = &self.request;
        if self.run.requests.api_keys.is_some() && request.headers.contains_key(AUTHORIZATION) {
            return refuse(
                "`--header authorization` and `--api-keys` both set the `authorization` header; leave one of them out",
            );
        }
        if self.run.kind != OperationKind::ReadModifyWrite {
            return Ok(());
        }
        let what = match () {
            () if ![Method::GET, Method::PUT].contains(&request.method) => "--method",
            () if request.headers.contains_key(IF_MATCH) => "--header if-match",
            () if self.workload.success.is_some() => "--success",
            () => return Ok(()),
        };
        refuse(format!(
            "`{what}` has no effect with `--kind read-modify-write`, which sends a GET and then a PUT with the ETag of the \
             GET; leave it out"
        ))
    }

    /// Returns the configuration of a run with the given seed. `model` is the configuration of the mockserver, or `None` for any other
    /// server. The server determines the expected duration of an attempt, and whether failed attempts may be retried at all.
    pub fn for_server(&self, model: Option<&Config>, seed: u64) -> RunConfig {
        let mut run = RunConfig { seed, ..self.run.clone() };
        run.timeout = self.strategy.attempt_timeout().map_or(run.timeout, |own| own.min(run.timeout));
        if let Some(model) = model {
            run.undisturbed_attempt = model.undisturbed_attempt();
            run.mean_service = Some(model.mean_service());
            // While a rate-limit window is used up, no attempt succeeds, although the run has not stalled. The run's patience is therefore
            // extended by the longest window, up to `MAX_WINDOW`. Without this maximum, a run could wait for days.
            run.patience = run.patience.saturating_add(model.longest_window().min(MAX_WINDOW));
            run.outages = planned_outages(model);
        } else {
            // A failed conditional write may be retried, because it has an effect only once, however often it is sent. In a mix of
            // requests, each op has its own HTTP method, so the decision is made op by op.
            let conditional = run.kind == OperationKind::ReadModifyWrite;
            let own = run.requests.mix.is_some() || self.request.method.is_idempotent();
            run.retry_failed &= self.idempotent || conditional || own;
            run.requests.unsafe_fail_once = !self.idempotent && run.requests.mix.is_some();
            // Patience is the time without success after which a run counts as stalled. Without a model of the server, the duration of an
            // attempt is unknown. The patience must therefore cover at least two timeouts.
            run.undisturbed_attempt = run.undisturbed_attempt.max(run.timeout / 50);
        }
        run
    }
}

/// Returns the downtime that the configuration of a mockserver schedules. It is valid as long as the configuration does not change.
fn planned_outages(model: &Config) -> PlannedOutages {
    let instant = Instant::from_nanos;
    let down = model.schedule.down().into_iter();
    PlannedOutages {
        since_start: model.outages.spans().collect(),
        since_first_request: down.map(|(from, to)| (instant(from), instant(to))).collect(),
        server_age: Duration::ZERO,
    }
}
