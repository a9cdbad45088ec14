//! Servers of runs: an embedded server, a server found on the default port, or a server named on the command line.

pub mod connection_room;
pub mod server_under_test;
pub mod target;
mod url;

pub use url::url;
