//! Preset: the strategy of a production client, as its file defines it.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Deserialize;

use super::golden::Golden;

/// Strategy of a production client, with the sources from which it was taken.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Preset {
    /// Name of the preset in strategy texts, after `preset:`, and name of the preset's file.
    pub name: String,
    /// Alternative name of the preset. If a client has presets for several versions, the newest one has the name
    /// without version as its alternative name.
    pub newest_of: Option<String>,
    /// System to which the client belongs. Versions and variants of one system have the same value.
    pub system: String,
    /// Name of the library, and the part of it that has this behaviour.
    pub library: String,
    /// Version of the library whose source was read or whose behaviour was recorded.
    pub version: String,
    /// Release date of that version, or the date on which its source was read: `2026-11-10`.
    pub date: String,
    /// Summary of the preset in one line.
    pub summary: String,
    /// Remarks for users about properties that the text of the strategy does not show.
    pub notes: Option<String>,
    /// Strategy text that the preset represents.
    pub strategy: String,
    /// Sources of the preset: repository and path, specification or documentation.
    pub sources: Vec<String>,
    /// Parameters of the preset itself, in addition to those of its parts.
    #[serde(default)]
    pub parameters: BTreeMap<String, PresetParameter>,
    /// Golden vectors that the strategy must reproduce.
    #[serde(default)]
    pub golden: Vec<Golden>,
    /// Rules that assign this preset to recorded configurations of its library. If several rules match, the first one
    /// applies.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// Parameter of a preset. Its value is one of a few words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetParameter {
    /// Description of the parameter.
    pub about: String,
    /// Word that applies if the parameter is not set.
    pub default: String,
    /// Accepted words of the parameter, each with the options that it sets: `key=value,part.key=value`.
    pub choices: BTreeMap<String, String>,
}

/// Rule that assigns a preset to recorded configurations of a library. The crate for recordings documents the syntax of
/// the patterns.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Name of the library, as recordings give it. A `*` at the end matches any suffix.
    pub library: String,
    /// Range of library versions to which the rule applies. `7..8` includes 7 and excludes 8. If it is absent, the rule
    /// applies to all versions.
    pub versions: Option<String>,
    /// Patterns that the recorded configuration must match.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Patterns none of which the recorded configuration may match.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Strategy text that the rule assigns.
    pub text: String,
    /// Patterns of recorded library options. If an option matches a pattern, the parameters to which the pattern maps
    /// are set in the strategy.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// Words that may occur in the ids of recorded scenarios. If an id contains a word, the parameters to which the
    /// word maps are set in the strategy.
    #[serde(default)]
    pub scenarios: BTreeMap<String, String>,
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
        /// Name of the parameter.
        parameter: String,
        /// Default value of the parameter, which is not one of its choices.
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
