//! What every theme needs: processes that do not outlive their test, waiting for conditions, a plain HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// No program of a test may take longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Signals that come so far apart are two for `loadgen`.
pub(crate) const APART: Duration = Duration::from_millis(400);

/// Waits until `ready` finds something; panics with `what` when it takes too long.
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

/// What a program left behind.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Left {
    /// Its stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks its exit code.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Checks that its stderr says all of this.
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in: {}", self.stderr);
        }
        self
    }
}

/// A program under way; killed when dropped.
pub(crate) struct Program {
    child: Child,
    /// Nothing when it goes elsewhere.
    stdout: Option<Reader>,
    stderr: Reader,
}

/// Reads a pipe to its end on a thread, so that it never fills.
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

    /// Whether whoever wrote is gone.
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
    /// Starts one of the programs under test.
    pub(crate) fn start(path: &str, args: &[&str], stdout: Stdio) -> Self {
        let mut command = Command::new(path);
        command.args(args).env_remove("NO_COLOR").stdin(Stdio::null());
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(Reader::start);
        let stderr = Reader::start(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// What it has said on stderr so far.
    pub(crate) fn said(&self) -> String {
        self.stderr.so_far()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends a signal again and again until the program ends.
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

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Left {
        let status: ExitStatus = eventually("a program ends by itself", || self.child.try_wait().unwrap());
        let stdout = self.stdout.as_mut().map(Reader::drain).unwrap_or_default();
        Left { code: status.code(), stdout, stderr: self.stderr.drain() }
    }

    /// Whether the process goes on.
    pub(crate) fn is_alive(&self) -> bool {
        !self.stderr.is_over()
    }

    fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be over already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Starts `loadgen`.
pub(crate) fn start_loadgen(args: &[&str]) -> Program {
    Program::start(env!("CARGO_BIN_EXE_loadgen"), args, Stdio::piped())
}

/// Runs `loadgen` to its end.
pub(crate) fn loadgen(args: &[&str]) -> Left {
    start_loadgen(args).finish()
}

/// Runs `loadgen` to its end with its stdout going elsewhere.
pub(crate) fn loadgen_into(stdout: impl Into<Stdio>, args: &[&str]) -> Left {
    Program::start(env!("CARGO_BIN_EXE_loadgen"), args, stdout.into()).finish()
}

/// Runs `loadgen` to its end as a shell starts it that was told to redirect something, such as `2>/dev/full`.
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

/// Runs `loadgen … --json - --quiet`, which must succeed, and returns the result.
pub(crate) fn measure(args: &[&str]) -> Value {
    let left = loadgen(&[args, &["--json", "-", "--quiet"]].concat()).exits(0);
    assert_eq!(left.stderr, "", "--quiet says nothing");
    left.json()
}

/// The count at `pointer`, such as `/attempts/total`.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value
        .pointer(pointer)
        .and_then(Value::as_u64)
        .unwrap_or_else(|| panic!("no count `{pointer}` in {value}"))
}

/// The figure at `pointer`.
pub(crate) fn figure(value: &Value, pointer: &str) -> f64 {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("no figure `{pointer}` in {value}"))
}

/// Checks the equations that every result fulfils.
pub(crate) fn assert_conserved(result: &Value) {
    let sum = |keys: &[&str]| keys.iter().map(|key| count(result, key)).sum::<u64>();
    let ops = sum(&["/ops/succeeded", "/ops/given_up", "/ops/unfinished"]);
    assert_eq!(count(result, "/ops/total"), ops, "{result}");
    let ended =
        sum(&["/attempts/succeeded", "/attempts/rejected", "/attempts/failed", "/attempts/cancelled"]);
    assert_eq!(count(result, "/attempts/total"), ended, "{result}");
}

/// A running `mockserver`.
pub(crate) struct MockServer {
    program: Program,
    pub(crate) address: SocketAddr,
}

impl MockServer {
    /// Starts it on a free port.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::listen("127.0.0.1:0", args)
    }

    /// Starts it at an address.
    pub(crate) fn listen(address: &str, args: &[&str]) -> Self {
        let mut program = start_mockserver(&[&["--listen", address], args].concat());
        let address = eventually("the mockserver says where it listens", || {
            assert!(!program.is_over(), "it ended: {}", program.said());
            let said = program.said();
            let (_, rest) = said.split_once("listening on http://")?;
            rest.split_once('\n')?.0.parse().ok()
        });
        Self { program, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        self.program.said()
    }

    /// Its counts of everything.
    pub(crate) fn stats(&self) -> Value {
        request(self.address, "GET", "/_mock/stats", "").json()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.program.signal(signal);
    }

    /// Whether the process goes on.
    pub(crate) fn is_alive(&self) -> bool {
        self.program.is_alive()
    }

    pub(crate) fn finish_by_signals(self, signal: Signal) -> Left {
        self.program.finish_by_signals(signal)
    }

    pub(crate) fn finish(self) -> Left {
        self.program.finish()
    }
}

/// Starts `mockserver` without waiting for it to listen.
pub(crate) fn start_mockserver(args: &[&str]) -> Program {
    Program::start(env!("CARGO_BIN_EXE_mockserver"), args, Stdio::piped())
}

/// An HTTP answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// One request on a connection of its own.
pub(crate) fn request(address: SocketAddr, method: &str, path: &str, body: &str) -> Reply {
    request_with(address, method, path, "host: localhost\r\n", body)
}

/// The same with headers of its own, a line each.
pub(crate) fn request_with(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    read_reply(stream)
}

/// Reads an answer up to the connection's end.
pub(crate) fn read_reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // Whatever came before a reset is the answer.
    drop(stream.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap();
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}
