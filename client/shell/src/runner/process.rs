//! Command under test: a process group of its own, whose output is kept up to a limit, and which is ended with all its children.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::locked;

/// Maximum number of bytes that are kept of the output of a run.
const MAX_OUTPUT: usize = 64 << 10;

/// Maximum number of bytes that are kept of the end of stderr.
const MAX_LAST_ERRORS: usize = 4 << 10;

/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Maximum time for reading the output after the end of the command.
const MAX_READING: Duration = Duration::from_millis(500);

pub const POLL: Duration = Duration::from_millis(5);

/// Process groups of the running commands. They are killed if the program itself is ended.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

#[derive(Debug)]
pub struct Process {
    child: Child,
    group: Pid,
    output: Arc<Mutex<Output>>,
    readers: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
pub struct Ended {
    pub status: Option<ExitStatus>,
    pub output: String,
    /// End of what the command has written to stderr, at most 4 KiB.
    pub last_errors: String,
}

/// Beginning of what a command has written to stdout and stderr, in the order of arrival.
#[derive(Debug, Default)]
struct Output {
    bytes: Vec<u8>,
    is_cut: bool,
    last_errors: Vec<u8>,
}

impl Process {
    /// Starts the command. Its stdin is empty.
    pub fn start(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn()?;
        let group = Pid::from_child(&child);
        locked(&GROUPS).push(group);
        let mut process = Self { child, group, output: Arc::default(), readers: Vec::new() };
        let streams: [(bool, Option<Box<dyn Read + Send>>); 2] = [
            (false, process.child.stdout.take().map(|stream| Box::new(stream) as _)),
            (true, process.child.stderr.take().map(|stream| Box::new(stream) as _)),
        ];
        for (is_stderr, stream) in streams {
            let Some(stream) = stream else { continue };
            let output = process.output.clone();
            let reader = std::thread::Builder::new().name("output".to_owned());
            match reader.spawn(move || keep(stream, is_stderr, &output)) {
                Ok(reader) => process.readers.push(reader),
                Err(error) => {
                    process.end();
                    return Err(error);
                }
            }
        }
        Ok(process)
    }

    /// Whether the command itself has ended. Its children may still run.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// Ends the command and its children: at once if it has ended by itself, otherwise with SIGTERM and, if need be, SIGKILL. Returns the
    /// exit status of the command and its output.
    pub fn end(mut self) -> Ended {
        if !self.has_ended() {
            self.signal(Signal::TERM);
            let until = Instant::now() + GRACE;
            while !self.has_ended() && Instant::now() < until {
                std::thread::sleep(POLL);
            }
        }
        // The group is signalled before its leader is reaped, because afterwards its number could belong to another group.
        self.signal(Signal::KILL);
        let status = self.child.wait().ok();
        locked(&GROUPS).retain(|group| *group != self.group);
        // A process that has left the group may hold the output open, so the wait for its end is limited.
        let until = Instant::now() + MAX_READING;
        while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < until {
            std::thread::sleep(POLL);
        }
        let output = locked(&self.output);
        let mut text = String::from_utf8_lossy(&output.bytes).into_owned();
        if output.is_cut {
            text.push_str("\n[the output is longer than 64 KiB]\n");
        }
        let last_errors = String::from_utf8_lossy(&output.last_errors).into_owned();
        Ended { status, output: text, last_errors }
    }

    fn signal(&self, signal: Signal) {
        // An error means that the group has ended already.
        let _ = kill_process_group(self.group, signal);
    }
}

pub fn kill_all() {
    for group in locked(&GROUPS).drain(..) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn keep(mut stream: impl Read, is_stderr: bool, output: &Mutex<Output>) {
    let mut piece = [0; 8 << 10];
    while let Ok(length) = stream.read(&mut piece) {
        if length == 0 {
            return;
        }
        let mut output = locked(output);
        let room = MAX_OUTPUT.saturating_sub(output.bytes.len());
        output.bytes.extend_from_slice(&piece[..length.min(room)]);
        output.is_cut |= length > room;
        if is_stderr {
            output.last_errors.extend_from_slice(&piece[..length]);
            let surplus = output.last_errors.len().saturating_sub(MAX_LAST_ERRORS);
            output.last_errors.drain(..surplus);
        }
    }
}
