//! Servers of runs: an embedded server, a server found on the default port, or a server named on the command line.

pub mod server_under_test;
pub mod target;

pub use crate::servers::target::url;
