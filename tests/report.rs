//! `loadgen report` and `loadgen plot`, from real results to files.

mod exhibits;
mod pages;
mod pictures;
mod real_servers;
mod refusals;
