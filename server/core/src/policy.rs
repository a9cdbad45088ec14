//! How a server decides whom it serves: the policy, written like a strategy.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::{Choice, Parameter, ParameterError, ParameterInfo, did_you_mean};

/// Whom a server serves, written `name` or `name:key=value,key=value`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Policy {
    /// Whoever comes while all slots are busy is rejected.
    #[default]
    ConcurrencyCap,
    /// A short queue that is worked off in ticks and slows down when too much is outstanding.
    OverwhelmedQueue(QueueConfig),
    /// Requests hold descriptors of one pool; whoever finds none crashes the service.
    DescriptorPool(PoolConfig),
}

/// Parameters of `overwhelmed-queue`; the defaults are the numbers of seed 002's text.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueConfig {
    pub(crate) tick: Duration,
    pub(crate) capacity: u32,
    pub(crate) service: u32,
    pub(crate) reject: u32,
    pub(crate) limit: u32,
    pub(crate) subset: Subset,
}

/// What an overwhelmed queue works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subset {
    /// Both lists by their share, the oldest first.
    Proportional,
    /// So many entries of both, each as likely.
    Random,
}

impl Choice for Subset {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("proportional", Self::Proportional), ("random", Self::Random)];
}

/// Parameters of `descriptor-pool`; the defaults are fitted to seed 003's paper.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolConfig {
    pub(crate) descriptors: u32,
    pub(crate) per_process: u32,
    pub(crate) per_connection: u32,
    pub(crate) service_rate: f64,
    pub(crate) slowdown: f64,
    pub(crate) startup: Duration,
    pub(crate) startup_slope: Duration,
    pub(crate) restart: Duration,
    pub(crate) failed_start: Duration,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(10),
            capacity: 5,
            service: 5,
            reject: 1,
            limit: 25,
            subset: Subset::Proportional,
        }
    }
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            descriptors: 7600,
            per_process: 19,
            per_connection: 11,
            service_rate: 2.75,
            slowdown: 858.0,
            startup: Duration::from_secs(1),
            startup_slope: Duration::from_millis(100),
            restart: Duration::from_secs(15),
            failed_start: Duration::from_secs(1),
        }
    }
}

const QUEUE: &[Parameter<QueueConfig>] = &[
    Parameter::duration("tick", "time between two steps of work", |config| &mut config.tick),
    Parameter::count("capacity", "places in the queue", (1, 1_000_000), |config| &mut config.capacity),
    Parameter::count("service", "steps that a request takes", (1, 1_000_000), |config| &mut config.service),
    Parameter::count("reject", "steps that a rejection takes", (1, 1_000_000), |config| &mut config.reject),
    Parameter::count(
        "limit",
        "outstanding requests above which it is overwhelmed",
        (1, 1_000_000),
        |config| &mut config.limit,
    ),
    Parameter::choice(
        "subset",
        "what it works on then: both lists by their share, or entries at random",
        |config| &mut config.subset,
    ),
];

const POOL: &[Parameter<PoolConfig>] = &[
    Parameter::count("descriptors", "descriptors in all", (1, 1_000_000_000), |config| {
        &mut config.descriptors
    }),
    Parameter::count(
        "per-process",
        "descriptors that a submitter under way holds",
        (0, 1_000_000),
        |config| &mut config.per_process,
    ),
    Parameter::count("per-connection", "descriptors that its connection adds", (0, 1_000_000), |config| {
        &mut config.per_connection
    }),
    Parameter::number(
        "service-rate",
        "jobs per second when nobody else is under way",
        (1e-6, 1e6),
        |config| &mut config.service_rate,
    ),
    Parameter::number(
        "slowdown",
        "submitters under way that double the service time",
        (1.0, 1e9),
        |config| &mut config.slowdown,
    ),
    Parameter::duration("startup", "time to start a submitter", |config| &mut config.startup),
    Parameter::duration("startup-slope", "what every submitter under way adds to it", |config| {
        &mut config.startup_slope
    }),
    Parameter::duration("restart", "time from a crash to the next service", |config| &mut config.restart),
    Parameter::duration("failed-start", "time until a submitter without descriptors fails", |config| {
        &mut config.failed_start
    }),
];

const NAMES: [&str; 3] = ["concurrency-cap", "overwhelmed-queue", "descriptor-pool"];

