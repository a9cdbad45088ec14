//! Whom a server serves: a policy of the list with its parameters, written like a strategy.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vocabulary::{OptionsError, ParameterError, ParameterInfo, did_you_mean, split_options};

use crate::details::Wants;
use crate::policies::{Admission, Configured, POLICIES, PolicyConfig, PolicyEntry};
use crate::script::Script;

/// Whom a server serves, written `name` or `name:key=value,key=value`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Policy {
    entry: &'static PolicyEntry,
    configured: Configured,
}

/// What was written is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No such name.
    #[error("unknown policy `{name}`{suggestion}; accepted are {}", quoted(names()))]
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
    /// Parameters that do not fit one another.
    #[error("policy `{policy}`: {why}")]
    Combination {
        /// The policy's name.
        policy: &'static str,
        /// What is wrong.
        why: String,
    },
}

impl Policy {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Its parameters with their values.
    pub fn parameters(&self) -> &[ParameterInfo] {
        &self.configured.parameters
    }

    /// What it answers in words, if it goes by a script.
    pub fn script(&self) -> Option<&Arc<Script>> {
        self.config().script()
    }

    /// What of requests it looks at.
    pub(crate) fn wants(&self) -> Wants {
        self.config().wants()
    }

    /// What others must know of it.
    pub(crate) fn config(&self) -> &dyn PolicyConfig {
        &*self.configured.config
    }

    /// The policy in force, of which nobody holds anything yet.
    pub(crate) fn build(&self) -> Box<dyn Admission> {
        self.config().build()
    }
}

impl Default for Policy {
    fn default() -> Self {
        const FIRST: &PolicyEntry = &POLICIES[0];
        Self { entry: FIRST, configured: FIRST.default() }
    }
}

/// Two are the same when they are typed the same.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.parameters() == other.parameters()
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name)
}

fn quoted(words: impl IntoIterator<Item = &'static str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

impl PolicyError {
    /// What is wrong with the options of this policy.
    fn options(policy: &'static str, error: OptionsError) -> Self {
        match error {
            OptionsError::Unknown { key, known } => Self::Parameter {
                policy,
                suggestion: did_you_mean(&key, known.iter().copied()),
                key,
                accepted: quoted(known),
            },
            OptionsError::Twice { key } => Self::Twice { policy, key },
            OptionsError::Value(source) => Self::Value { policy, source },
            OptionsError::Combination(why) => Self::Combination { policy, why },
        }
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, options) = split_options(text);
        let entry = POLICIES.iter().find(|entry| entry.name == name).ok_or_else(|| PolicyError::Unknown {
            name: name.to_owned(),
            suggestion: did_you_mean(name, names()),
        })?;
        let options: Vec<(String, String)> = options
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.unwrap_or_default().to_owned()))
            .collect();
        let configured =
            entry.configure(&options).map_err(|error| PolicyError::options(entry.name, error))?;
        Ok(Self { entry, configured })
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
        assert_eq!(Policy::default().to_string(), "concurrency-cap");
        for name in names() {
            let policy: Policy = name.parse().unwrap();
            assert_eq!(policy.name(), name);
            assert_eq!(policy.to_string().parse::<Policy>().unwrap(), policy);
        }
        let written = "overwhelmed-queue:tick=10ms,capacity=6,service=5,reject=1,limit=25,subset=random";
        assert_eq!(
            "overwhelmed-queue:capacity=6, subset=random".parse::<Policy>().unwrap().to_string(),
            written
        );
    }

    #[test]
    fn policies_are_the_same_when_they_are_typed_the_same() {
        let read = |text: &str| text.parse::<Policy>().unwrap();
        assert_eq!(read("overwhelmed-queue"), read("overwhelmed-queue:capacity=5"));
        assert_ne!(read("overwhelmed-queue"), read("overwhelmed-queue:capacity=6"));
        assert_ne!(read("overwhelmed-queue"), read("concurrency-cap"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_are_known() {
        let error = "overwhelmed-que".parse::<Policy>().unwrap_err().to_string();
        let words = "unknown policy `overwhelmed-que`; did you mean `overwhelmed-queue`?; accepted are `concurrency-cap`, \
                     `overwhelmed-queue`, ";
        assert!(error.starts_with(words), "{error}");
        assert!(names().all(|name| error.contains(&format!("`{name}`"))), "{error}");
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, words) in [
            (
                "overwhelmed-queue:capcity=3",
                "policy `overwhelmed-queue` has no parameter `capcity`; did you mean `capacity`?; it has `tick`, `capacity`, \
                 `service`, `reject`, `limit`, `subset`",
            ),
            (
                "overwhelmed-queue:capacity=0",
                "policy `overwhelmed-queue`: `capacity=0` is not accepted; `capacity` takes a whole number from 1 to 1000000",
            ),
            ("overwhelmed-queue:tick=0s", "policy `overwhelmed-queue`: `tick` must be longer than zero"),
            (
                "overwhelmed-queue:tick=1s,tick=2s",
                "policy `overwhelmed-queue` is given `tick` twice; keep one of them",
            ),
            ("concurrency-cap:x=1", "policy `concurrency-cap` has no parameter `x`; it has "),
            (
                "descriptor-pool:service-rate=0",
                "policy `descriptor-pool`: `service-rate=0` is not accepted; `service-rate` takes a number from 0.000001 to \
                 1000000",
            ),
        ] {
            assert_eq!(text.parse::<Policy>().unwrap_err().to_string(), words, "{text}");
        }
    }
}
