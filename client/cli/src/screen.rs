//! Live views of runs: the dashboard of one run, lanes (one per strategy) of several runs, plain lines, and JSON lines for programs.

pub(crate) mod board;
pub(crate) mod lanes;
pub(crate) mod live_figures;
mod moved_limit;
pub(crate) mod watch;
