//! Evaluation of runs: ranking of strategies, size of differences, sensitivity of the ranking to the server, best
//! point, and agreement of both drivers.
//!
//! Everything here is computed from results; nothing here starts a run. Sentences of documents are written here. Tables
//! and notes for terminals are written by the callers.

pub mod agreement;
pub mod best_point;
pub mod cell;
pub mod comparison;
mod course;
pub mod estimate;
pub mod pair;
pub mod pairs;
mod range_end;
pub mod sensitivity;
pub mod standings;
#[cfg(test)]
mod testing;
pub mod variation;
