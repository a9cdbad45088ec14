//! A change of the configuration while the server runs: all or nothing.

use serde::Deserialize;
use vocabulary::{did_you_mean, split_options};

use crate::answers::AnswersConfig;
use crate::caps::Caps;
use crate::config::{Config, ConfigError};
use crate::presets::{Expanded, expand};
use crate::quoted::quoted;
use crate::schedule::Target;

/// A change as it came: keys and values of a JSON object, not checked yet.
pub type Patch = serde_json::Map<String, serde_json::Value>;

/// A change that is refused; the configuration stays as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// No such key.
    #[error("unknown key `{key}`{suggestion}; accepted are {accepted}")]
    UnknownKey {
        /// As it came.
        key: String,
        /// Empty, or a question.
        suggestion: String,
        /// All keys.
        accepted: String,
    },
    /// A value of the wrong type or syntax.
    #[error("`{key}` cannot be {value}: {why}")]
    Value {
        /// The key.
        key: String,
        /// As it came.
        value: String,
        /// What is wrong.
        why: String,
    },
    /// A value out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A preset, and other policies than its own.
    #[error(
        "`policy` contradicts `preset`, which has policies of its own; keep one of them, or change the preset's: `preset = \"{0}:LIMIT=off\"`, `{0}:LIMIT.PARAMETER=VALUE`"
    )]
    Contradiction(String),
}

/// What a change says of presets.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    preset: Option<String>,
    scale: Option<f64>,
}

/// The key that sets one parameter of a policy; all others are those of the configuration.
const SET: &str = "set";

impl Config {
    /// This configuration with the patch put in.
    ///
    /// # Errors
    /// Names the key, what came and what is accepted.
    pub fn patched(&self, patch: &Patch) -> Result<Self, PatchError> {
        // What is no text or number is refused below, by its key.
        let asked = serde_json::from_value::<Asked>(patch.clone().into()).unwrap_or_default();
        let based = match (asked.preset.as_deref(), asked.scale) {
            (Some(preset), scale) => self.with_preset(preset, scale)?,
            (None, Some(scale)) => {
                self.with_preset(self.preset.as_deref().ok_or(ConfigError::ScaleAlone)?, Some(scale))?
            }
            (None, None) => self.clone(),
        };
        let is_preset = asked.preset.is_some() || asked.scale.is_some();
        let Ok(serde_json::Value::Object(mut current)) = serde_json::to_value(&based) else {
            unreachable!("a configuration is written as an object")
        };
        // What is not said when it is empty can be changed all the same.
        current.entry("answers").or_insert_with(|| serde_json::Map::new().into());
        for key in ["preset", "scale", "schedule"] {
            current.entry(key).or_insert(serde_json::Value::Null);
        }
        current.entry("fault").or_insert_with(|| "".into());
        for (key, value) in patch.iter().filter(|(key, _)| *key != SET) {
            if !current.contains_key(key) {
                return Err(PatchError::UnknownKey {
                    key: key.clone(),
                    suggestion: did_you_mean(key, current.keys().map(String::as_str).chain([SET])),
                    accepted: quoted(current.keys().map(String::as_str).chain([SET])),
                });
            }
            // One at a time, so that the error knows which.
            current.insert(key.clone(), value.clone());
            if let Err(error) = serde_json::from_value::<Self>(current.clone().into()) {
                return Err(PatchError::Value {
                    key: key.clone(),
                    value: value.to_string(),
                    why: error.to_string(),
                });
            }
        }
        let Ok(mut config) = serde_json::from_value::<Self>(current.into()) else {
            unreachable!("every key was read above")
        };
        if patch.contains_key("max_busy") && !patch.contains_key("caps") {
            // Whoever says how many slots there are now does not want another number later.
            config.caps = Caps::default();
        }
        if patch.contains_key("max_busy") && !patch.contains_key("schedule") {
            config.schedule = config.schedule.without(&Target::MaxBusy);
        }
        if config.policy != based.policy {
            if let Some(preset) = based.preset.as_deref().filter(|_| is_preset) {
                return Err(PatchError::Contradiction(split_options(preset).0.to_owned()));
            }
            if config.preset.take().is_some() {
                // Its answers speak of limits that are no longer there.
                config.scale = None;
                if !patch.contains_key("answers") {
                    config.answers = AnswersConfig::default();
                }
            }
        }
        if let Some(setting) = patch.get(SET) {
            let refuse = |why| PatchError::Value { key: SET.to_owned(), value: setting.to_string(), why };
            let text =
                setting.as_str().ok_or_else(|| refuse("write for example `primary.limit=90`".to_owned()))?;
            config = config.with_setting(text).map_err(refuse)?;
        }
        config.validate()?;
        Ok(config)
    }

