//! What every strategy accepts, on any of its parts.

use crate::RetryAfter;
use vocabulary::{Parameter, ParameterInfo};

/// What every strategy accepts, on any of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) max_attempts: u32,
    pub(crate) retry_after: RetryAfter,
}

impl Default for Common {
    fn default() -> Self {
        Self { max_attempts: u32::MAX, retry_after: RetryAfter::default() }
    }
}

/// Its parameters.
pub(crate) const COMMON: &[Parameter<Common>] = &[
    Parameter::count("max-attempts", "attempts after which an op is given up", (1, u32::MAX), |common| {
        &mut common.max_attempts
    }),
    Parameter::choice(
        "retry-after",
        "what is done with the server's Retry-After: wait at least, exactly, or do not read it",
        |common| &mut common.retry_after,
    ),
];

/// The common parameters with the values they have.
pub(crate) fn common_info(common: &mut Common) -> Vec<ParameterInfo> {
    COMMON.iter().map(|parameter| parameter.info(common)).collect()
}
