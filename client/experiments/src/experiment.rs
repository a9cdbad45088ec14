//! One experiment: which strategy, with which workload, how often, and how requests look that leave this machine.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, IF_MATCH};
use http::{HeaderValue, Method};
use loadgen_core::{ArrivalProcess, Mix, OperationKind, PlannedOutages, RequestKind, RunConfig};
use loadgen_http::{RequestTemplate, TransportChoice, Trust};
use mockserver::core::Config;
use results::Setting;
use tailback::StrategySpec;
use vocabulary::{Instant, Rate, TimeScale};

use crate::error::Error;
use crate::sharded::Sharded;
use crate::workload::{Spelling, WorkloadError, WorkloadSpec, recorded_as_typed};

/// What opens a mockserver's own endpoints.
#[derive(Clone)]
pub struct Admin {
    /// As it is sent.
    pub authorization: HeaderValue,
    /// Whether it was typed for this target; else it comes from the environment.
    pub typed: bool,
}

/// Windows of limits that a run waits out.
const LONGEST_WINDOW: Duration = Duration::from_hours(1);

/// How attempts are sent over HTTP.
#[derive(Clone, Debug)]
pub struct Sending {
    /// By what.
    pub transport: TransportChoice,
    /// Addresses of this machine that connections come from, in turn; with none, the system chooses.
    pub local_addresses: Arc<[IpAddr]>,
    /// Threads that carry attempts.
    pub threads: NonZero<usize>,
    /// Over HTTP/2: connections of each thread.
    pub http2_connections: NonZero<usize>,
}

impl Default for Sending {
    fn default() -> Self {
        let one = NonZero::<usize>::MIN;
        Self {
            transport: TransportChoice::Auto,
            local_addresses: Arc::default(),
            threads: one,
            http2_connections: one,
        }
    }
}

/// What is run: checked, and with defaults put in.
#[derive(Clone)]
pub struct Experiment {
    /// Who decides when attempts are made.
    pub strategy: StrategySpec,
    /// What the client side of every run is given; its seed is that of the first run.
    pub run: RunConfig,
    /// The workload that it came of, for who plans the same again.
    pub workload: WorkloadSpec,
    /// What else the workload says, as records have it.
    pub recorded_as_typed: BTreeMap<String, Setting>,
    /// Whether somebody said how fast ops arrive: foreign servers are not loaded by default.
    pub paced: bool,
    /// Runs to do, with seeds in a row.
    pub repeats: u32,
    /// Over HTTP: how fast time goes.
    pub time_scale: TimeScale,
    /// Over HTTP: how it is sent.
    pub sending: Sending,
    /// Over HTTP: what is sent.
    pub request: RequestTemplate,
    /// Over HTTP: whose certificates are trusted.
    pub trust: Trust,
    /// `Authorization` for the endpoints of a mockserver on another host.
    pub admin: Option<Admin>,
    /// Whether requests may be sent again whatever their method.
    pub idempotent: bool,
    /// Over HTTP: which share of the clients is taken here, where others do the rest.
    pub sharded: Option<Sharded>,
    /// What was typed, as results show it; empty where nobody typed anything.
    pub command_line: Vec<String>,
    /// Whether op latencies of runs that are over are kept for an interval log.
    pub keep_latencies: bool,
}

