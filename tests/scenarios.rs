//! The simulator and `loadgen reproduce` by the built programs: reference figures, verdicts, and invalid files.
//!
//! Nothing here depends on real time, because a seed determines every figure.

mod bad_files;
mod claims;
mod figures;
mod golden;
mod lower_bound;
mod matrix;
mod plots;
mod reference;
mod regressions;
mod sources;
mod verdicts;
