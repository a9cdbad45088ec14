//! Errors in the use of a preset: unknown names, contradictory options, invalid values.

use crate::policy::PolicyError;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerPresetUseError {
    #[error("unknown preset `{name}`{suggestion}")]
    Unknown { name: String, suggestion: String },
    #[error("preset `{preset}` has no limit `{limit}`{suggestion}; its limits are {limits}")]
    Limit { preset: &'static str, limit: String, suggestion: String, limits: String },
    #[error(
        "preset `{preset}`: `{option}` is not a valid setting; switch off a limit, such as `{limit}=off`, \
         or set a parameter of a limit, such as `{limit}.{parameter}`"
    )]
    Option { preset: &'static str, option: String, limit: &'static str, parameter: String },
    /// The same key was given twice in the options of a preset, or two options contradict each other.
    #[error("preset `{preset}` sets `{key}` twice; keep one of them")]
    Twice { preset: &'static str, key: String },
    #[error(
        "preset `{preset}`: `{limit}` is switched off, so its parameters cannot be set; leave out \
         `{limit}=off` or `{key}`"
    )]
    OffAndSet { preset: &'static str, limit: String, key: String },
    #[error("preset `{0}`: every limit is switched off; keep at least one")]
    Nothing(&'static str),
    #[error("preset `{preset}`, limit `{limit}`: {why}")]
    Policy { preset: &'static str, limit: &'static str, why: Box<PolicyError> },
    #[error("`scale` is {0}; it must be a number from 0.000001 to 1000000, such as 0.02")]
    Scale(String),
}
