//! Errors in strategy texts.

use vocabulary::{OptionsError, ParameterError, did_you_mean};

use crate::budget::MAX_BUDGETS;
use crate::common::COMMON;
use crate::presets::preset;
use crate::strategy::MAX_LAYERS;

/// Names that libraries use for the maximum number of retries of an op, in lower case and without separators. `total`
/// is urllib3's name.
const RETRIES: &[&str] =
    &["maxretries", "maxretry", "maxretrycount", "numretries", "retries", "retrycount", "total"];

/// Reason why a text is not a valid strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No part has this name.
    #[error("unknown strategy `{name}`{suggestion}; run `loadgen strategies` to list them")]
    Unknown {
        /// Name in the text.
        name: String,
        /// Empty, or a "did you mean" question.
        suggestion: String,
    },
    /// The part has no such parameter.
    #[error("`{part}` has no parameter `{key}`{suggestion}; it takes {accepted}")]
    UnknownParameter {
        /// Name of the part.
        part: &'static str,
        /// Key in the text.
        key: String,
        /// Empty, or a "did you mean" question.
        suggestion: String,
        /// Accepted keys.
        accepted: String,
    },
    /// An option without `=`.
    #[error("`{option}` of `{part}` has no value; write `{part}:key=value,key=value`")]
    NoValue {
        /// Name of the part.
        part: &'static str,
        /// Option in the text.
        option: String,
    },
    /// A parameter is given more than once.
    #[error("`{text}` gives `{key}` twice; keep one of them")]
    Twice {
        /// Text of the part.
        text: String,
        /// Key of the parameter.
        key: String,
    },
    /// A value is not accepted by its parameter.
    #[error("in `{part}`: {source}")]
    Value {
        /// Name of the part.
        part: &'static str,
        /// Rejected value, with the accepted values.
        source: ParameterError,
    },
    /// Parameters do not fit together.
    #[error("in `{part}`: {why}")]
    Combination {
        /// Name of the part.
        part: &'static str,
        /// Reason.
        why: String,
    },
    /// A layer has two retry policies.
    #[error(
        "`{text}` has two retry policies; keep one, and add limiters or budgets with `+`, or put one around the other: \
         `A over B`"
    )]
    TwoRetryPolicies {
        /// Text of the layer.
        text: String,
    },
    /// There are more budgets than permits that an attempt can hold.
    #[error("`{text}` stacks more than {MAX_BUDGETS} budgets; keep at most {MAX_BUDGETS}")]
    TooManyBudgets {
        /// Text of the layer.
        text: String,
    },
    /// A layer has two hedgers.
    #[error("`{text}` hedges twice; keep one of `{first}` and `{second}`")]
    TwoHedgers {
        /// Text of the layer.
        text: String,
        /// Name of the first part.
        first: &'static str,
        /// Name of the second part.
        second: &'static str,
    },
    /// An outer layer has a hedger.
    #[error(
        "`{hedger}` is in a layer around another: copies are of attempts, which the innermost layer makes; write it \
         behind the last `over`"
    )]
    OuterHedger {
        /// Name of the hedger.
        hedger: &'static str,
    },
    /// A hedger is combined with carrier sense, where the server may not start an attempt.
    #[error(
        "`{hedger}` sends copies, and `{carrier}` lets the server decide whether an attempt starts; leave one of them out"
    )]
    HedgedCarrier {
        /// Name of the hedger.
        hedger: &'static str,
        /// Name of the part with carrier sense.
        carrier: &'static str,
    },
    /// There are more layers than the state of an op can hold.
    #[error("`{text}` has more than {MAX_LAYERS} layers; keep at most {MAX_LAYERS}")]
    TooManyLayers {
        /// Text of the strategy.
        text: String,
    },
    /// The word `over` has no layer on one of its sides.
    #[error("`{text}` has no layer on one side of `over`; write `A over B`, B being the inner one")]
    NoLayer {
        /// Text of the strategy.
        text: String,
    },
    /// A layer has no retry policy.
    #[error(
        "the layer `{layer}` has no retry policy: with `over` each layer is a retry around a retry; join limiters and \
         budgets to a layer that has one with `+`"
    )]
    LayerWithoutRetries {
        /// Parts of the layer.
        layer: String,
    },
    /// The strategy searches for more reasons than it can distinguish.
    #[error("`{text}` looks for more than 64 reasons; keep at most 64")]
    TooManyReasons {
        /// Text of the strategy.
        text: String,
    },
    /// There are more ways to parse advice than an outcome can hold.
    #[error("the layers of `{text}` read advice in more than two ways; give two of them the same `advice`")]
    TooManyAdviceForms {
        /// Text of the strategy.
        text: String,
    },
    /// `preset:` has no name.
    #[error(
        "`{text}` names no preset; write `preset:NAME`, and run `loadgen strategies --presets` to list them"
    )]
    PresetWithoutName {
        /// Text of the part.
        text: String,
    },
    /// No preset has this name.
    #[error("unknown preset `{name}`{suggestion}; run `loadgen strategies --presets` to list them")]
    UnknownPreset {
        /// Name in the text.
        name: String,
        /// Empty, or a "did you mean" question.
        suggestion: String,
    },
    /// An option after a preset's name has no `=`.
    #[error("`{option}` of `{preset}` has no value; write `{preset},key=value`")]
    PresetOptionWithoutValue {
        /// Name of the preset, with the prefix `preset:`.
        preset: String,
        /// Option in the text.
        option: String,
    },
    /// A word is not one of a preset's choices.
    #[error("`{option}` is not accepted by `preset:{preset}`; it takes {accepted}")]
    PresetChoice {
        /// Name of the preset.
        preset: String,
        /// Option in the text.
        option: String,
        /// Available words.
        accepted: String,
    },
    /// No part of a preset has this parameter.
    #[error(
        "`preset:{preset}` has no parameter `{key}`{suggestion}{}", pointer(.suggestion, .preset)
    )]
    NoSuchOverride {
        /// Name of the preset.
        preset: String,
        /// Key in the text.
        key: String,
        /// Empty, or a "did you mean" question.
        suggestion: String,
    },
    /// Several parts of a preset have this parameter.
    #[error("more than one part of `preset:{preset}` knows `{key}`; write {parts}")]
    AmbiguousOverride {
        /// Name of the preset.
        preset: String,
        /// Key in the text.
        key: String,
        /// Unambiguous keys to use instead.
        parts: String,
    },
    /// There is no schedule for the oracle.
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

    pub(crate) fn options(part: &'static str, error: OptionsError) -> Self {
        match error {
            OptionsError::Unknown { key, value, known: own } => {
                let known: Vec<&str> =
                    own.into_iter().chain(COMMON.iter().map(|common| common.key)).collect();
                // The many parameters for advice are abbreviated here, because `loadgen strategies NAME` lists them.
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

fn pointer(suggestion: &str, preset: &str) -> String {
    if suggestion.contains("(attempts = retries + 1)") {
        return String::new();
    }
    format!("; run `loadgen strategies preset:{preset}` to see what it has")
}
