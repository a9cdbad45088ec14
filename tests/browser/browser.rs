//! Headless Chromium, controlled by the `DevTools` protocol: JSON messages that end with a zero byte, over a pipe. It is killed at the end
//! of its test.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Maximum lifetime of a browser. A slow machine starts it in a few seconds.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    asked: u64,
    until: Instant,
    /// Folder with its profile and its stderr.
    folder: TempDir,
}

impl Browser {
    /// Starts a browser. Returns `None`, with a message on stderr, if none is installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            // Not `eprintln!`, because its text is hidden for tests that pass.
            let words = "SKIPPED: no Chromium here; `apt-get install chromium`, or CHROMIUM=PATH\n";
            std::io::stderr().write_all(words.as_bytes()).unwrap();
            return None;
        };
        let folder = TempDir::new().unwrap();
        // Chromium reads commands from file descriptor 3 and writes to 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"]).arg(program);
        command.args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars"]);
        // Containers run as root, without a user namespace and with a tiny /dev/shm.
        command.args(["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--disable-extensions", "--disable-breakpad", "--disable-crash-reporter"]);
        command.arg(format!("--user-data-dir={}", folder.path().display())).arg("about:blank");
        command.env("HOME", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(File::create(folder.path().join("stderr")).unwrap()).process_group(0);
        let mut process = command.spawn().unwrap();
        let (commands, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                // The receiver may be gone.
                drop(sender.send(serde_json::from_slice(&message).unwrap()));
            }
        });
        let (events, until) = (VecDeque::new(), Instant::now() + PATIENCE);
        Some(Self { process, commands, messages, events, asked: 0, until, folder })
    }

    /// Sends a command and waits for its result. Without a session it goes to the browser itself.
    pub(crate) fn ask(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap_or_else(|error| panic!("{method}: {error}: {}", self.said()));
        loop {
            let mut answer = self.next(method);
            if answer["id"] == self.asked {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }

    pub(crate) fn events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }

    /// Waits for an event, which stays in the queue.
    pub(crate) fn wait_for(&mut self, method: &str) {
        while self.events.iter().all(|event| event["method"] != method) {
            let event = self.next(method);
            self.events.push_back(event);
        }
    }

    fn next(&mut self, wanted: &str) -> Value {
        let left = self.until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(left) {
            Ok(message) => message,
            Err(error) => panic!("{wanted}: {error}: {}", self.said()),
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Kills the browser and its children, if they still run.
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        drop(self.process.wait());
    }
}

fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|program| program.is_file())
}
