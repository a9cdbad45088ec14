//! Errors in strategy texts.

use vocabulary::{OptionsError, ParameterError, did_you_mean, nearest};

use crate::budget::MAX_BUDGETS;
use crate::common::COMMON;
use crate::presets::{preset, preset_names};
use crate::strategy::MAX_LAYERS;

/// Names of options that set the maximum number of retries in client libraries, in lower case and without separators.
/// `total` is from urllib3.
const RETRIES: &[&str] =
    &["maxretries", "maxretry", "maxretrycount", "numretries", "retries", "retrycount", "total"];

/// Reason why a text is not a valid strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The strategy text contains the name of an unknown part.
    #[error("unknown strategy `{name}`{suggestion}; run `loadgen strategies` to list all strategies")]
    Unknown {
        /// Unknown name in the strategy text.
        name: String,
        /// Suggestion of the intended name, such as "did you mean …?"; empty if there is none.
        suggestion: String,
    },
    /// The strategy text sets a parameter that the part does not have.
    #[error("`{part}` has no parameter `{key}`{suggestion}; its parameters are {accepted}")]
    UnknownParameter {
        /// Name of the strategy part that does not have the parameter.
        part: &'static str,
        /// Key of the parameter that the strategy part does not have.
        key: String,
        /// Suggestion of the intended parameter, such as "did you mean …?"; empty if there is none.
        suggestion: String,
        /// List of the keys that the strategy part accepts.
        accepted: String,
    },
    /// An option in the strategy text has no `=` and no value.
    #[error("`{option}` of `{part}` has no value; write `{part}:key=value,key=value`")]
    NoValue {
        /// Name of the strategy part whose option has no value.
        part: &'static str,
        /// Option without a value, as written in the strategy text.
        option: String,
    },
    /// The strategy text sets a parameter more than once.
    #[error("`{text}` sets `{key}` twice; keep one of them")]
    Twice {
        /// Text of the strategy part that sets the parameter repeatedly.
        text: String,
        /// Key of the parameter that is set repeatedly.
        key: String,
    },
    /// The strategy text gives a parameter a value that the parameter does not accept.
    #[error("in `{part}`: {source}")]
    Value {
        /// Name of the strategy part whose parameter does not accept the value.
        part: &'static str,
        /// Text that names the rejected value and the accepted values.
        source: ParameterError,
    },
    /// The strategy text combines parameters of a part that do not fit together.
    #[error("in `{part}`: {why}")]
    Combination {
        /// Name of the strategy part whose parameters do not fit together.
        part: &'static str,
        /// Reason why the parameters of a strategy part do not fit together.
        why: String,
    },
    /// A layer of the strategy has two retry policies.
    #[error(
        "`{text}` has two retry policies, but `+` can join only one with limiters and budgets; keep one, or \
         put one around the other: `A over B`"
    )]
    TwoRetryPolicies {
        /// Text of the layer that has two retry policies.
        text: String,
    },
    /// A layer has more budgets than an attempt can hold permits for.
    #[error("`{text}` has more than {MAX_BUDGETS} budgets; keep at most {MAX_BUDGETS}")]
    TooManyBudgets {
        /// Text of the layer that has too many budgets.
        text: String,
    },
    /// A layer of the strategy has two hedgers.
    #[error("`{text}` has two hedgers, `{first}` and `{second}`; keep one of them")]
    TwoHedgers {
        /// Text of the layer that has two hedgers.
        text: String,
        /// Name of the first of the layer's two hedgers.
        first: &'static str,
        /// Name of the second of the layer's two hedgers.
        second: &'static str,
    },
    /// An outer layer has a hedger, but only the innermost layer may have one.
    #[error(
        "`{hedger}` is not in the innermost layer, but only that layer sends attempts that can be copied; \
         write `{hedger}` behind the last `over`"
    )]
    OuterHedger {
        /// Name of the hedger that is in an outer layer.
        hedger: &'static str,
    },
    /// An outer layer has the part `hold`, but only the innermost layer is asked for each attempt.
    #[error(
        "`{part}` is not in the innermost layer, so it would not hold the attempts inside a try; write \
         `{part}` behind the last `over`"
    )]
    OuterHold {
        /// Name of the part.
        part: &'static str,
    },
    /// The strategy combines a hedger with a part that has carrier sense. The two parts exclude each other, because
    /// with carrier sense the server decides whether an attempt starts.
    #[error(
        "`{hedger}` cannot be combined with `{carrier}`, which lets the server decide whether an attempt \
         starts; leave one of them out"
    )]
    HedgedCarrier {
        /// Name of the strategy's hedger.
        hedger: &'static str,
        /// Name of the strategy part that has carrier sense.
        carrier: &'static str,
    },
    /// The strategy has too many layers, because the state of an op has a fixed number of entries, one per layer.
    #[error("`{text}` has more than {MAX_LAYERS} layers; keep at most {MAX_LAYERS}")]
    TooManyLayers {
        /// Text of the strategy that has too many layers.
        text: String,
    },
    /// The word `over` has no layer on one of its sides.
    #[error("`{text}` has nothing on one side of `over`; write `A over B`, where B is the inner strategy")]
    NoLayer {
        /// Text of the strategy, in which `over` lacks a layer on one side.
        text: String,
    },
    /// A layer of a strategy with several layers has no retry policy.
    #[error(
        "`{layer}` has no retry policy, but each side of `over` needs one; join `{layer}` to one of the \
         sides with `+`"
    )]
    LayerWithoutRetries {
        /// Names of the parts of the layer, joined by `+`.
        layer: String,
    },
    /// The strategy searches answers for more reasons than it can distinguish.
    #[error("`{text}` has more than 64 different terms `reason.NAME`; keep at most 64")]
    TooManyReasons {
        /// Text of the strategy that searches for too many reasons.
        text: String,
    },
    /// The layers of the strategy parse advice in more ways than an outcome can hold results.
    #[error(
        "the layers of `{text}` have more than two different values of `advice`; give some of them the same value"
    )]
    TooManyAdviceForms {
        /// Text of the strategy whose layers parse advice in too many ways.
        text: String,
    },
    /// The word `preset:` is not followed by the name of a preset.
    #[error(
        "`{text}` does not name a preset; write `preset:NAME`; run `loadgen strategies --presets` to list \
         all names"
    )]
    PresetWithoutName {
        /// Text of the strategy part in which the name of the preset is missing.
        text: String,
    },
    /// The strategy text contains the name of an unknown preset.
    #[error("unknown preset `{name}`{suggestion}; run `loadgen strategies --presets` to list all presets")]
    UnknownPreset {
        /// Unknown preset name in the strategy text.
        name: String,
        /// Suggestion of the intended preset, such as "did you mean …?"; empty if there is none.
        suggestion: String,
    },
    /// An option after a preset's name has no `=`.
    #[error("`{option}` of `{preset}` has no value; write `{preset},key=value`")]
    PresetOptionWithoutValue {
        /// Name of the preset whose option has no value, with the prefix `preset:`.
        preset: String,
        /// Option without a value, as written in the strategy text.
        option: String,
    },
    /// A word after the name of a preset is not one of the preset's choices.
    #[error("`{option}` is not accepted by `preset:{preset}`; the accepted values are {accepted}")]
    PresetChoice {
        /// Name of the preset that does not accept the word.
        preset: String,
        /// Option with the rejected word, as `key=word`.
        option: String,
        /// List of the words that the preset accepts as the option's value.
        accepted: String,
    },
    /// The strategy text sets a parameter after a preset's name, but no part of the preset has this parameter.
    #[error(
        "`preset:{preset}` has no parameter `{key}`{suggestion}{}", pointer(.suggestion, .preset)
    )]
    NoSuchOverride {
        /// Name of the preset whose parts do not have the parameter.
        preset: String,
        /// Key of the parameter that no part of the preset has.
        key: String,
        /// Suggestion of the intended parameter, such as "did you mean …?"; empty if there is none.
        suggestion: String,
    },
    /// The strategy text overrides a parameter that several parts of the preset have.
    #[error("more than one part of `preset:{preset}` has a parameter `{key}`; write {parts} to choose one")]
    AmbiguousOverride {
        /// Name of the preset of which several parts have the parameter.
        preset: String,
        /// Key of the parameter that several parts of the preset have.
        key: String,
        /// Unambiguous keys that users can write instead of the ambiguous key.
        parts: String,
    },
    /// The strategy contains the `oracle`, but the caller has not provided the schedule that the oracle follows.
    #[error(
        "`oracle` computes its schedule from the configuration of a mockserver, but none is known here; run \
         it against a mockserver, or without `--target`, which starts one"
    )]
    NoForeknowledge,
}

impl SpecError {
    pub(crate) fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let known: Vec<&str> = known.collect();
        let is_part = |text: &str| known.contains(&text);
        let suggestion = if name.is_empty() {
            " (a name is missing)".to_owned()
        } else if let Some((part, options)) = name.split_once(',').filter(|(part, _)| is_part(part)) {
            format!(" (did you mean `{part}:{options}`?)")
        } else if let Some((part, rest)) = name.split_once(' ').filter(|(part, _)| is_part(part)) {
            format!(" (did you mean `{part}+{}`?)", rest.trim())
        } else if preset(name).is_some() {
            format!(" (did you mean `preset:{name}`?)")
        } else if let Some(known) = nearest(name, known) {
            format!(" (did you mean `{known}`?)")
        } else if let Some(preset) = nearest(name, preset_names()) {
            format!(" (did you mean `preset:{preset}`?)")
        } else {
            String::new()
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
                // The error message does not list the many parameters for advice, because `loadgen strategies NAME`
                // lists them.
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
    format!("; run `loadgen strategies preset:{preset}` to list its parameters")
}
