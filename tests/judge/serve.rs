//! `loadgen judge --serve`: many ops per situation, verdicts on request, and the end of the session.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Folder, request, request_with};

pub(super) struct Session {
    program: Child,
    urls: Value,
}

impl Session {
    pub(super) fn start(args: &[&str]) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_loadgen"))
            .args([&["judge", "--serve", "--quiet"], args].concat())
            .stdout(Stdio::piped())
            .spawn()
            .expect("loadgen starts");
        let mut line = String::new();
        BufReader::new(program.stdout.as_mut().expect("it is piped"))
            .read_line(&mut line)
            .expect("it is text");
        let urls = serde_json::from_str::<Value>(&line).expect("it is JSON")["situations"].take();
        Self { program, urls }
    }

    pub(super) fn address(&self, situation: &str) -> std::net::SocketAddr {
        let url = self.urls[situation].as_str().expect("the situation has a URL");
        url.strip_prefix("http://").expect("it is an HTTP URL").parse().expect("it is an address")
    }

    fn send(&self, situation: &str, headers: &str) -> u16 {
        let headers = format!("host: localhost\r\n{headers}");
        request_with(self.address(situation), "GET", "/v1/things", &headers, "").status
    }

    pub(super) fn end(&self, situation: &str) -> Value {
        request(self.address(situation), "POST", "/_judge/end", "").json()
    }

    pub(super) fn finish(mut self) -> Option<i32> {
        kill_process(Pid::from_child(&self.program), Signal::TERM).expect("it runs");
        self.program.wait().expect("it ends").code()
    }
}

/// A failed test leaves no session behind.
impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn each_op_of_a_session_gets_its_own_script_and_verdict() {
    let folder = Folder::new();
    let file = folder.path("j.json");
    let session = Session::start(&["--only", "throttled,lost", "--json", file.to_str().unwrap()]);
    for op in ["a", "b"] {
        let id = format!("idempotency-key: {op}\r\n");
        assert_eq!([(); 3].map(|()| session.send("429", &id)), [429, 429, 200], "{op}");
    }
    assert_eq!([(); 4].map(|()| session.send("429", "")), [429, 429, 200, 429]);
    assert_eq!([session.send("throttled", ""), session.send("throttled", "")], [429, 200]);
    let ended = session.end("throttled");
    assert_eq!((&ended["verdict"], &ended["findings"][0]["rule"]), (&"failed".into(), &"early-retry".into()));
    assert_eq!(session.end("throttled")["note"], "no request received", "its ops were taken");
    assert_eq!(session.finish(), Some(99));
    let document: Value = serde_json::from_str(&folder.read("j.json")).unwrap();
    let names: Vec<&str> =
        document["situations"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["503", "429", "throttled", "lost"]);
    assert_eq!(document["situations"][3]["note"], "no request received");
    assert_eq!(document["situations"][1]["runs"].as_array().unwrap().len(), 4);
    assert_eq!((&document["complete"], &document["early_retries"]), (&true.into(), &1.into()));
}

/// The suite has the situation `hang` of the built-in one with an answer to the second request. The first request gets no answer, so both
/// are in flight at the same time.
#[test]
fn identical_requests_in_flight_are_not_judged() {
    let folder = Folder::new();
    let steps = "steps = [{ fault = \"hang\" }, { status = 200 }]";
    folder.write("s.toml", &format!("[[situation]]\nname = \"hang\"\ntitle = \"t\"\nwhy = \"w\"\n{steps}\n"));
    let session = Session::start(&["--suite", folder.path("s.toml").to_str().unwrap()]);
    let mut open = TcpStream::connect(session.address("hang")).unwrap();
    open.write_all(b"GET /v1/things HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // The server reads its connections in the order of their requests, so after this answer it has read the first one.
    assert_eq!(request(session.address("hang"), "OPTIONS", "/", "").status, 204);
    assert_eq!(session.send("hang", ""), 200);
    let ended = session.end("hang");
    assert_eq!((&ended["ambiguous_ops"], &ended["verdict"]), (&1.into(), &"skipped".into()));
    drop(open);
    session.finish();
}

/// The name of a page can be resolved to this machine (DNS rebinding). The refused requests leave the ops for the last one.
#[test]
fn no_web_page_ends_the_ops_of_a_session() {
    let session = Session::start(&["--only", "404", "--allow-host", "judge.test"]);
    assert_eq!(session.send("404", ""), 404);
    let end = |headers: &str| request_with(session.address("404"), "POST", "/_judge/end", headers, "");
    for headers in [
        "host: evil.example\r\n",
        "host: evil.example\r\norigin: http://evil.example\r\n",
        "host: 127.0.0.1\r\norigin: http://evil.example\r\n",
        "host: judge.test\r\norigin: null\r\n",
    ] {
        assert_eq!(end(headers).status, 403, "{headers}");
    }
    assert!(end("host: evil.example\r\n").body.contains("`--allow-host`"));
    let ended = end("host: judge.test:80\r\norigin: http://judge.test:80\r\n").json();
    assert_eq!(ended["runs"].as_array().map(Vec::len), Some(1), "{ended}");
    session.finish();
}

#[test]
fn a_session_without_requests_is_an_error() {
    assert_eq!(Session::start(&["--only", "404"]).finish(), Some(1));
}
