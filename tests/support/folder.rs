//! Runs of `loadgen` in a temporary directory.

use std::path::PathBuf;
use std::process::Output;

use tempfile::TempDir;

use super::program::{Left, loadgen_in};

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the names of all files in it, including hidden ones.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn loadgen(&self, args: &str) -> Left {
        self.loadgen_words(&args.split_whitespace().collect::<Vec<&str>>())
    }

    /// Variant of `loadgen` for arguments with spaces.
    pub(crate) fn loadgen_words(&self, words: &[&str]) -> Left {
        let Output { status, stdout, stderr } = loadgen_in(self.0.path(), words);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Left { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs a command that must succeed. Returns its stdout.
    pub(crate) fn done(&self, args: &str) -> String {
        self.loadgen(args).exits(0).stdout
    }
}
