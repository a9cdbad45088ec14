//! Outputs that other programs read.

#[path = "../report/program.rs"]
mod program;
mod rows;
