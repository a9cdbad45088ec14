//! A strategy as it is typed: `name:key=value,key=value+name…`.

use std::fmt;
use std::str::FromStr;

use vocabulary::did_you_mean;

use crate::parameter::{Parameter, ParameterError, ParameterInfo};
use crate::registry::{Context, Entry, Part, PartKind, STRATEGIES, find};
use crate::strategy::MAX_BUDGETS;
use crate::{Foreknowledge, RetryAfter, Strategy};

/// A strategy that was read and checked, and can be started any number of times.
#[derive(Clone, Debug)]
pub struct StrategySpec {
    text: String,
    parts: Vec<(&'static Entry, Vec<(String, String)>)>,
    common: Common,
}

/// What every strategy accepts, on any of its parts.
#[derive(Clone, Debug)]
struct Common {
    max_attempts: u32,
    retry_after: RetryAfter,
}

impl Default for Common {
    fn default() -> Self {
        Self { max_attempts: u32::MAX, retry_after: RetryAfter::default() }
    }
}

const COMMON: &[Parameter<Common>] = &[
    Parameter::count("max-attempts", "attempts after which an op is given up", (1, u32::MAX), |common| {
        &mut common.max_attempts
    }),
    Parameter::choice(
        "retry-after",
        "what is done with the server's Retry-After: wait at least, exactly, or do not read it",
        &["floor", "exact", "ignore"],
        |common| common.retry_after as usize,
        |common, word| {
            common.retry_after = [RetryAfter::Floor, RetryAfter::Exact, RetryAfter::Ignore][word];
        },
    ),
];

impl StrategySpec {
    /// The parts' names, in the order in which they were typed.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().map(|(entry, _)| entry.name)
    }

    /// Whether it must be given [`Foreknowledge`] to start.
    pub fn needs_foreknowledge(&self) -> bool {
        self.names().any(|name| name == crate::limiters::ORACLE)
    }

    /// Every part with all its parameters as they will be used, the common ones last under an empty name.
    pub fn describe(&self) -> Vec<(&'static str, Vec<ParameterInfo>)> {
        let parts = self.parts.iter().map(|(entry, options)| {
            let parameters = entry.configured(options);
            (entry.name, parameters.expect("the options were checked when the text was read"))
        });
        parts.chain([("", common_info(&mut self.common.clone()))]).collect()
    }

    /// The parameters that every strategy accepts, with their defaults.
    pub fn common_parameters() -> Vec<ParameterInfo> {
        common_info(&mut Common::default())
    }

    /// Lowers the limit of attempts per op (the command line's own flag).
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: u32) -> Self {
        self.common.max_attempts = self.common.max_attempts.min(max_attempts);
        self
    }

    /// Starts it. `seed` is the run's; draws are keyed by op, so clients with one seed still differ.
    pub fn build(
        &self,
        seed: u64,
        foreknowledge: Option<Box<dyn Foreknowledge>>,
    ) -> Result<Strategy, SpecError> {
        let Common { max_attempts, retry_after } = self.common;
        Ok(Strategy::new(seed, self.build_parts(foreknowledge)?, max_attempts, retry_after))
    }

    /// Starts its parts, in the order in which they were typed.
    pub(crate) fn build_parts(
        &self,
        foreknowledge: Option<Box<dyn Foreknowledge>>,
    ) -> Result<Vec<Part>, SpecError> {
        let mut context = Context { foreknowledge };
        self.parts.iter().map(|(entry, options)| entry.build(options, &mut context)).collect()
    }
}

impl FromStr for StrategySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut common = Common::default();
        let mut parts = Vec::new();
        for part in text.split('+') {
            parts.push(read_part(part.trim(), &mut common)?);
        }
        let count = |kind| parts.iter().filter(|(entry, _)| entry.kind == kind).count();
        if count(PartKind::RetryPolicy) > 1 {
            return Err(SpecError::TwoRetryPolicies { text: text.to_owned() });
        }
        if count(PartKind::Budget) > MAX_BUDGETS {
            return Err(SpecError::TooManyBudgets { text: text.to_owned() });
        }
        for (entry, options) in &parts {
            entry.configured(options)?;
        }
        Ok(Self { text: text.trim().to_owned(), parts, common })
    }
}

