//! Views of runs in progress: the dashboard of one run, lanes of several, plain lines, and JSON lines for programs.

pub(crate) mod board;
pub(crate) mod lanes;
pub(crate) mod live_figures;
mod moved_limit;
pub(crate) mod watch;
