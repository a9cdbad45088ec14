//! Why what was typed is no strategy.

use vocabulary::{OptionsError, ParameterError, did_you_mean};

use crate::budget::MAX_BUDGETS;
use crate::common::COMMON;
use crate::presets::preset;
use crate::strategy::MAX_LAYERS;

/// What libraries call the largest number of retries of an op, in lower case without dashes: `total` is urllib3's.
const RETRIES: &[&str] =
    &["maxretries", "maxretry", "maxretrycount", "numretries", "retries", "retrycount", "total"];

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
    #[error(
        "`{text}` has two retry policies; keep one, and add limiters or budgets with `+`, or put one around the other: \
         `A over B`"
    )]
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
    /// Two parts that both send copies.
    #[error("`{text}` hedges twice; keep one of `{first}` and `{second}`")]
    TwoHedgers {
        /// As typed.
        text: String,
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Copies in a layer around others.
    #[error(
        "`{hedger}` is in a layer around another: copies are of attempts, which the innermost layer makes; write it \
         behind the last `over`"
    )]
    OuterHedger {
        /// The part.
        hedger: &'static str,
    },
    /// Copies of attempts that the server may not start.
    #[error(
        "`{hedger}` sends copies, and `{carrier}` lets the server decide whether an attempt starts; leave one of them out"
    )]
    HedgedCarrier {
        /// The part that sends copies.
        hedger: &'static str,
        /// The one that senses the carrier.
        carrier: &'static str,
    },
    /// More layers than an op can be remembered in.
    #[error("`{text}` has more than {MAX_LAYERS} layers; keep at most {MAX_LAYERS}")]
    TooManyLayers {
        /// As typed.
        text: String,
    },
    /// The word `over` with nothing on one side.
    #[error("`{text}` has no layer on one side of `over`; write `A over B`, B being the inner one")]
    NoLayer {
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
    /// More ways to read advice than an outcome has room for.
    #[error("the layers of `{text}` read advice in more than two ways; give two of them the same `advice`")]
    TooManyAdviceForms {
        /// As typed.
        text: String,
    },
    /// `preset:` without a name.
    #[error(
        "`{text}` names no preset; write `preset:NAME`, and run `loadgen strategies --presets` to list them"
    )]
    PresetWithoutName {
        /// As typed.
        text: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{name}`{suggestion}; run `loadgen strategies --presets` to list them")]
    UnknownPreset {
        /// As typed.
        name: String,
        /// Empty, or a question.
        suggestion: String,
    },
    /// An option without `=` behind a preset's name.
    #[error("`{option}` of `{preset}` has no value; write `{preset},key=value`")]
    PresetOptionWithoutValue {
        /// The preset.
        preset: String,
        /// As typed.
        option: String,
    },
    /// A word that is none of a preset's choices.
    #[error("`{option}` is not accepted by `preset:{preset}`; it takes {accepted}")]
    PresetChoice {
        /// The preset.
        preset: String,
        /// As typed.
        option: String,
        /// The words that there are.
        accepted: String,
    },
    /// No part of a preset knows this parameter.
    #[error(
        "`preset:{preset}` has no parameter `{key}`{suggestion}{}", pointer(.suggestion, .preset)
    )]
    NoSuchOverride {
        /// The preset.
        preset: String,
        /// As typed.
        key: String,
        /// Empty, or a question.
        suggestion: String,
    },
    /// Several parts of a preset know this parameter.
    #[error("more than one part of `preset:{preset}` knows `{key}`; write {parts}")]
    AmbiguousOverride {
        /// The preset.
        preset: String,
        /// As typed.
        key: String,
        /// What to write.
        parts: String,
    },
    /// The oracle was started without a schedule.
    #[error(
        "`oracle` needs to know the server: run it against a mockserver (an embedded one is started when no \
         `--target` is given)"
    )]
    NoForeknowledge,
}

impl SpecError {
    pub(crate) fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let suggestion = match preset(name) {
            Some(_) => format!(" (did you mean `preset:{name}`?)"),
            None => did_you_mean(name, known),
        };
        Self::Unknown { name: name.to_owned(), suggestion }
    }

    /// Suggests a parameter in place of an unknown one: the number of attempts for a number of retries, else the nearest name.
    pub(crate) fn suggestion<'a>(key: &str, value: &str, known: impl Iterator<Item = &'a str>) -> String {
        let letters: String = key.chars().filter(char::is_ascii_alphabetic).collect();
        let counts_retries = RETRIES.contains(&letters.to_ascii_lowercase().as_str());
        let attempts = value.parse().ok().and_then(|retries: u32| retries.checked_add(1));
        match attempts.filter(|_| counts_retries) {
            Some(attempts) => {
                format!("; did you mean max-attempts={attempts}? (attempts = retries + 1)")
            }
            None => did_you_mean(key, known),
        }
    }

    /// What is wrong with the options of this part.
    pub(crate) fn options(part: &'static str, error: OptionsError) -> Self {
        match error {
            OptionsError::Unknown { key, value, known: own } => {
                let known: Vec<&str> =
                    own.into_iter().chain(COMMON.iter().map(|common| common.key)).collect();
                // Those of advice are many; `loadgen strategies NAME` lists them.
                let named = known.iter().filter(|key| !key.starts_with("advice-")).chain([&"advice-…"]);
                Self::UnknownParameter {
                    part,
                    suggestion: Self::suggestion(&key, &value, known.iter().copied()),
                    key,
                    accepted: named.map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
                }
            }
            OptionsError::Twice { key } => Self::Twice { text: part.to_owned(), key: key.to_owned() },
            OptionsError::Value(source) => Self::Value { part, source },
            OptionsError::Combination(why) => Self::Combination { part, why },
        }
    }
}

/// Returns where the parameters of a preset are listed, unless the suggestion is one number of attempts.
fn pointer(suggestion: &str, preset: &str) -> String {
    if suggestion.contains("(attempts = retries + 1)") {
        return String::new();
    }
    format!("; run `loadgen strategies preset:{preset}` to see what it has")
}
