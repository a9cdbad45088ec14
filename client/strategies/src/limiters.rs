//! Limiters, one per file.

mod aimd;
mod fixed_window;
mod oracle;

pub(crate) use aimd::AimdConfig;
pub(crate) use fixed_window::FixedWindow;
pub(crate) use oracle::{ORACLE, OracleConfig};
