//! `--progress ndjson` and its reader: figures add up, and a slow reader delays neither the run nor its result.

use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};

use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::Value;

use crate::support::{Folder, MockServer, Program, count, eventually, loadgen_into};

/// A pipe filled with empty lines, without room for more until they are read.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    fcntl_setfl(&writer, OFlags::NONBLOCK).unwrap();
    let error = loop {
        if let Err(error) = writer.write(b"\n") {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    fcntl_setfl(&writer, OFlags::empty()).unwrap();
    (reader, writer)
}

/// A server without rejections.
const QUICK: &[&str] = &["--max-busy", "1000", "--service-time", "10ms"];

/// Starts runs of more than a second each, which write their figures to this pipe.
fn start(server: &MockServer, file: &str, into: PipeWriter, more: &[&str]) -> Program {
    let url = server.url();
    let args = ["--target", &url, "--ops", "300", "--rate", "200/s", "--progress", "ndjson", "--json", file];
    Program::start(env!("CARGO_BIN_EXE_loadgen"), &[&args[..], more].concat(), into.into())
}

#[test]
fn a_stalled_reader_is_waited_for_once_and_costs_no_result() {
    let (folder, server) = (Folder::new(), MockServer::start(QUICK));
    let file = folder.path("runs.json").display().to_string();
    let (reader, writer) = full_pipe();
    let left = start(&server, &file, writer, &["--repeats", "2"]).finish().exits(0);
    assert_eq!(left.stderr.matches("closed or has no reader").count(), 1, "{}", left.stderr);
    let document: Value = serde_json::from_str(&folder.read("runs.json")).unwrap();
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    drop(reader);
}

#[test]
fn lines_that_cannot_be_written_are_reported_and_cost_no_result() {
    let (folder, server) = (Folder::new(), MockServer::start(QUICK));
    let (file, url) = (folder.path("run.json").display().to_string(), server.url());
    let full = File::options().write(true).open("/dev/full").unwrap();
    let args = ["--target", &url, "--ops", "20", "--rate", "200/s", "--progress", "ndjson", "--json", &file];
    loadgen_into(full, &args).exits(74).says(&["stdout cannot be written", "No space left"]);
    let document: Value = serde_json::from_str(&folder.read("run.json")).unwrap();
    assert_eq!(count(&document, "/ops/succeeded"), 20);
}

#[test]
fn what_happened_while_a_line_was_held_up_is_in_the_next_one() {
    let (folder, server) = (Folder::new(), MockServer::start(QUICK));
    let file = folder.path("runs.json").display().to_string();
    let (mut reader, writer) = full_pipe();
    let program = start(&server, &file, writer, &["--repeats", "2"]);
    eventually("a line is held up", || (count(&server.stats(), "/received") > 250).then_some(()));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    let left = program.finish().exits(0);
    assert!(!left.stderr.contains("closed or has no reader"), "{}", left.stderr);
    let document: Value = serde_json::from_str(&folder.read("runs.json")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let (first, second): (Vec<&Value>, Vec<&Value>) =
        lines.iter().partition(|line| count(line, "/seed") == 1);
    assert!(lines.iter().map(|line| count(line, "/seed")).is_sorted());
    for (run, lines) in document["runs"].as_array().unwrap().iter().zip([first, second]) {
        let told = |key: &str| lines.iter().map(|line| count(line, key)).sum::<u64>();
        assert_eq!(told("/ops_succeeded"), count(run, "/ops/succeeded"));
        assert_eq!(told("/attempts_sent"), count(run, "/attempts/total"));
        assert_eq!(told("/op_latency/count"), count(run, "/op_latency_ms/count"));
        let last: Vec<bool> = lines.iter().map(|line| line["last"] == true).collect();
        assert_eq!(last.iter().position(|last| *last), Some(last.len() - 1));
    }
}
