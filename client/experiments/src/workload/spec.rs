//! A workload as the user gave it, and its conversion into the configuration of runs.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use loadgen_core::{
    ArrivalProcess, ArrivalRate, Group, Mix, OperationKind, RateStage, RejectedWhen, Requests, RunConfig,
    SuccessStatuses, Workload,
};
use tailback::StrategySpec;
use vocabulary::{Instant, Rate, TimeScale, duration_text};

pub const DEFAULT_RATE: Rate = Rate::per_second(1000.0);
/// Default number of ops. Used if the user gave no number of ops, no duration and no list of arrivals.
const DEFAULT_OPS: u64 = 2000;
pub(super) const MAX_OPS: u64 = 4_000_000_000;
/// Maximum number of clients. In a closed loop, also the maximum number of ops in progress at once.
pub(super) const MAX_CLIENTS: u32 = 1_000_000;
/// Maximum number of ops that arrive at once, limited because all ops of a burst wait in memory.
pub const MAX_BURST: u64 = 10_000_000;
/// Default drain time. After a run of limited duration has stopped accepting ops, ops that have already arrived may still finish in this
/// time.
const DEFAULT_DRAIN: Duration = Duration::from_mins(1);
/// Default noise that is added to delays in virtual time. A quiet machine adds about as much noise to a round trip.
pub(super) const DEFAULT_DELAY_NOISE: Duration = Duration::from_micros(200);

/// A workload as the user gave it. A field is `None` if the user did not give it. The table of parameters describes the fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadSpec {
    pub ops: Option<u64>,
    pub ops_per_client: Option<u64>,
    pub duration: Option<Duration>,
    pub drain: Option<Duration>,
    pub rate: Option<ArrivalRate>,
    pub arrivals: Option<Arrivals>,
    pub scatter: Option<Arc<[Group]>>,
    pub at: Option<Arc<[Instant]>>,
    pub in_flight: Option<u32>,
    pub clients: Option<u32>,
    pub share_strategy: Option<bool>,
    pub timeout: Option<Duration>,
    pub deadline: Option<Duration>,
    pub within: Option<Duration>,
    pub warm_up: Option<Duration>,
    pub max_attempts: Option<u32>,
    pub retry_failed: Option<bool>,
    pub delay_noise: Option<Duration>,
    pub kind: Option<OperationKind>,
    pub mix: Option<Mix>,
    pub rejected_when: Option<RejectedWhen>,
    pub success: Option<SuccessStatuses>,
    pub api_keys: Option<u32>,
    pub bins: Option<Duration>,
    pub patience: Option<Duration>,
    pub seed: Option<u64>,
    pub repeats: Option<u32>,
    pub time_scale: Option<TimeScale>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    #[default]
    Poisson,
    Uniform,
    Burst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The parameters were given as flags on a command line. A flag that has no effect is an error.
    Flags,
    /// The parameters were given as keys in a file. Some keys without an effect are accepted, because a section of the file may have more
    /// parameters than an experiment needs.
    Keys,
}

