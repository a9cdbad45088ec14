//! What runs of several strategies say: who stands where, what differences are worth, whether the ranking stands against other
//! servers, and which point is best.
//!
//! Everything here is made of [`Measured`](crate::runs::blocks::Measured) blocks and brings no runs about. Sentences that documents
//! hold are made here; tables and notes for terminals are their callers'.

pub mod best_point;
pub mod cell;
pub mod comparison;
pub mod estimate;
pub mod pair;
pub mod pairs;
pub mod sensitivity;
pub mod standings;
#[cfg(test)]
mod testing;
pub mod variation;
