//! How runs are watched on a terminal: the dashboard of one, lanes of several, or lines.

pub(crate) mod board;
pub(crate) mod lanes;
mod moved_limit;
pub(crate) mod watch;
