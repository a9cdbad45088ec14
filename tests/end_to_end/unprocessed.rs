//! HTTP/2 requests that the server did not process: sent again, and counted apart. All others are sent once.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::gateway::{Gateway, NGINX};
use crate::support::{Left, assert_conserved, count, loadgen, skipped};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

#[derive(Clone, Copy, Debug)]
enum Behaviour {
    /// The server answers so many requests of a connection, and ignores all others after a GOAWAY.
    GoAwayAfter(usize),
    /// The server ignores every request, and sends a GOAWAY with last id 0 and this error code.
    GoAwayAtOnce(u32),
    /// The server refuses requests beyond this number of simultaneous ones. It announces the number as its limit, unless it is 0.
    AtMost(usize),
    /// The server names the request as the last one that it processes, and closes the connection.
    CloseWithoutAnswer,
    /// The server closes every connection before its settings.
    CloseAtOnce,
}

/// Server that speaks just enough HTTP/2 for its tests, because the library `h2` processes every stream that it accepts.
struct Server {
    address: SocketAddr,
    received: Arc<AtomicU64>,
    served: Arc<AtomicU64>,
}

impl Server {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let started = Self { address, received: Arc::default(), served: Arc::default() };
        let (received, served) = (started.received.clone(), started.served.clone());
        // The threads end with the test's process, or when their client disconnects.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (received, served) = (received.clone(), served.clone());
                std::thread::spawn(move || {
                    let connection = Connection { stream, unread: Vec::new(), received, served };
                    drop(connection.serve(behaviour));
                });
            }
        });
        started
    }

    fn run(&self, flags: &str) -> Left {
        let target = format!("http://{}/", self.address);
        let flags: Vec<&str> = flags.split(' ').collect();
        loadgen(
            &[&["--target", &target, "--http2", "-s", "none", "--no-tui", "--json", "-"], &flags[..]]
                .concat(),
        )
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
}

struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
    received: Arc<AtomicU64>,
    served: Arc<AtomicU64>,
}

