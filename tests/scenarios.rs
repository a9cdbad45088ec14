//! The simulator and `loadgen reproduce`, by the programs under test: reference figures, verdicts, bad files.
//!
//! Nothing here depends on real time: a seed fixes every figure.

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
