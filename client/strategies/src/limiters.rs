//! Limiters, one per file.

mod aimd;
mod ethernet;
mod fixed_window;
mod oracle;

pub(crate) use aimd::AimdConfig;
pub(crate) use ethernet::Ethernet;
pub(crate) use fixed_window::FixedWindow;
pub use oracle::ORACLE;
pub(crate) use oracle::OracleConfig;
