//! Evaluation of runs. It ranks strategies, computes the size of differences, and tests whether a ranking also holds on similar servers. It
//! also finds the best point of a sweep.
//!
//! The evaluation is computed from results and starts no runs. It writes the sentences of documents. Tables and notes for terminals are
//! written by its callers.

pub mod best_point;
pub mod comparison;
pub mod estimate;
pub mod pairs;
pub mod sensitivity;
pub mod standings;
#[cfg(test)]
mod testing;
