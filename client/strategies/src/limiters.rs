//! Limiters, one per file.

mod aimd;
mod oracle;

pub(crate) use aimd::AimdConfig;
pub(crate) use oracle::{ORACLE, OracleConfig};