type ReadPart = (&'static Entry, Vec<(String, String)>);

/// Reads `name:key=value,…`; common parameters go to `common`, the rest is kept for the part.
fn read_part(text: &str, common: &mut Common) -> Result<ReadPart, SpecError> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim();
    let entry = find(name).ok_or_else(|| SpecError::unknown(name))?;
    let mut own = Vec::new();
    for option in options.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| SpecError::NoValue { part: entry.name, option: option.to_owned() })?;
        let (key, value) = (key.trim(), value.trim());
        match COMMON.iter().find(|parameter| parameter.key == key) {
            Some(parameter) => parameter
                .set(common, value)
                .map_err(|source| SpecError::Value { part: entry.name, source })?,
            None => own.push((key.to_owned(), value.to_owned())),
        }
    }
    Ok((entry, own))
}

fn common_info(common: &mut Common) -> Vec<ParameterInfo> {
    COMMON
        .iter()
        .map(|parameter| ParameterInfo {
            key: parameter.key,
            about: parameter.about,
            value: parameter.show(common),
            accepted: parameter.accepted(),
        })
        .collect()
}

impl fmt::Display for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What was typed is no strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No part has this name.
    #[error("unknown strategy `{name}`{suggestion}; run `loadgen strategies` to list them")]
    Unknown {
        /// As typed.
        name: String,
        /// Empty, or a question.
        suggestion: String,
    },
    /// The part has no such parameter.
    #[error("`{part}` has no parameter `{key}`{suggestion}; it takes {accepted}")]
    UnknownParameter {
        /// The part.
        part: &'static str,
        /// As typed.
        key: String,
        /// Empty, or a question.
        suggestion: String,
        /// The keys it has.
        accepted: String,
    },
    /// An option without `=`.
    #[error("`{option}` of `{part}` has no value; write `{part}:key=value,key=value`")]
    NoValue {
        /// The part.
        part: &'static str,
        /// As typed.
        option: String,
    },
    /// A value that its parameter does not accept.
    #[error("in `{part}`: {source}")]
    Value {
        /// The part.
        part: &'static str,
        /// Which value, and what is accepted.
        source: ParameterError,
    },
    /// Parameters that do not fit one another.
    #[error("in `{part}`: {why}")]
    Combination {
        /// The part.
        part: &'static str,
        /// What is wrong.
        why: String,
    },
    /// Two parts that both decide about retries.
    #[error("`{text}` has two retry policies; keep one, and add limiters or budgets with `+`")]
    TwoRetryPolicies {
        /// As typed.
        text: String,
    },
    /// More budgets than an attempt can hold permits of.
    #[error("`{text}` stacks more than {MAX_BUDGETS} budgets; keep at most {MAX_BUDGETS}")]
    TooManyBudgets {
        /// As typed.
        text: String,
    },
    /// The oracle was started without foreknowledge.
    #[error(
        "`oracle` needs to know the server: run it against a mockserver (an embedded one is started when no \
         `--target` is given)"
    )]
    NoForeknowledge,
}

impl SpecError {
    fn unknown(name: &str) -> Self {
        Self::Unknown {
            name: name.to_owned(),
            suggestion: did_you_mean(name, STRATEGIES.iter().map(|entry| entry.name)),
        }
    }

    pub(crate) fn unknown_parameter(
        part: &'static str,
        key: &str,
        own: impl Iterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<&str> = own.chain(COMMON.iter().map(|parameter| parameter.key)).collect();
        Self::UnknownParameter {
            part,
            key: key.to_owned(),
            suggestion: did_you_mean(key, known.iter().copied()),
            accepted: known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
        }
    }
}

#[cfg(test)]
mod tests;
