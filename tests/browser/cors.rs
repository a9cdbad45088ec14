//! A web page that uses a mockserver of another origin.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::browser::Browser;
use crate::page::Page;

struct Mock {
    process: Child,
    /// Read only once, but kept open, because the server writes to it.
    _stderr: BufReader<ChildStderr>,
    url: String,
}

impl Mock {
    fn start(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mockserver"));
        command.args(["--listen", "127.0.0.1:0", "--policy", "fixed-window:limit=1,window=1h"]).args(args);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let url = line.trim_end().split_once("listening on ").expect("it announces its address").1.to_owned();
        Self { process, _stderr: stderr, url }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Serves an empty page on a port of its own, until the test ends. Returns its URL.
fn page_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // The request is short, so one read suffices.
            drop(stream.read(&mut [0; 4096]));
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
            drop(stream.write_all(format!("{head}<!DOCTYPE html><title>page</title>").as_bytes()));
        }
    });
    url
}

/// Sends a request that needs a preflight, and returns status and advice, or the kind of error.
fn fetched(page: &mut Page<'_>, url: &str) -> String {
    let request = format!("fetch('{url}', {{ headers: {{ authorization: 'Bearer a' }} }})");
    let read = "response => `${response.status} ${response.headers.get('retry-after')}`";
    page.value(&format!("{request}.then({read}, error => error.name)")).as_str().unwrap().to_owned()
}

#[test]
fn a_page_of_another_origin_reads_answers_with_cors_only() {
    let Some(mut browser) = Browser::start() else { return };
    let open = Mock::start(&["--cors", "--advice", "seconds"]);
    let closed = Mock::start(&[]);
    let mut page = Page::at(&mut browser, page_server());
    assert_eq!(fetched(&mut page, &open.url), "200 null");
    let rejected = fetched(&mut page, &open.url);
    assert!(rejected.starts_with("503 3"), "{rejected}");
    assert_eq!(fetched(&mut page, &closed.url), "TypeError");
    // The admin endpoints stay closed.
    assert_eq!(fetched(&mut page, &format!("{}/_mock/stats", open.url)), "TypeError");
}
