//! Tests that this machine lacks something for.

use std::io::Write;

/// Says that a test has not looked. Not by `eprintln!`, whose text is not shown for tests that pass: a test that is silent
/// has looked.
pub(crate) fn skipped(why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}
