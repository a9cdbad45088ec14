//! One preset, as its file has it.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;

use super::golden::Golden;

/// What a client does that production runs: a strategy with its sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Preset {
    /// As typed after `preset:`, and the name of its file.
    pub name: String,
    /// The name that it has, too, as the newest of several versions.
    pub newest_of: Option<String>,
    /// What it is a client of, or of whom: versions and variants of one have it in common.
    pub system: String,
    /// The library, and the part of it, that does this.
    pub library: String,
    /// The version that was read or recorded.
    pub version: String,
    /// Of that version, or of the day on which it was read: `2026-11-10`.
    pub date: String,
    /// What it does, in one line.
    pub summary: String,
    /// What a user should know that the strategy does not say.
    pub notes: Option<String>,
    /// The strategy.
    pub strategy: String,
    /// Where that was read: repository and path, specification or documentation.
    pub sources: Vec<String>,
    /// What can be chosen besides the parameters of its parts.
    #[serde(default)]
    pub parameters: BTreeMap<String, PresetParameter>,
    /// What it must come to.
    #[serde(default)]
    pub golden: Vec<Golden>,
    /// Rules for recorded configurations of its library; the first that matches counts.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// What can be chosen by one word.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetParameter {
    /// What it chooses.
    pub about: String,
    /// The word that holds when none is given.
    pub default: String,
    /// The words, each with the options that it puts in: `key=value,part.key=value`.
    pub choices: BTreeMap<String, String>,
}

/// Rule that matches recorded configurations to a preset. The crate of recordings documents the patterns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The library as recordings name it; a `*` at its end stands for any name.
    pub library: String,
    /// Versions, from the first and below the second: `7..8`; all, if there are none.
    pub versions: Option<String>,
    /// Patterns that the configuration must match.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Patterns that it must not match.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The strategy.
    pub text: String,
    /// Patterns of the library's options, with what each puts into the strategy.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Words in the ids of scenarios, with what they put in.
    #[serde(default)]
    pub scenarios: BTreeMap<String, String>,
}

/// A text is no preset.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PresetError {
    /// It is no TOML with the keys of a preset.
    #[error("{0}")]
    Toml(String),
    /// A choice's default is no choice.
    #[error("the default of `{parameter}`, `{default}`, is none of its choices")]
    Default {
        /// The parameter.
        parameter: String,
        /// The word.
        default: String,
    },
}

impl FromStr for Preset {
    type Err = PresetError;

    fn from_str(text: &str) -> Result<Self, PresetError> {
        let preset: Self = toml::from_str(text).map_err(|error| PresetError::Toml(error.to_string()))?;
        for (parameter, PresetParameter { default, choices, .. }) in &preset.parameters {
            if !choices.contains_key(default) {
                let (parameter, default) = (parameter.clone(), default.clone());
                return Err(PresetError::Default { parameter, default });
            }
        }
        Ok(preset)
    }
}
