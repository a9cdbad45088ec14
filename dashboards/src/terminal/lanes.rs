//! Dashboard of several strategies, with one lane for each strategy. Lanes are one below the other.

mod keys;
mod lane;
mod numbers;
mod render;
mod state;
mod watch;

#[cfg(test)]
mod tests;

pub use watch::watch_lanes;
