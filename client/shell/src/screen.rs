//! Live views of runs: the dashboard of one run, lanes (one per strategy) of several runs, plain lines, and JSON lines for programs.

pub mod board;
pub mod lanes;
pub mod live_figures;
pub mod watch;
