//! Why a change of the configuration is refused.

use crate::config::ConfigError;

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
