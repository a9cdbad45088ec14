//! Shared parts of the commands of `loadgen`: flags, input and output files, texts, live views, the execution of runs, checks, signals and exit
//! codes. It knows no command.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod args;
pub mod checks;
pub mod exit;
pub mod files;
pub mod merging;
pub mod runner;
pub mod screen;
pub mod secrets;
pub mod settings;
pub mod shards;
pub mod text;
