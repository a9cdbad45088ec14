//! Reasons for which a change of the server's configuration is refused.

use crate::config::ConfigError;

/// Error of a change of the configuration. After an error, the configuration is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    #[error("unknown key `{key}`{suggestion}; the keys are {accepted}")]
    UnknownKey { key: String, suggestion: String, accepted: String },
    #[error("`{key}` cannot be {value}: {why}")]
    Value { key: String, value: String, why: String },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "`policy` and `preset` cannot be combined, because a preset has its own policies; leave one of them \
         out, or change the preset's policies: `preset = \"{0}:LIMIT=off\"` or `preset = \
         \"{0}:LIMIT.PARAMETER=VALUE\"`"
    )]
    Contradiction(String),
}
