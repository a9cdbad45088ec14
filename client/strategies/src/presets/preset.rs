//! Preset: the strategy of a production client, as its file defines it.

use std::collections::BTreeMap;
use std::fmt;
#[cfg(feature = "presets")]
use std::str::FromStr;

#[cfg(feature = "presets")]
use serde::Deserialize;
use vocabulary::duration_text;

/// Strategy of a production client, with the sources from which it was taken.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(deny_unknown_fields, rename_all = "kebab-case"))]
pub struct Preset {
    /// Name of the preset in strategy texts, after `preset:`, and name of the preset's file.
    pub name: String,
    /// Alternative name of the preset. If a client has presets for several versions, the newest one has the name
    /// without version as its alternative name.
    pub newest_of: Option<String>,
    /// System to which the imitated client belongs, such as `aws`. Presets for versions and variants of one system have
    /// the same value.
    pub system: String,
    /// Name of the library that the preset imitates, and of the part of the library that behaves like the preset.
    pub library: String,
    /// Version of the library whose source was read or whose behaviour was recorded.
    pub version: String,
    /// Release date of that version, or the date on which its source was read: `2026-11-10`.
    pub date: String,
    /// Summary of the preset in one line.
    pub summary: String,
    /// Remarks for users about properties that the text of the strategy does not show.
    pub notes: Option<String>,
    /// Strategy text of the preset.
    pub strategy: String,
    /// Sources of the preset: repository and path, specification or documentation.
    pub sources: Vec<String>,
    /// Parameters of the preset itself, in addition to the parameters of its strategy parts.
    #[cfg_attr(feature = "presets", serde(default))]
    pub parameters: BTreeMap<String, PresetParameter>,
    /// Settings of the library that users can change, each with values worth trying.
    #[cfg_attr(feature = "presets", serde(default, rename = "knob"))]
    pub knobs: Vec<Knob>,
    /// Test cases (golden vectors) that the preset's strategy must reproduce.
    #[cfg_attr(feature = "presets", serde(default))]
    pub golden: Vec<Golden>,
    /// Rules that assign this preset to recorded configurations of its library. If several rules match, the first one
    /// applies.
    #[cfg_attr(feature = "presets", serde(default, rename = "rule"))]
    pub rules: Vec<Rule>,
}

/// Parameter of a preset. Its value is one of a few words.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(deny_unknown_fields))]
pub struct PresetParameter {
    /// Description of the preset's parameter for users.
    pub about: String,
    /// Value of the parameter, as one of its accepted words, if the parameter is not set.
    pub default: String,
    /// Accepted words of the parameter, each with the options that it sets: `key=value,part.key=value`.
    pub choices: BTreeMap<String, String>,
}

/// Setting of a library that users can change.
///
/// It changes either one parameter of the strategy or the whole strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(deny_unknown_fields))]
pub struct Knob {
    /// Parameter of the strategy that the library's setting changes, such as `max-attempts` or `outer.max-attempts`.
    /// Absent if the setting selects another strategy.
    pub parameter: Option<String>,
    /// Values of the parameter that are worth trying, in the notation of strategy texts. The library accepts all of them.
    #[cfg_attr(feature = "presets", serde(default, rename = "try"))]
    pub values: Vec<KnobValue>,
    /// Strategy texts that the setting selects instead of the preset's own strategy. Values of the preset's other knobs
    /// follow the name of the preset and its options in them.
    #[cfg_attr(feature = "presets", serde(default))]
    pub texts: Vec<String>,
    /// Setting of the library as users write it, such as `OpenAI(max_retries={retries})`. A setting that selects a
    /// single strategy text has no placeholder.
    ///
    /// `{value}` is replaced by the value or its word in `words`, `{retries}` by the number of attempts minus one, `{ms}` and `{s}` by a
    /// duration in milliseconds and in seconds.
    pub setting: String,
    /// The library's words for values or strategy texts.
    #[cfg_attr(feature = "presets", serde(default))]
    pub words: BTreeMap<String, String>,
    /// File of the library that defines the setting: repository and path.
    pub source: String,
}

