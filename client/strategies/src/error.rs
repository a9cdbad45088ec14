//! Why what was typed is no strategy.

use vocabulary::{OptionsError, ParameterError, did_you_mean};

use crate::budget::MAX_BUDGETS;
use crate::common::COMMON;
use crate::strategy::MAX_LAYERS;

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
    /// A parameter that is given more than once.
    #[error("`{text}` gives `{key}` twice; keep one of them")]
    Twice {
        /// As typed.
        text: String,
        /// The parameter.
        key: String,
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
    /// More layers than an op can be remembered in.
    #[error("`{text}` has more than {MAX_LAYERS} layers; keep at most {MAX_LAYERS}")]
    TooManyLayers {
        /// As typed.
        text: String,
    },
    /// A layer that never tries again.
    #[error(
        "the layer `{layer}` has no retry policy: with `over` each layer is a retry around a retry; join limiters and \
         budgets to a layer that has one with `+`"
    )]
    LayerWithoutRetries {
        /// Its parts.
        layer: String,
    },
    /// More reasons than can be told apart.
    #[error("`{text}` looks for more than 64 reasons; keep at most 64")]
    TooManyReasons {
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
    pub(crate) fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        Self::Unknown { name: name.to_owned(), suggestion: did_you_mean(name, known) }
    }

    /// What is wrong with the options of this part.
    pub(crate) fn options(part: &'static str, error: OptionsError) -> Self {
        match error {
            OptionsError::Unknown { key, known: own } => {
                let known: Vec<&str> =
                    own.into_iter().chain(COMMON.iter().map(|common| common.key)).collect();
                Self::UnknownParameter {
                    part,
                    suggestion: did_you_mean(&key, known.iter().copied()),
                    key,
                    accepted: known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
                }
            }
            OptionsError::Twice { key } => Self::Twice { text: part.to_owned(), key: key.to_owned() },
            OptionsError::Value(source) => Self::Value { part, source },
            OptionsError::Combination(why) => Self::Combination { part, why },
        }
    }
}
