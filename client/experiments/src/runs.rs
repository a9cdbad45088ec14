//! Runs: tasks, the drivers that execute them, and the watchers that observe them. All commands execute runs with the same loop, which does
//! not depend on a command line, a terminal or process exit.

pub mod blocks;
pub mod driver;
pub mod drivers;
pub mod in_turn;
pub mod one_run;
pub mod over_http;
pub mod past;
pub mod point;
pub mod shard;
pub mod stop;
pub mod virtual_time;
