//! How runs are watched on a terminal: the dashboard of one, lanes of several, or lines; and by programs.

pub(crate) mod board;
pub(crate) mod lanes;
pub(crate) mod live_figures;
mod moved_limit;
pub(crate) mod watch;