/// What was written is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No such name.
    #[error("unknown policy `{name}`{suggestion}; accepted are `{}`", NAMES.join("`, `"))]
    Unknown {
        /// As it came.
        name: String,
        /// Empty, or a question.
        suggestion: String,
    },
    /// No such parameter.
    #[error("policy `{policy}` has no parameter `{key}`{suggestion}; it has {accepted}")]
    Parameter {
        /// The policy's name.
        policy: &'static str,
        /// As it came.
        key: String,
        /// Empty, or a question.
        suggestion: String,
        /// What there is.
        accepted: String,
    },
    /// A parameter that is given more than once.
    #[error("policy `{policy}` is given `{key}` twice; keep one of them")]
    Twice {
        /// The policy's name.
        policy: &'static str,
        /// The parameter.
        key: &'static str,
    },
    /// A value that is not accepted.
    #[error("policy `{policy}`: {source}")]
    Value {
        /// The policy's name.
        policy: &'static str,
        /// What is wrong with it.
        source: ParameterError,
    },
    /// A tick of no time.
    #[error("policy `overwhelmed-queue`: `tick` must be longer than zero")]
    NoTick,
}

impl Policy {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ConcurrencyCap => NAMES[0],
            Self::OverwhelmedQueue(_) => NAMES[1],
            Self::DescriptorPool(_) => NAMES[2],
        }
    }

    /// Its parameters with their values.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        match self.clone() {
            Self::ConcurrencyCap => Vec::new(),
            Self::OverwhelmedQueue(mut config) => shown(QUEUE, &mut config),
            Self::DescriptorPool(mut config) => shown(POOL, &mut config),
        }
    }

    /// All policies with their defaults.
    pub fn all() -> [Self; 3] {
        [
            Self::ConcurrencyCap,
            Self::OverwhelmedQueue(QueueConfig::default()),
            Self::DescriptorPool(PoolConfig::default()),
        ]
    }
}

fn shown<C: Default>(parameters: &[Parameter<C>], config: &mut C) -> Vec<ParameterInfo> {
    parameters.iter().map(|parameter| parameter.info(config)).collect()
}

fn configured<C: Default>(
    policy: &'static str,
    parameters: &[Parameter<C>],
    options: &str,
) -> Result<C, PolicyError> {
    let mut config = C::default();
    let mut given: Vec<&str> = Vec::new();
    for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let Some(parameter) = parameters.iter().find(|parameter| parameter.key == key.trim()) else {
            let keys = || parameters.iter().map(|parameter| parameter.key);
            return Err(PolicyError::Parameter {
                policy,
                key: key.to_owned(),
                suggestion: did_you_mean(key, keys()),
                accepted: keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
            });
        };
        if given.contains(&parameter.key) {
            return Err(PolicyError::Twice { policy, key: parameter.key });
        }
        given.push(parameter.key);
        parameter.set(&mut config, value.trim()).map_err(|source| PolicyError::Value { policy, source })?;
    }
    Ok(config)
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        match name.trim() {
            "concurrency-cap" => {
                configured::<()>(NAMES[0], &[], options)?;
                Ok(Self::ConcurrencyCap)
            }
            "overwhelmed-queue" => {
                let config = configured(NAMES[1], QUEUE, options)?;
                if config.tick.is_zero() {
                    return Err(PolicyError::NoTick);
                }
                Ok(Self::OverwhelmedQueue(config))
            }
            "descriptor-pool" => Ok(Self::DescriptorPool(configured(NAMES[2], POOL, options)?)),
            name => {
                Err(PolicyError::Unknown { name: name.to_owned(), suggestion: did_you_mean(name, NAMES) })
            }
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (index, parameter) in self.parameters().iter().enumerate() {
            let joint = if index == 0 { ':' } else { ',' };
            write!(f, "{joint}{}={}", parameter.key, parameter.value)?;
        }
        Ok(())
    }
}

impl TryFrom<String> for Policy {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Policy> for String {
    fn from(policy: Policy) -> Self {
        policy.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_written_like_strategies() {
        for policy in Policy::all() {
            assert_eq!(policy.to_string().parse::<Policy>().unwrap(), policy);
            assert_eq!(policy.name().parse::<Policy>().unwrap(), policy);
        }
        let written = "overwhelmed-queue:tick=10ms,capacity=6,service=5,reject=1,limit=25,subset=random";
        assert_eq!(
            "overwhelmed-queue:capacity=6, subset=random".parse::<Policy>().unwrap().to_string(),
            written
        );
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, words) in [
            ("overwhelmed-que", "did you mean `overwhelmed-queue`?"),
            ("overwhelmed-queue:capcity=3", "did you mean `capacity`?"),
            ("overwhelmed-queue:capacity=0", "from 1 to"),
            ("overwhelmed-queue:tick=0s", "longer than zero"),
            ("concurrency-cap:x=1", "has no parameter `x`"),
            ("descriptor-pool:service-rate=0", "`service-rate=0` is not accepted"),
        ] {
            let error = text.parse::<Policy>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
