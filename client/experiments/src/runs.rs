//! Runs: what is to be done, who does it, and who watches. One loop for every command; it knows no command line, no terminal
//! and no exit of the process.

pub mod attempt_sinks;
pub mod blocks;
pub mod common_start;
pub mod driver;
pub mod drivers;
pub mod in_turn;
pub mod kept_latencies;
pub mod one_run;
pub mod over_http;
pub mod point;
pub mod shard;
pub mod start_time;
pub mod stop;
pub mod stored;
pub mod virtual_time;
pub mod wall_clock;
