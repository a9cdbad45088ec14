//! Servers that close connections between, during and right after requests: no transport reuses a closed connection, waits on one, or sends
//! a request twice by itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::Notify;

use super::foreign_server::{Connection, ForeignServer, hang_up};
use crate::support::{assert_conserved, count, figure, loadgen};

/// Rate of ops, of which only one is in flight at a time. Most of the time between two ops, the connection is already closed.
const PACE: &str = "4/s";

/// Time after which a server closes an idle connection, a small part of the time between two ops.
const IDLE: Duration = Duration::from_millis(10);

const OPS: u64 = 6;

/// HTTP/1.1 responses with the same meaning in different forms.
fn forms() -> [(&'static str, String); 8] {
    let long = "x".repeat(3000);
    [
        ("plain", "content-length: 2\r\n\r\nok".to_owned()),
        ("capitals", "Content-Length: 2\r\n\r\nok".to_owned()),
        ("chunked", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".to_owned()),
        ("trailers", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n".to_owned()),
        ("without content", String::new()),
        ("3 kB", format!("content-length: 3000\r\n\r\n{long}")),
        ("keep-alive", "connection: keep-alive\r\ncontent-length: 2\r\n\r\nok".to_owned()),
        ("time limit", "Keep-Alive: timeout=5, max=9\r\ncontent-length: 2\r\n\r\nok".to_owned()),
    ]
}

fn answer(connection: &mut dyn Connection, form: &str) -> io::Result<()> {
    let head = if form.is_empty() { "HTTP/1.1 204 No Content\r\n\r\n" } else { "HTTP/1.1 200 OK\r\n" };
    connection.write_all(format!("{head}{form}").as_bytes())?;
    connection.flush()
}

/// Runs ops with this transport, one at a time. Returns the number of attempts, of failed attempts, and of requests at the server.
fn run(url: &str, transport: &[&str], seen: impl FnOnce() -> u64) -> (u64, u64, u64) {
    let ops = OPS.to_string();
    let load = ["--ops", &ops, "--rate", PACE, "--arrivals", "uniform", "-s", "immediate", "--timeout", "2m"];
    let left = loadgen(&[&["--target", url][..], &load, transport, &["--json", "-"]].concat());
    let result = left.exits(0).json();
    assert_conserved(&result);
    assert_eq!(count(&result, "/ops/succeeded"), OPS, "{result}");
    // The ops take less than a second. An attempt that waits for its timeout takes two minutes.
    assert!(figure(&result, "/makespan_s") < 60.0, "{}", result["makespan_s"]);
    (count(&result, "/attempts/total"), count(&result, "/attempts/failed"), seen())
}

fn in_all_forms(expected: (u64, u64, u64), server: impl Fn(String) -> ForeignServer + Sync) {
    let (server, forms) = (&server, forms());
    std::thread::scope(|scope| {
        for (name, form) in &forms {
            scope.spawn(move || {
                for transport in ["hyper", "reqwest"] {
                    let server = server(form.clone());
                    let seen = || server.work().len() as u64;
                    let counts = run(&server.url(), &["--transport", transport], seen);
                    assert_eq!(counts, expected, "{transport}, {name}");
                }
            });
        }
    });
}

#[test]
fn a_connection_closed_before_a_request_is_not_used_for_it() {
    in_all_forms((OPS, 0, OPS), |form| {
        ForeignServer::start(move |_, connection| {
            answer(connection, &form)?;
            std::thread::sleep(IDLE);
            hang_up()
        })
    });
}

#[test]
fn a_connection_closed_right_after_a_response_is_not_reused() {
    in_all_forms((OPS, 0, OPS), |form| {
        ForeignServer::start(move |_, connection| answer(connection, &form).and_then(|()| hang_up()))
    });
}

/// It is reported at once.
#[test]
fn a_request_closed_without_response_fails_and_is_not_resent() {
    // On every connection one request is answered, and the next one is not.
    let attempts = 2 * OPS - 1;
    in_all_forms((attempts, OPS - 1, attempts), |form| {
        ForeignServer::start(move |number, connection| match number % 2 {
            0 => answer(connection, &form),
            _ => hang_up(),
        })
    });
}

/// It is reported at once.
#[test]
fn a_response_cut_short_fails_and_its_request_is_not_resent() {
    let attempts = 2 * OPS - 1;
    in_all_forms((attempts, OPS - 1, attempts), |form| {
        ForeignServer::start(move |number, connection| match number % 2 {
            0 => answer(connection, &form),
            // Cut in the head, which every form has.
            _ => connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").and_then(|()| hang_up()),
        })
    });
}

#[test]
fn closes_at_any_moment_lose_no_op_and_repeat_no_request() {
    for transport in ["hyper", "reqwest"] {
        let (_, form) = &forms()[1];
        let form = form.clone();
        let server = ForeignServer::start(move |number, connection| {
            answer(connection, &form)?;
            if number % 3 == 0 {
                return Ok(());
            }
            // From no delay to longer than the time until the next request.
            std::thread::sleep(Duration::from_micros(number as u64 * 37 % 600));
            hang_up()
        });
        let load = ["--ops", "400", "--in-flight", "8", "-s", "immediate", "--timeout", "2m", "--json", "-"];
        let url = server.url();
        let result =
            loadgen(&[&["--target", &url, "--transport", transport][..], &load].concat()).exits(0).json();
        assert_conserved(&result);
        assert_eq!(count(&result, "/ops/succeeded"), 400);
        assert!(figure(&result, "/makespan_s") < 60.0, "{}", result["makespan_s"]);
        let (attempts, seen) = (count(&result, "/attempts/total"), server.work().len() as u64);
        // A request sent during the close may not have been read.
        assert!(seen <= attempts && seen >= 400, "{transport}: {seen} of {attempts}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    /// After an idle time, without GOAWAY.
    Idle,
    /// After a response, with GOAWAY.
    AfterAnswer,
    /// Instead of every second response.
    InsteadOfAnswer,
}

fn http2_server(close: Close, answer: (StatusCode, usize)) -> (String, Arc<AtomicUsize>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let seen = Arc::<AtomicUsize>::default();
    let counter = seen.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_http2(stream, close, answer, counter.clone()));
            }
        });
    });
    (url, seen)
}

