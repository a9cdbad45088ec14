//! The dashboard of several strategies: a lane for each, one below the other.

mod keys;
mod lane;
mod numbers;
mod render;
mod state;
mod table;
mod watch;

#[cfg(test)]
mod tests;

pub use watch::watch_lanes;
