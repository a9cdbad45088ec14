//! Runs: what is to be done, who does it, and who watches. One loop for every command; it knows no command line, no terminal
//! and no exit of the process.

pub(crate) mod blocks;
pub(crate) mod driver;
pub(crate) mod over_http;
pub(crate) mod stop;
pub(crate) mod virtual_time;
