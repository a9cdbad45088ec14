//! What runs say: where strategies stand, what differences are worth, whether the ranking stands against other servers, which point
//! is best, and whether both drivers agree.
//!
//! Everything here is made of results and brings no runs about. Sentences that documents
//! hold are made here; tables and notes for terminals are their callers'.

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