    /// This configuration with what a preset has of its own: policies, answers, perhaps settings.
    ///
    /// # Errors
    /// When there is no such preset, or it has not what is typed of it.
    pub fn with_preset(&self, preset: &str, scale: Option<f64>) -> Result<Self, ConfigError> {
        let Expanded { preset: found, policy, answers } = expand(preset, scale)?;
        let Ok(settings) = self.patched(&found.server) else {
            unreachable!("the settings of every preset are tested")
        };
        let config = Self { policy, answers, preset: Some(preset.to_owned()), scale, ..settings };
        config.validate()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(text: &str) -> Result<Config, String> {
        let patch: Patch = serde_json::from_str(text).unwrap();
        Config::default().patched(&patch).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_named_changes_and_the_rest_stays() {
        let config = patched(r#"{"max_busy": 20, "service_time": "exp(1s)", "retry_after": "2s"}"#).unwrap();
        assert_eq!(config.max_busy, 20);
        assert_eq!(config.service_time.to_string(), "exp(1s)");
        assert_eq!(config.retry_after, Some(std::time::Duration::from_secs(2)));
        assert_eq!(config.reject_time, Config::default().reject_time);
        assert_eq!(patched("{}").unwrap(), Config::default());
        assert_eq!(patched(r#"{"fault": "reset:1%"}"#).unwrap().fault.to_string(), "reset:1%");
        assert_eq!(patched(r#"{"retry_after": null}"#).unwrap().retry_after, None);
    }

    #[test]
    fn a_preset_brings_its_policies_and_answers_and_what_is_named_besides_goes_over_them() {
        let github = patched(r#"{"preset": "github:points=off", "scale": 0.02, "max_busy": 9}"#).unwrap();
        assert_eq!(github.policy.labels(), ["primary", "concurrent", "creations"]);
        assert_eq!(
            (github.preset.as_deref(), github.scale, github.max_busy),
            (Some("github:points=off"), Some(0.02), 9)
        );
        assert!(github.answers.reject.contains_key("primary"));
        let again = |text: &str| {
            let patch: Patch = serde_json::from_str(text).unwrap();
            github.patched(&patch).map_err(|error| error.to_string())
        };
        // As `GET /_mock/config` shows it.
        let shown = serde_json::to_string(&github).unwrap();
        assert_eq!(again(&shown).unwrap(), github);
        assert_eq!(again(r#"{"max_busy": 8}"#).unwrap(), Config { max_busy: 8, ..github.clone() });
        let larger = again(r#"{"scale": 0.5}"#).unwrap();
        assert!(
            larger.policy.to_string().starts_with("primary=fixed-window:limit=2500,"),
            "{}",
            larger.policy
        );
        let moved = again(r#"{"set": "primary.limit=90"}"#).unwrap();
        assert!(moved.policy.to_string().starts_with("primary=fixed-window:limit=90,"), "{}", moved.policy);
        assert_eq!(
            (moved.preset.as_deref(), moved.scale),
            (Some("github:points=off,primary.limit=90"), Some(0.02))
        );
        let other = again(r#"{"policy": "gcra"}"#).unwrap();
        assert_eq!(other, Config { max_busy: 9, policy: "gcra".parse().unwrap(), ..Config::default() });
        let error = again(r#"{"policy": "gcra", "preset": "github"}"#).unwrap_err();
        assert!(error.starts_with("`policy` contradicts `preset`"), "{error}");
    }

    #[test]
    fn nonsense_names_the_key_and_what_is_accepted() {
        for (text, words) in [
            (r#"{"max_bussy": 20}"#, "unknown key `max_bussy`; did you mean `max_busy`?"),
            (r#"{"max_busy": "many"}"#, "`max_busy` cannot be \"many\""),
            (r#"{"max_busy": -1}"#, "`max_busy` cannot be -1"),
            (r#"{"max_busy": 0}"#, "`max_busy` is 0"),
            (r#"{"service_time": "soon"}"#, "such as `50ms`"),
            (r#"{"fault": "reset:1"}"#, "`fault` cannot be \"reset:1\": `reset:1` is no list of faults"),
            (r#"{"max_busy": 20, "reject_status": 200}"#, "`reject_status` is 200"),
            (r#"{"set": "max-busy=0"}"#, "`max_busy` is 0"),
            (
                r#"{"set": "primary.limit=9"}"#,
                "`set` cannot be \"primary.limit=9\": no policy is called `primary`",
            ),
            (r#"{"set": 9}"#, "`set` cannot be 9: write for example `primary.limit=90`"),
            (r#"{"preset": "githup"}"#, "`preset`: unknown preset `githup`; did you mean `github`?"),
            (r#"{"preset": 3}"#, "`preset` cannot be 3"),
            (r#"{"scale": 0.5}"#, "`scale` multiplies the figures of a preset"),
            (r#"{"preset": "github", "scale": 0}"#, "`preset`: `scale` is 0"),
        ] {
            let error = patched(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
