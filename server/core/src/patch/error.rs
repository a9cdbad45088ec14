//! Reasons for which a change of the configuration is refused.

use crate::config::ConfigError;

/// Error of a change of the configuration. After an error, the configuration is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    #[error("unknown key `{key}`{suggestion}; accepted are {accepted}")]
    UnknownKey { key: String, suggestion: String, accepted: String },
    #[error("`{key}` cannot be {value}: {why}")]
    Value { key: String, value: String, why: String },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(
        "`policy` contradicts `preset`, which has policies of its own; keep one of them, or change the preset's: `preset = \"{0}:LIMIT=off\"`, `{0}:LIMIT.PARAMETER=VALUE`"
    )]
    Contradiction(String),
}
