//! Outputs that other programs read.

mod interval_logs;
mod notices;
#[path = "../report/program.rs"]
mod program;
mod published;
mod rows;
mod schema;
mod shells;
