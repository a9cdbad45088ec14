//! Tests that are skipped because this machine lacks something.

use std::io::Write;

/// Reports that a test was skipped. Not by `eprintln!`, whose text is not shown for tests that pass: a silent test has
/// checked something.
pub(crate) fn skipped(why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}
