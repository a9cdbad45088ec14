//! Evaluation of runs. It ranks strategies, computes the size of differences, and tests whether a ranking also holds on similar servers. It
//! also finds the best point of a sweep, and checks whether simulated runs agree with runs over HTTP.
//!
//! The evaluation is computed from results and starts no runs. It writes the sentences of documents. Tables and notes for terminals are
//! written by its callers.

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
