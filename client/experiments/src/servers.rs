//! Servers of runs: an embedded one, one that was found, or one that was named.

mod barrier;
pub mod connection_room;
pub mod server_under_test;
pub mod target;
mod url;

pub use barrier::reach_barrier;
pub use url::url;