/// Value of a library's setting that users can change: a number or a word.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(untagged))]
pub enum KnobValue {
    /// Whole number as the value of a setting, such as a number of attempts.
    Number(u32),
    /// Any value of a setting that is not a number, such as `250ms`.
    Word(String),
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// Rule that assigns a preset to recorded configurations of a library. The crate for recordings documents the syntax of
/// the patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(deny_unknown_fields))]
pub struct Rule {
    /// Name of the library, as recordings give it. A `*` at the end matches any suffix.
    pub library: String,
    /// Range of library versions to which the rule applies. `7..8` includes 7 and excludes 8. If it is absent, the rule
    /// applies to all versions.
    pub versions: Option<String>,
    /// Patterns that the recorded configuration must match for the rule to apply.
    #[cfg_attr(feature = "presets", serde(default))]
    pub needs: Vec<String>,
    /// Patterns none of which the recorded configuration may match if the rule is to apply.
    #[cfg_attr(feature = "presets", serde(default))]
    pub lacks: Vec<String>,
    /// Strategy text that the rule assigns to the recorded configuration.
    pub text: String,
    /// Patterns of recorded library options. If an option matches a pattern, the parameters to which the pattern maps
    /// are set in the strategy.
    #[cfg_attr(feature = "presets", serde(default))]
    pub options: BTreeMap<String, String>,
    /// Words that may occur in the ids of recorded scenarios. If an id contains a word, the parameters to which the
    /// word maps are set in the strategy.
    #[cfg_attr(feature = "presets", serde(default))]
    pub scenarios: BTreeMap<String, String>,
}

impl Knob {
    /// Returns the setting with the given value, as users write it.
    pub fn setting_of(&self, value: &str) -> String {
        let retries = value.parse::<u32>().map(|attempts| attempts.saturating_sub(1).to_string());
        let seconds = duration_text::parse(value).map(|duration| duration.as_secs_f64().to_string());
        let ms = duration_text::parse(value).map(|duration| duration.as_millis().to_string());
        let word = self.words.get(value).map_or(value, String::as_str);
        let filled = self.setting.replace("{value}", word).replace("{retries}", &retries.unwrap_or_default());
        filled.replace("{ms}", &ms.unwrap_or_default()).replace("{s}", &seconds.unwrap_or_default())
    }
}

/// Reason why a text is not a valid preset.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PresetError {
    /// The text is not TOML with the keys of a preset.
    #[error("{0}")]
    Toml(String),
    /// The default of a parameter is not one of its choices.
    #[error("the default of `{parameter}`, `{default}`, is not one of its choices")]
    Default {
        /// Name of the parameter whose default is not one of its choices.
        parameter: String,
        /// Default value of the parameter, which is not one of its choices.
        default: String,
    },
}

#[cfg(feature = "presets")]
impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(text: &str) -> Result<Self, PresetError> {
        let preset = text.parse::<toml::Table>().and_then(Self::deserialize);
        let preset = preset.map_err(|error| PresetError::Toml(error.to_string()))?;
        for (parameter, PresetParameter { default, choices, .. }) in &preset.parameters {
            if !choices.contains_key(default) {
                let (parameter, default) = (parameter.clone(), default.clone());
                return Err(PresetError::Default { parameter, default });
            }
        }
        Ok(preset)
    }
}

// Golden vectors of presets. A golden vector lists the delays that a preset must produce, taken from the source of the
// preset.

/// Test case of a preset. It lists the results of an op's attempts, and the delays that the preset must produce.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "presets", derive(Deserialize), serde(deny_unknown_fields))]
pub struct Golden {
    /// Purpose and source of a preset's test case.
    pub about: String,
    /// Options with which the test case overrides the preset's own options, such as `max-attempts=5,cap=3s`.
    #[cfg_attr(feature = "presets", serde(default))]
    pub with: String,
    /// HTTP method of the requests in the test case. GET if absent.
    pub method: Option<String>,
    /// Number from 0 to 1 that replaces every random draw of the backoff. If it is absent, the expected delays are
    /// ranges, or the backoff has no random draws.
    pub draw: Option<f64>,
    /// Results of the attempts, in order. A result is a status code with optional headers (`429 retry-after: 20;
    /// x-should-retry: true`), or a word: `refused`, `closed`, `timeout` or `unreadable`. The last result repeats.
    pub answers: Vec<String>,
    /// Expected delays, each a duration (`1s`) or a range (`0s..50ms`). If `stop` follows the last delay, the op must
    /// then be given up. Without `stop`, further delays may follow.
    pub delays: Vec<String>,
}
