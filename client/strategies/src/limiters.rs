//! Limiters, one per file.

mod aimd;
mod ethernet;
mod fixed_window;
mod least_gap;
mod oracle;

pub(crate) use aimd::AimdConfig;
pub(crate) use ethernet::Ethernet;
pub(crate) use fixed_window::FixedWindow;
pub(crate) use least_gap::LeastGapConfig;
pub use oracle::ORACLE;
pub(crate) use oracle::OracleConfig;
