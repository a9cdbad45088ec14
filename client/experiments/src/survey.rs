//! Surveys: comparisons of strategies on many servers that are drawn at random. Many servers are needed, because results on one server
//! prove little about other servers.
//!
//! The function [`settings`] draws servers and workloads. A [`Survey`] holds the runs. Its methods compute ratios to a reference strategy
//! from pairs of runs with the same setting and seed.

mod document;
mod draw;
mod evaluation;
mod groups;
mod setting;

/// Maximum mean number of attempts per op. A run that exceeds it is ended with ops undone, because strategies that ignore rejections would
/// send millions of attempts.
pub const MAX_ATTEMPTS_PER_OP: u32 = 100;

pub use document::{Run, Survey, Surveyed};
pub use draw::settings;
pub use evaluation::{Against, Ratio, Row, SLOWER};
pub use groups::{GROUPS, Group};
pub use setting::{Limit, Setting};
