//! What cannot be made of a preset, and why.

use crate::policy::PolicyError;

/// Nothing that can be made of a preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerPresetUseError {
    /// No such preset.
    #[error("unknown preset `{name}`{suggestion}")]
    Unknown {
        /// As it came.
        name: String,
        /// Nearest name as a question, or the command that lists the names.
        suggestion: String,
    },
    /// No such limit.
    #[error("preset `{preset}` has no limit `{limit}`{suggestion}; its limits are {limits}")]
    Limit {
        /// The preset's name.
        preset: &'static str,
        /// As it came.
        limit: String,
        /// Empty, or a question.
        suggestion: String,
        /// Those that there are.
        limits: String,
    },
    /// What is said of a limit means nothing.
    #[error(
        "preset `{preset}`: `{option}` is neither a limit that is switched off, such as `{limit}=off`, nor a parameter of one, such as `{limit}.{parameter}`"
    )]
    Option {
        /// The preset's name.
        preset: &'static str,
        /// As it came.
        option: String,
        /// The first limit's name.
        limit: &'static str,
        /// A parameter of it with its value.
        parameter: String,
    },
    /// The same twice, or one thing and its contrary.
    #[error("preset `{preset}` is given `{key}` twice; keep one of them")]
    Twice {
        /// The preset's name.
        preset: &'static str,
        /// As it came.
        key: String,
    },
    /// A limit that is off and has a parameter set.
    #[error(
        "preset `{preset}`: `{limit}` is switched off, so nothing of it can be set; leave out `{limit}=off` or `{key}`"
    )]
    OffAndSet {
        /// The preset's name.
        preset: &'static str,
        /// The limit's name.
        limit: String,
        /// What is set of it.
        key: String,
    },
    /// No limit is left.
    #[error("preset `{0}`: every limit is switched off; keep one of them")]
    Nothing(&'static str),
    /// A limit that cannot be so.
    #[error("preset `{preset}`, limit `{limit}`: {why}")]
    Policy {
        /// The preset's name.
        preset: &'static str,
        /// The limit's name.
        limit: &'static str,
        /// What is wrong.
        why: Box<PolicyError>,
    },
    /// No factor.
    #[error("`scale` is {0}; it must be a number from 0.000001 to 1000000, such as 0.02")]
    Scale(String),
}
