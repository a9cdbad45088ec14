//! Processes that do not outlive their test, and waiting for conditions.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Maximum time that a program of a test may take, even unoptimised on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

/// Interval between two signals that `loadgen` counts as two.
pub(crate) const APART: Duration = Duration::from_millis(400);

/// Waits until `ready` finds something; panics with `what` if it takes too long.
pub(crate) fn eventually<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ready() {
            return found;
        }
        assert!(Instant::now() < deadline, "this did not happen: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Exit code and output of a program that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Left {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
        self
    }
}

/// A running program; killed when dropped.
pub(crate) struct Program {
    child: Child,
    /// `None` if stdout is redirected.
    stdout: Option<Reader>,
    stderr: Reader,
}

/// Thread that reads a pipe to its end, so that the pipe never fills.
struct Reader {
    text: Arc<Mutex<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn start(pipe: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let shared = text.clone();
        let thread = std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                shared.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        Self { text, thread: Some(thread) }
    }

    fn so_far(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    /// True if the writing end of the pipe is closed.
    fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn drain(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.so_far()
    }
}

impl Program {
    pub(crate) fn start(path: &str, args: &[&str], stdout: Stdio) -> Self {
        let mut command = Command::new(path);
        command.args(args).env_remove("NO_COLOR").stdin(Stdio::null());
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(Reader::start);
        let stderr = Reader::start(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Returns the output on stderr so far.
    pub(crate) fn said(&self) -> String {
        self.stderr.so_far()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn finish_by_signals(mut self, signal: Signal) -> Left {
        eventually("a program ends by signals", || {
            let over = self.is_over();
            if !over {
                self.signal(signal);
            }
            over.then_some(())
        });
        self.finish()
    }

    pub(crate) fn finish(mut self) -> Left {
        let status: ExitStatus = eventually("a program ends by itself", || self.child.try_wait().unwrap());
        let stdout = self.stdout.as_mut().map(Reader::drain).unwrap_or_default();
        Left { code: status.code(), stdout, stderr: self.stderr.drain() }
    }

    /// True until the program closes its stderr.
    pub(crate) fn is_alive(&self) -> bool {
        !self.stderr.is_over()
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process may have exited already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn start_loadgen(args: &[&str]) -> Program {
    Program::start(env!("CARGO_BIN_EXE_loadgen"), args, Stdio::piped())
}

pub(crate) fn loadgen(args: &[&str]) -> Left {
    start_loadgen(args).finish()
}

/// Runs `loadgen` to its end, with its stdout redirected.
pub(crate) fn loadgen_into(stdout: impl Into<Stdio>, args: &[&str]) -> Left {
    Program::start(env!("CARGO_BIN_EXE_loadgen"), args, stdout.into()).finish()
}

/// Runs `loadgen` to its end, as a shell starts it with a redirection such as `2>/dev/full`.
pub(crate) fn loadgen_redirected(redirection: &str, args: &[&str]) -> Left {
    shell(&format!("exec \"$0\" \"$@\" {redirection}"), args)
}

/// Runs a shell to its end, with `loadgen` as `$0` and these arguments.
pub(crate) fn shell(script: &str, args: &[&str]) -> Left {
    start_shell(script, args).finish()
}

/// Starts a shell, with `loadgen` as `$0` and these arguments.
pub(crate) fn start_shell(script: &str, args: &[&str]) -> Program {
    Program::start("sh", &[&["-c", script, env!("CARGO_BIN_EXE_loadgen")], args].concat(), Stdio::piped())
}

pub(crate) fn loadgen_in(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadgen"));
    command.current_dir(directory).args(args).env("NO_COLOR", "1").output().expect("the program was built")
}
