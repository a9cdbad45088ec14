//! `loadgen report` and `loadgen plot`, from real results to files.

mod pages;
mod program;
mod refusals;
