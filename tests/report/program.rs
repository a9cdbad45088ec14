//! Runs `loadgen` in a directory of its own.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory for results, pages and pictures.
pub(crate) struct Desk(TempDir);

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
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

    /// Names of all files there, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn loadgen(&self, args: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
        let Output { status, stdout, stderr } = command
            .args(args.split_whitespace())
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs something that must work.
    pub(crate) fn done(&self, args: &str) -> String {
        let ended = self.loadgen(args);
        assert_eq!(ended.code, Some(0), "{args}: {}", ended.stderr);
        ended.stdout
    }
}