impl Spelling {
    /// Returns the name of a parameter in this spelling, in backticks.
    fn of(self, key: &str) -> String {
        match self {
            Self::Flags => format!("`--{key}`"),
            Self::Keys => format!("`{key}`"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct WorkloadError {
    pub key: String,
    words: String,
}

impl WorkloadSpec {
    pub fn is_paced(&self) -> bool {
        self.rate.is_some()
            || self.in_flight.is_some()
            || self.arrivals == Some(Arrivals::Burst)
            || self.scatter.is_some()
            || self.at.is_some()
    }

    /// Returns the maximum of the random noise that virtual time adds to a constant network delay.
    pub fn delay_noise(&self) -> Duration {
        self.delay_noise.unwrap_or(DEFAULT_DELAY_NOISE)
    }

    pub fn run_config(
        &self,
        strategy: &StrategySpec,
        spelling: Spelling,
    ) -> Result<RunConfig, WorkloadError> {
        let duration = self.lasts(spelling)?;
        let arrivals = self.arrival_process(duration);
        let counted = matches!(arrivals, ArrivalProcess::Scattered(_) | ArrivalProcess::Listed(_));
        let unlimited = self.ops.is_none() && duration.is_none() && !counted;
        let clients = self.clients.unwrap_or(1);
        let of_clients = self.ops_per_client.map(|ops| ops.saturating_mul(clients.into()));
        let ops = of_clients.or(self.ops).or(unlimited.then_some(DEFAULT_OPS));
        if let Some(ops) = ops.filter(|ops| !(1..=MAX_OPS).contains(ops)) {
            return Err(error("ops", format!("`ops` is {ops}; it must be from 1 to {MAX_OPS}")));
        }
        check_arrivals(&arrivals, ops, duration, spelling)?;
        if counted && self.ops.is_some() {
            return Err(error(
                "ops",
                "`ops` and a list of arrivals both set the number of ops; leave one out",
            ));
        }
        if spelling == Spelling::Flags && self.drain.is_some() && duration.is_none() {
            return Err(error(
                "drain",
                "`--drain` needs `--duration`, because a run without it ends with its last op",
            ));
        }
        let defaults = RunConfig::default();
        Ok(RunConfig {
            seed: self.seed.unwrap_or(defaults.seed),
            workload: Workload { arrivals, ops, duration },
            kind: self.kind.unwrap_or_default(),
            requests: self.requests(spelling)?,
            clients,
            share_strategy: self.share_strategy.unwrap_or(false) || strategy.needs_foreknowledge(),
            timeout: self.timeout.unwrap_or(defaults.timeout),
            deadline: self.deadline,
            within: self.within,
            warm_up: self.warm_up.unwrap_or(defaults.warm_up),
            drain: duration.map(|_| self.drain.unwrap_or(DEFAULT_DRAIN)),
            retry_failed: self.retry_failed.unwrap_or(defaults.retry_failed),
            patience: self.patience.unwrap_or(defaults.patience),
            bins: self.bins,
            rejected_when: self.rejected_when.clone().unwrap_or_default(),
            success: self.success.clone().unwrap_or_default(),
            ..defaults
        })
    }

    fn requests(&self, spelling: Spelling) -> Result<Requests, WorkloadError> {
        if self.mix.is_some() && self.kind == Some(OperationKind::ReadModifyWrite) {
            let words = match spelling {
                Spelling::Flags => {
                    "`--mix` has no effect with `--kind read-modify-write`, which sends a GET and then a PUT"
                }
                Spelling::Keys => {
                    "`mix` has no effect with `kind = \"read-modify-write\"`, which sends a GET and then a PUT"
                }
            };
            return Err(error("mix", words));
        }
        let has_body = self.mix.iter().flat_map(Mix::kinds).any(|kind| kind.body.is_some());
        if has_body && spelling == Spelling::Keys {
            return Err(error(
                "mix",
                "`mix` has no `@FILE` in a scenario; leave it out, or use the flag `--mix`",
            ));
        }
        let api_keys = self.api_keys.and_then(NonZero::new);
        Ok(Requests { mix: self.mix.clone(), api_keys, ..Requests::default() })
    }

    /// Returns the time during which ops arrive. Checks that it goes with the rate.
    fn lasts(&self, spelling: Spelling) -> Result<Option<Duration>, WorkloadError> {
        let Some(rate) = self.rate.as_ref().filter(|rate| rate.steady().is_none()) else {
            return Ok(self.duration);
        };
        let (key, words) = match (rate.lasts(), self.duration) {
            _ if self.arrivals == Some(Arrivals::Burst) => (
                "arrivals",
                format!("ops that arrive at `{rate}` are no burst; leave out `burst` or the rate"),
            ),
            (Some(_), Some(_)) => {
                let words = "stages of a rate have times of their own";
                (
                    "duration",
                    format!("{} has no effect, because {words}; leave it out", spelling.of("duration")),
                )
            }
            (None, None) => {
                let duration = spelling.of("duration");
                ("rate", format!("`{rate}` needs {duration}, or a time of its own, such as `{rate} for 2m`"))
            }
            (of_stages, given) => return Ok(of_stages.or(given)),
        };
        Err(error(key, words))
    }

    fn arrival_process(&self, lasts: Option<Duration>) -> ArrivalProcess {
        if let Some(in_flight) = self.in_flight {
            return ArrivalProcess::Closed { in_flight };
        }
        if let Some(groups) = &self.scatter {
            return ArrivalProcess::Scattered(groups.clone());
        }
        if let Some(instants) = &self.at {
            return ArrivalProcess::Listed(instants.clone());
        }
        let stages = match (&self.rate, lasts) {
            (Some(ArrivalRate::Stages(stages)), _) => Some(stages.clone()),
            (Some(ArrivalRate::Ramp(from, to)), Some(lasts)) => {
                Some([RateStage { from: *from, to: *to, lasts }].into())
            }
            _ => None,
        };
        if let Some(stages) = stages {
            return ArrivalProcess::Staged { stages, is_uniform: self.arrivals == Some(Arrivals::Uniform) };
        }
        let rate_per_s = self.rate.as_ref().and_then(ArrivalRate::steady).unwrap_or(DEFAULT_RATE).per_s();
        match self.arrivals.unwrap_or_default() {
            Arrivals::Poisson => ArrivalProcess::Poisson { rate_per_s },
            Arrivals::Uniform => ArrivalProcess::Uniform { rate_per_s },
            Arrivals::Burst => ArrivalProcess::Burst,
        }
    }
}

/// Rejects a burst that is too large or has no limit. Also rejects a list of arrivals if some of them come after the end of the time in
/// which the run accepts ops.
fn check_arrivals(
    arrivals: &ArrivalProcess,
    ops: Option<u64>,
    lasts: Option<Duration>,
    spelling: Spelling,
) -> Result<(), WorkloadError> {
    match (arrivals, lasts) {
        (ArrivalProcess::Burst, _) if ops.is_none_or(|ops| ops > MAX_BURST) => {
            let words = match (spelling, ops) {
                (Spelling::Flags, None) => {
                    "`--arrivals burst` needs `--ops`: a burst has no duration".to_owned()
                }
                (Spelling::Flags, Some(_)) => format!(
                    "`--arrivals burst` allows at most {MAX_BURST} ops, because all of them are in memory at once"
                ),
                (Spelling::Keys, _) => format!("a burst of arrivals needs `ops` of at most {MAX_BURST}"),
            };
            Err(error("arrivals", words))
        }
        (ArrivalProcess::Scattered(groups), Some(lasts)) => {
            let late = groups.iter().find(|group| group.to > lasts);
            late.map_or(Ok(()), |group| Err(too_late("scatter", "ops arrive until", group.to, lasts)))
        }
        (ArrivalProcess::Listed(instants), Some(lasts)) => {
            let late = instants.iter().map(|at| at.since(Instant::ORIGIN)).find(|at| *at >= lasts);
            late.map_or(Ok(()), |at| Err(too_late("at", "an op arrives at", at, lasts)))
        }
        _ => Ok(()),
    }
}

fn too_late(key: &str, what: &str, at: Duration, lasts: Duration) -> WorkloadError {
    let (at, lasts) = (duration_text::format(at), duration_text::format(lasts));
    error(key, format!("`{key}`: {what} {at}, but the arrivals of this run end after {lasts}"))
}

pub(super) fn error(key: &str, words: impl Into<String>) -> WorkloadError {
    WorkloadError { key: key.to_owned(), words: words.into() }
}

#[cfg(test)]
mod tests {
    use super::super::table::PARAMETERS;
    use super::*;

    fn spec(typed: &[(&str, &str)]) -> WorkloadSpec {
        let mut spec = WorkloadSpec::default();
        for (key, text) in typed {
            let parameter = PARAMETERS.iter().find(|parameter| parameter.key == *key).unwrap();
            parameter.set(&mut spec, text).unwrap();
        }
        spec
    }

    fn aimd() -> StrategySpec {
        "aimd".parse().unwrap()
    }

    #[test]
    fn defaults_that_help_texts_show_are_those_that_runs_have() {
        let shown: Vec<_> =
            PARAMETERS.iter().filter_map(|parameter| Some((parameter.key, parameter.default?))).collect();
        let said = spec(&shown).run_config(&aimd(), Spelling::Flags);
        assert_eq!(said, WorkloadSpec::default().run_config(&aimd(), Spelling::Flags));
        assert_eq!(said, Ok(RunConfig::default()));
    }

    /// A run of limited duration has no limit on ops, and the default drain.
    #[test]
    fn runs_have_default_ops_unless_a_duration_limits_them() {
        let run = |typed: &[(&str, &str)]| spec(typed).run_config(&aimd(), Spelling::Flags).unwrap();
        assert_eq!((run(&[]).workload.ops, run(&[]).drain), (Some(DEFAULT_OPS), None));
        let lasting = run(&[("duration", "10s")]);
        assert_eq!((lasting.workload.ops, lasting.drain), (None, Some(DEFAULT_DRAIN)));
    }

    #[test]
    fn ops_of_clients_are_multiplied_and_foreknowledge_is_shared() {
        let workload = spec(&[("ops_per_client", "7"), ("clients", "6")]);
        assert_eq!(workload.run_config(&aimd(), Spelling::Keys).unwrap().workload.ops, Some(42));
        let oracle = "oracle".parse().unwrap();
        assert!(workload.run_config(&oracle, Spelling::Keys).unwrap().share_strategy);
    }

    /// Error messages name parameters as flags of a command line or as keys of a file.
    #[test]
    fn contradictions_are_refused_in_the_spelling_of_their_source() {
        let refused = |typed: &[(&str, &str)], spelling| {
            spec(typed).run_config(&aimd(), spelling).map_err(|error| error.to_string()).unwrap_err()
        };
        let endless = [("arrivals", "burst"), ("duration", "1s")];
        assert!(refused(&endless, Spelling::Flags).contains("`--arrivals burst` needs `--ops`"));
        assert!(refused(&endless, Spelling::Keys).contains("a burst of arrivals needs `ops`"));
        let large = [("arrivals", "burst"), ("ops", "20M")];
        assert!(refused(&large, Spelling::Flags).contains("at most 10000000 ops"));
        assert!(refused(&[("drain", "1s")], Spelling::Flags).contains("`--drain` needs `--duration`"));
        assert!(spec(&[("drain", "1s")]).run_config(&aimd(), Spelling::Keys).is_ok());
        let no_request = [("kind", "read-modify-write"), ("mix", "GET /")];
        assert!(
            refused(&no_request, Spelling::Flags).starts_with("`--mix` has no effect with `--kind read-")
        );
        assert!(refused(&no_request, Spelling::Keys).starts_with("`mix` has no effect with `kind = "));
        let many = [("ops_per_client", "4G"), ("clients", "2")];
        assert!(refused(&many, Spelling::Keys).contains("`ops` is 8000000000; it must be from 1 to"));
    }
}
