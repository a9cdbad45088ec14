//! `loadgen`, interrupted by Ctrl-C at a moment of the test's choosing.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// Runs `loadgen` in a directory, interrupts it as soon as stderr contains these words, and waits for its end. Returns
/// its output, and the lines of stderr after these words.
pub(crate) fn interrupted(directory: &Path, args: &[&str], words: &str) -> (Output, Vec<String>) {
    interrupted_at(directory, args, |line| line.contains(words))
}

/// Variant of [`interrupted`] that waits for a progress line with at least this number of runs done.
pub(crate) fn interrupted_after(directory: &Path, args: &[&str], runs: u64) -> (Output, Vec<String>) {
    interrupted_at(directory, args, |line| {
        let (done, rest) = line.split_once(" of ").unwrap_or_default();
        let done: String = done.chars().filter(|digit| !digit.is_whitespace()).collect();
        rest.contains(" runs") && done.parse().is_ok_and(|done: u64| done >= runs)
    })
}

fn interrupted_at(directory: &Path, args: &[&str], is_time: impl Fn(&str) -> bool) -> (Output, Vec<String>) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"))
        .current_dir(directory)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("loadgen starts");
    let told = BufReader::new(program.stderr.take().expect("it is piped"));
    let mut lines = told.lines().map_while(Result::ok);
    assert!(lines.any(|line| is_time(&line)), "it ended");
    kill_process(Pid::from_child(&program), Signal::INT).expect("it goes on");
    let after = lines.collect();
    (program.wait_with_output().expect("it ends"), after)
}
