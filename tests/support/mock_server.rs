//! A `mockserver` process for one test.

use std::net::SocketAddr;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use super::http::request;
use super::program::{Left, Program, eventually};

pub(crate) struct MockServer {
    program: Program,
    pub(crate) address: SocketAddr,
}

impl MockServer {
    /// Starts it on a free port.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::listen("127.0.0.1:0", args)
    }

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

    pub(crate) fn said(&self) -> String {
        self.program.said()
    }

    /// Returns the counts over all runs.
    pub(crate) fn stats(&self) -> Value {
        request(self.address, "GET", "/_mock/stats", "").json()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.program.signal(signal);
    }

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
