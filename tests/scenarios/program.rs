//! Runs `loadgen`, whose runs here take longer than those over HTTP and say more than a pipe holds.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// No program of a test may take longer, even unoptimised on a busy machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// What the program left behind.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Left {
    /// Checks its exit code.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Its stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// `loadgen` under way; killed when dropped.
pub(crate) struct Program {
    pub(crate) child: Child,
    said: TempDir,
}

impl Program {
    pub(crate) fn start(args: &[&str]) -> Self {
        let said = TempDir::new().unwrap();
        let file = |name: &str| Stdio::from(File::create(said.path().join(name)).unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
        command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
        let child = command.stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap();
        Self { child, said }
    }

    /// Waits until its stderr has this word.
    pub(crate) fn says(&mut self, word: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.said("stderr").contains(word) {
            assert!(Instant::now() < deadline, "it did not say `{word}`: {}", self.said("stderr"));
            assert!(self.child.try_wait().unwrap().is_none(), "it ended: {}", self.said("stderr"));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Left {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it did not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        Left { code: status.code(), stdout: self.said("stdout"), stderr: self.said("stderr") }
    }

    fn said(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.said.path().join(name)).unwrap()).into_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be over already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs `loadgen` to its end.
pub(crate) fn loadgen(args: &[&str]) -> Left {
    Program::start(args).finish()
}

/// Runs `loadgen reproduce … --json - --quiet`, which must come out as expected, and returns the only scenario.
pub(crate) fn reproduce(args: &[&str]) -> Value {
    let left = loadgen(&[&["reproduce", "--json", "-", "--quiet"], args].concat()).exits(0);
    assert_eq!(left.stderr, "", "--quiet says nothing");
    left.json()["scenarios"][0].take()
}

/// A file of one's own, gone with the first of the two.
pub(crate) fn written(contents: &[u8]) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("mine.toml");
    fs::write(&path, contents).unwrap();
    (dir, path)
}

/// Runs a scenario of one's own, which must come out as expected.
pub(crate) fn reproduce_text(text: &str) -> Value {
    let (_dir, path) = written(text.as_bytes());
    reproduce(&["--scenario", path.to_str().unwrap()])
}
