//! Dashboard of several strategies: one lane for each, one below the other.

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
