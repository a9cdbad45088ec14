//! Figures of a run, computed from a snapshot of its measurements and independent of the place where they are drawn.

mod bins;
mod effort;
mod health;
mod limits;
mod progress;
mod remaining;
mod scale;
mod timeline;

pub(crate) use bins::{attempts_per_op, latency_bins};
pub(crate) use effort::{AttemptStats, failures};
pub(crate) use health::trouble;
pub(crate) use limits::{CapLimit, RateLimit, level};
pub(crate) use progress::{Goal, Progress};
pub(crate) use remaining::Remaining;
pub(crate) use scale::{Scale, nice_ceiling, nice_span, nice_step};
pub(crate) use timeline::{Counter, Timeline};