impl Connection {
    fn serve(mut self, behaviour: Behaviour) -> io::Result<()> {
        while self.unread.len() < PREFACE.len() {
            self.read()?;
        }
        if !self.unread.starts_with(PREFACE) {
            return self
                .stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
        self.unread.drain(..PREFACE.len());
        if let Behaviour::CloseAtOnce = behaviour {
            // The rest is read, because unread bytes would turn the close into a reset.
            self.stream.set_read_timeout(Some(Duration::from_millis(5)))?;
            while self.next()?.is_some() {}
            return Ok(());
        }
        let limit = if let Behaviour::AtMost(most @ 1..) = behaviour { most } else { 100 };
        let limit = u32::try_from(limit).unwrap().to_be_bytes();
        if let Behaviour::AtMost(1..) = behaviour {
            // The limit is announced only after the client has begun its burst.
            while self.unread.len() < 400 {
                self.read()?;
            }
        }
        self.send(SETTINGS, 0, 0, &[&[0, 3], &limit[..]].concat())?;
        let (mut begun, mut open) = (0, Vec::new());
        self.stream.set_read_timeout(Some(Duration::from_millis(5)))?;
        loop {
            let Some(Frame { kind, flags, stream }) = self.next()? else {
                // The client is silent, so it has sent its whole burst.
                for stream in open.drain(..) {
                    self.answer(stream)?;
                }
                continue;
            };
            match kind {
                SETTINGS if flags & 1 == 0 => self.send(SETTINGS, 1, 0, b"")?,
                HEADERS => {
                    begun += 1;
                    self.received.fetch_add(1, Ordering::Relaxed);
                    match behaviour {
                        Behaviour::GoAwayAfter(most) if begun <= most => {
                            if begun == most {
                                self.go_away(stream, NO_ERROR)?;
                            }
                            self.answer(stream)?;
                        }
                        Behaviour::GoAwayAfter(_) | Behaviour::CloseAtOnce => {}
                        Behaviour::GoAwayAtOnce(code) => self.go_away(0, code)?,
                        Behaviour::AtMost(most) if open.len() < most => open.push(stream),
                        Behaviour::AtMost(_) => {
                            self.send(RST_STREAM, 0, stream, &REFUSED_STREAM.to_be_bytes())?;
                        }
                        Behaviour::CloseWithoutAnswer => {
                            self.go_away(stream, NO_ERROR)?;
                            // The rest is read, because unread bytes would turn the close into a reset.
                            while self.next()?.is_some() {}
                            return Ok(());
                        }
                    }
                }
                PING if flags & 1 == 0 => self.send(PING, 1, 0, &[0; 8])?,
                _ => {}
            }
        }
    }

    /// Sends status 200 without a body.
    fn answer(&mut self, stream: u32) -> io::Result<()> {
        self.served.fetch_add(1, Ordering::Relaxed);
        // Flags END_STREAM and END_HEADERS, and entry 8 of the static table of HPACK (RFC 7541, appendix A).
        self.send(HEADERS, 0x5, stream, &[0x88])
    }

    fn go_away(&mut self, last: u32, code: u32) -> io::Result<()> {
        self.send(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        self.stream.write_all(&[&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat())
    }

    /// Returns the next frame; `None` if the client is silent.
    fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(&[a, b, c, kind, flags, d, e, f, g]) = self.unread.first_chunk::<9>() {
                let end = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
                if self.unread.len() >= end {
                    self.unread.drain(..end);
                    return Ok(Some(Frame { kind, flags, stream: u32::from_be_bytes([d, e, f, g]) }));
                }
            }
            match self.read() {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(None);
                }
                read => read?,
            }
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        let count = self.stream.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..count]);
        if count == 0 { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

fn assert_all_done(result: &Value, ops: u64) {
    assert_conserved(result);
    let counts = ["/ops/succeeded", "/attempts/total", "/attempts/failed"].map(|name| count(result, name));
    assert_eq!(counts, [ops, ops, 0], "{}", result["generator"]);
}

#[test]
fn requests_above_the_last_id_of_a_goaway_go_out_again() {
    for (most, in_flight) in [(1, 1), (1, 20), (5, 50), (100, 100)] {
        let server = Server::start(Behaviour::GoAwayAfter(most));
        let result = server.run(&format!("--in-flight {in_flight} --ops 500")).exits(0).json();
        assert_all_done(&result, 500);
        assert_eq!(server.served(), 500, "after {most} streams");
        let resent = count(&result, "/generator/resent");
        assert!(server.received() <= 500 + resent, "{} for {resent}", server.received());
        if in_flight > most {
            assert!(resent > 0, "{}", result["generator"]);
        }
    }
}

#[test]
fn refused_requests_go_out_again_when_the_connection_has_a_free_stream() {
    let server = Server::start(Behaviour::AtMost(5));
    let result = server.run("--arrivals burst --ops 50").exits(0).json();
    assert_all_done(&result, 50);
    assert_eq!((server.served(), count(&result, "/generator/connections")), (50, 1));
    let resent = count(&result, "/generator/resent");
    assert_eq!(server.received(), 50 + resent);
    assert!(resent > 0);
}

#[test]
fn a_request_that_is_never_processed_goes_out_five_times_again_and_fails() {
    for behaviour in [Behaviour::AtMost(0), Behaviour::GoAwayAtOnce(NO_ERROR)] {
        let server = Server::start(behaviour);
        let result = server.run("--in-flight 3 --ops 3").exits(1).json();
        assert_eq!(count(&result, "/attempts/total"), 3, "{behaviour:?}");
        assert_eq!(count(&result, "/attempts/failed"), 3);
        assert_eq!(count(&result, "/generator/resent"), 15, "{behaviour:?}");
        assert!(result["makespan_s"].as_f64().is_none_or(|s| s >= 0.75), "0, 50, 100, 200 and 400 ms");
        // The timeout of an attempt includes the waits.
        let left = server.run("--in-flight 3 --ops 3 --timeout 100ms").exits(1);
        assert!(left.stderr.contains("an HTTP/2 frame that refused requests"), "{}", left.stderr);
        let result = left.json();
        assert!((1..=9).contains(&count(&result, "/generator/resent")), "{}", result["generator"]);
    }
}

#[test]
fn a_connection_that_ends_before_its_settings_is_no_answer() {
    let server = Server::start(Behaviour::CloseAtOnce);
    let left = server.run("--in-flight 1 --ops 2 --mock no").exits(69);
    assert!(left.stderr.contains("no attempt received a response"), "{}", left.stderr);
}

#[test]
fn what_the_server_may_have_processed_is_sent_once() {
    // A GOAWAY shows that the target was reached.
    for (behaviour, flags, code) in [
        (Behaviour::CloseWithoutAnswer, "--method POST --body x", 69),
        (Behaviour::CloseWithoutAnswer, "--method GET", 69),
        (Behaviour::GoAwayAtOnce(ENHANCE_YOUR_CALM), "--method GET", 1),
    ] {
        let server = Server::start(behaviour);
        let result = server.run(&format!("--in-flight 1 --ops 5 {flags}")).exits(code).json();
        assert_eq!(server.received(), 5, "{behaviour:?}");
        assert_eq!((count(&result, "/attempts/total"), count(&result, "/attempts/failed")), (5, 5));
        assert_eq!(count(&result, "/generator/resent"), 0);
    }
}

/// nginx ends each connection after 1000 requests (`keepalive_requests`).
#[test]
fn nginx_with_its_defaults_serves_every_attempt_once() {
    if !Path::new(NGINX).exists() {
        skipped(&format!("there is no {NGINX}"));
        return;
    }
    let nginx = Gateway::configured(
        "log_format line '$request';\n\
         server { listen LISTEN http2; access_log FOLDER/requests line; location / { return 200 'ok'; } }",
    );
    let flags = "--http2 -s none --in-flight 100 --ops 20000 --no-tui --json -";
    let flags: Vec<&str> = flags.split(' ').collect();
    let result = loadgen(&[&["--target", &nginx.url][..], &flags].concat()).exits(0).json();
    assert_all_done(&result, 20_000);
    let requests = std::fs::read_to_string(nginx.folder.path().join("requests")).unwrap();
    assert_eq!(requests.lines().filter(|line| line.starts_with("GET / ")).count(), 20_000);
    assert!(count(&result, "/generator/connections") >= 20, "{}", result["generator"]);
}
