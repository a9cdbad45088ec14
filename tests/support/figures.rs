//! Figures in results.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::program::loadgen;

/// Runs `loadgen … --json - --quiet`, which must succeed, and returns the result.
pub(crate) fn measure(args: &[&str]) -> Value {
    let left = loadgen(&[args, &["--json", "-", "--quiet"]].concat()).exits(0);
    assert_eq!(left.stderr, "", "--quiet says nothing");
    left.json()
}

/// Returns the count at `pointer`, such as `/attempts/total`.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value
        .pointer(pointer)
        .and_then(Value::as_u64)
        .unwrap_or_else(|| panic!("no count `{pointer}` in {value}"))
}

pub(crate) fn figure(value: &Value, pointer: &str) -> f64 {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no figure `{pointer}` in {value}"))
}

pub(crate) fn assert_conserved(result: &Value) {
    let sum = |keys: &[&str]| keys.iter().map(|key| count(result, key)).sum::<u64>();
    let ops = sum(&["/ops/succeeded", "/ops/given_up", "/ops/unfinished"]);
    assert_eq!(count(result, "/ops/total"), ops, "{result}");
    let ended =
        sum(&["/attempts/succeeded", "/attempts/rejected", "/attempts/failed", "/attempts/cancelled"]);
    assert_eq!(count(result, "/attempts/total"), ended, "{result}");
}

/// Writes a temporary file, which is deleted when the first of the two is dropped.
pub(crate) fn written(contents: &[u8]) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("mine.toml");
    fs::write(&path, contents).unwrap();
    (dir, path)
}