impl Experiment {
    /// A strategy under a workload; requests are plain ones, which may be sent again.
    ///
    /// # Errors
    /// When parameters of the workload do not fit one another.
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
        let mut experiment = Self::of_run(strategy, run);
        experiment.workload = workload.clone();
        experiment.recorded_as_typed = recorded_as_typed(workload);
        experiment.paced = workload.is_paced();
        experiment.repeats = workload.repeats.unwrap_or(1);
        experiment.time_scale = workload.time_scale.unwrap_or_default();
        Ok(experiment)
    }

    /// One run of a strategy that is configured as it stands.
    pub fn of_run(strategy: StrategySpec, run: RunConfig) -> Self {
        Self {
            strategy,
            run,
            workload: WorkloadSpec::default(),
            recorded_as_typed: BTreeMap::new(),
            paced: true,
            repeats: 1,
            time_scale: TimeScale::default(),
            sending: Sending::default(),
            request: RequestTemplate::default(),
            trust: Trust::default(),
            admin: None,
            sharded: None,
            idempotent: true,
            command_line: Vec::new(),
            keep_latencies: false,
        }
    }

    /// The rate at which ops arrive, in the unit in which it was given; `None` where arrivals have none.
    pub fn rate(&self) -> Option<Rate> {
        let (ArrivalProcess::Poisson { rate_per_s } | ArrivalProcess::Uniform { rate_per_s }) =
            self.run.workload.arrivals
        else {
            return None;
        };
        let given = self.workload.rate.filter(|rate| rate.per_s().total_cmp(&rate_per_s).is_eq());
        Some(given.unwrap_or(Rate::per_second(rate_per_s)))
    }

    /// Refuses the oracle where there is no plan for it: of anything but single requests against a plain cap.
    pub fn refuse_unplannable(&self, server: &Config) -> Result<(), Error> {
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
        Err(Error::usage(format!(
            "the oracle has a plan for single requests against a plain cap only; leave out {}, or choose another strategy",
            in_the_way.join(", ")
        )))
    }

    /// Refuses a client with rules of its own that would send again what may count twice, to a server that is no mockserver:
    /// it is not silently made another client.
    pub fn refuse_sending_twice(&self) -> Result<(), Error> {
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
        Err(Error::usage(format!(
            "`{}` has rules of its own for what it sends again, and a {method} that is sent twice may count twice; add \
             `--idempotent` if it does not, or `--retry-failed false` to end ops at their first failure",
            self.strategy
        )))
    }

    /// The strategy of clients with these requests. Clients that are started by the same one share what is the same for all of them.
    pub fn strategy_of_clients(&self) -> StrategySpec {
        let spec = self.strategy.clone();
        let of_method = |method: &Method| tailback::Method::named(method.as_str());
        match (&self.run.requests.mix, self.run.kind) {
            (Some(mix), _) => spec.with_methods(mix.kinds().iter().map(RequestKind::rules_method)),
            (None, OperationKind::Request) => spec.with_method(of_method(&self.request.method)),
            (None, OperationKind::ReadModifyWrite) => spec.with_method(of_method(&Method::PUT)),
        }
    }

    /// Refuses kinds of requests that a mockserver takes for questions about itself.
    pub fn refuse_own_endpoints(&self) -> Result<(), Error> {
        let kinds = self.run.requests.mix.iter().flat_map(Mix::kinds);
        match kinds.map(|kind| &*kind.path).find(|path| *path == "/metrics") {
            None => Ok(()),
            Some(path) => Err(Error::usage(format!(
                "`{path}` (--mix) is an endpoint of the mockserver's own and no work; choose another path"
            ))),
        }
    }

    /// Refuses to say how a request looks where attempts are of requests of their own, or twice in different words.
    pub fn refuse_request_of_its_own(&self) -> Result<(), Error> {
        let request = &self.request;
        if self.run.requests.api_keys.is_some() && request.headers.contains_key(AUTHORIZATION) {
            return Err(Error::usage(
                "`--header authorization` and `--api-keys` contradict one another: each says whose requests they are; leave \
                 one out",
            ));
        }
        if self.run.kind != OperationKind::ReadModifyWrite {
            return Ok(());
        }
        let what = match () {
            () if ![Method::GET, Method::PUT].contains(&request.method) => "--method",
            () if request.headers.contains_key(IF_MATCH) => "--header if-match",
            () => return Ok(()),
        };
        Err(Error::usage(format!(
            "`{what}` means nothing with `--kind read-modify-write`, whose attempts are a GET and a PUT with the tag that \
             the GET brought; leave it out"
        )))
    }

    /// What depends on the server (a mockserver's model, or none): how long an attempt takes, and whether failures may be
    /// retried at all.
    pub fn for_server(&self, model: Option<&Config>, seed: u64) -> RunConfig {
        let shard = self.sharded.as_ref().map_or(self.run.shard, |sharded| sharded.shard);
        let mut run = RunConfig { seed, shard, ..self.run.clone() };
        run.timeout = self.strategy.attempt_timeout().map_or(run.timeout, |own| own.min(run.timeout));
        if let Some(model) = model {
            run.undisturbed_attempt = model.undisturbed_attempt();
            run.mean_service = Some(model.mean_service());
            // While a window is used up, nothing succeeds, and yet nothing stands still; days are nobody's patience.
            run.patience = run.patience.saturating_add(model.longest_window().min(LONGEST_WINDOW));
            run.outages = planned_outages(model);
        } else {
            // A conditional write counts once, however often it is sent; of a mix each op has a method of its own.
            let conditional = run.kind == OperationKind::ReadModifyWrite;
            let own = run.requests.mix.is_some() || self.request.method.is_idempotent();
            run.retry_failed &= self.idempotent || conditional || own;
            run.requests.unsafe_fail_once = !self.idempotent && run.requests.mix.is_some();
            // Nothing is known of how long an attempt takes: patience for at least two that time out.
            run.undisturbed_attempt = run.undisturbed_attempt.max(run.timeout / 50);
        }
        run
    }
}

/// Returns the scheduled downtime of a mockserver whose configuration stays as it is.
fn planned_outages(model: &Config) -> PlannedOutages {
    let instant = Instant::from_nanos;
    let down = model.schedule.down().into_iter();
    PlannedOutages {
        since_start: model.outages.spans().collect(),
        since_first_request: down.map(|(from, to)| (instant(from), instant(to))).collect(),
        server_age: Duration::ZERO,
    }
}