async fn serve_http2(
    stream: tokio::net::TcpStream,
    close: Close,
    (status, length): (StatusCode, usize),
    seen: Arc<AtomicUsize>,
) {
    let over = Arc::new(Notify::new());
    let ends = over.clone();
    let service = hyper::service::service_fn(move |_: Request<Incoming>| {
        let (number, over) = (seen.fetch_add(1, Ordering::Relaxed), over.clone());
        async move {
            match close {
                Close::Idle => {
                    tokio::spawn(async move {
                        tokio::time::sleep(IDLE).await;
                        over.notify_one();
                    });
                }
                Close::AfterAnswer => over.notify_one(),
                Close::InsteadOfAnswer if number % 2 == 1 => {
                    over.notify_one();
                    std::future::pending::<()>().await;
                }
                Close::InsteadOfAnswer => {}
            }
            let mut response = Response::new(Full::new(Bytes::from(vec![b'x'; length])));
            *response.status_mut() = status;
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        () = ends.notified() => {}
    }
    if close == Close::AfterAnswer {
        connection.as_mut().graceful_shutdown();
        // The client may have closed the connection first.
        drop(connection.await);
    }
}

#[test]
fn streams_on_a_closed_connection_are_not_lost_or_sent_twice() {
    let twice = 2 * OPS - 1;
    for (close, expected) in [
        (Close::Idle, (OPS, 0, OPS)),
        (Close::AfterAnswer, (OPS, 0, OPS)),
        (Close::InsteadOfAnswer, (twice, OPS - 1, twice)),
    ] {
        for answer in [(StatusCode::OK, 2), (StatusCode::NO_CONTENT, 0), (StatusCode::OK, 3000)] {
            let (url, seen) = http2_server(close, answer);
            let counts = run(&url, &["--http2"], || seen.load(Ordering::Relaxed) as u64);
            assert_eq!(counts, expected, "{close:?}, {answer:?}");
        }
    }
}
