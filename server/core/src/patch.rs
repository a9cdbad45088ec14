//! A change of the configuration while the server runs: all or nothing.

use vocabulary::did_you_mean;

use crate::caps::Caps;
use crate::config::{Config, ConfigError};

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
}

impl Config {
    /// This configuration with the patch put in.
    ///
    /// # Errors
    /// Names the key, what came and what is accepted.
    pub fn patched(&self, patch: &Patch) -> Result<Self, PatchError> {
        let Ok(serde_json::Value::Object(mut current)) = serde_json::to_value(self) else {
            unreachable!("a configuration is written as an object")
        };
        // What is not said when it is empty can be changed all the same.
        current.entry("answers").or_insert_with(|| serde_json::Map::new().into());
        for (key, value) in patch {
            if !current.contains_key(key) {
                return Err(PatchError::UnknownKey {
                    key: key.clone(),
                    suggestion: did_you_mean(key, current.keys().map(String::as_str)),
                    accepted: current.keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "),
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
        assert_eq!(patched(r#"{"retry_after": null}"#).unwrap().retry_after, None);
    }

    #[test]
    fn nonsense_names_the_key_and_what_is_accepted() {
        for (text, words) in [
            (r#"{"max_bussy": 20}"#, "unknown key `max_bussy`; did you mean `max_busy`?"),
            (r#"{"max_busy": "many"}"#, "`max_busy` cannot be \"many\""),
            (r#"{"max_busy": -1}"#, "`max_busy` cannot be -1"),
            (r#"{"max_busy": 0}"#, "`max_busy` is 0"),
            (r#"{"service_time": "soon"}"#, "such as `50ms`"),
            (r#"{"max_busy": 20, "reject_status": 200}"#, "`reject_status` is 200"),
        ] {
            let error = patched(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
