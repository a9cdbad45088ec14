//! Evaluation of runs: ranking of strategies, size of differences, sensitivity of the ranking to the server, best point, and agreement of
//! both drivers.
//!
//! The evaluation is computed from results and starts no runs. It also writes the sentences of documents, while its callers write tables
//! and notes for terminals.

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
