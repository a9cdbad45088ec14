//! Transports against servers that are no mockservers: limits on connections and streams, long answers, and trailers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response};
use loadgen_core::{ArrivalProcess, Classifier, Run, RunConfig, Workload};
use loadgen_http::{
    Control, DriveOptions, DriveReport, Probe, RequestTemplate, TRANSPORTS, Target, TransportConfig,
    TransportEntry, Trust, probe,
};
use tailback::StrategySpec;
use vocabulary::TimeScale;

const HTTP1: [&str; 2] = ["hyper", "reqwest"];

const HTTP2: &str = "hyper-http2";

fn burst(ops: u64, timeout: Duration) -> RunConfig {
    let workload = Workload { arrivals: ArrivalProcess::Burst, ops: Some(ops), duration: None };
    RunConfig { workload, timeout, ..RunConfig::default() }
}

/// Outcome of a run: the run itself, the driver's report, and whether each attempt was sent.
struct Left {
    run: Run,
    report: DriveReport,
    are_sent: Vec<bool>,
}

impl Left {
    /// Returns the numbers of attempts that were sent, that succeeded, that failed, and that were never sent.
    fn attempts(&self) -> [u64; 4] {
        let attempts = self.run.measurements().attempts;
        [attempts.total, attempts.succeeded, attempts.failed, attempts.unsent]
    }
}

fn drive(transport: &str, address: SocketAddr, max_connections: usize, config: &RunConfig) -> Left {
    let spec: StrategySpec = "none".parse().expect("it is a strategy");
    let mut run = Run::new(config.clone(), |_| spec.build(1, None), None).expect("it starts");
    let scale = TimeScale::parse("1").expect("it is a scale");
    let transport = TransportEntry::find(transport).expect("it is listed").build(TransportConfig {
        target: Target::resolve(&format!("http://{address}/"), Trust::default(), &[]).expect("an address"),
        request: RequestTemplate::default(),
        run: None,
        classifier: Classifier::new(&config.rejected_when, Vec::new(), false),
        reading: run.reading(),
        kind: config.kind,
        requests: config.requests.clone(),
        seed: 1,
        timeout: config.timeout,
        max_connections,
        local_addresses: Arc::default(),
        threads: NonZero::<usize>::MIN,
        keep_alive: true,
        http2_connections: NonZero::<usize>::MIN,
        scale,
        searched: Arc::default(),
        last_head: Arc::default(),
    });
    let are_sent = Arc::<Mutex<Vec<bool>>>::default();
    let sink = are_sent.clone();
    run.record_samples(Box::new(move |sample| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(sample.is_sent);
    }));
    let options = DriveOptions { warm_connections: 128, ..DriveOptions::default() };
    let driven = transport.expect("it needs nothing").drive(run, &Control::default(), options);
    let (run, report) = driven.expect("the system gives a timer");
    assert!(run.conservation(None).holds(), "{:?}", run.conservation(None));
    let are_sent = are_sent.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Left { run, report, are_sent }
}

/// Starts an HTTP/1.1 server whose threads answer each request by `answer`. Returns its address and its number of connections.
fn http1(
    answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let (answer, connections) = (Arc::new(answer), Arc::<AtomicUsize>::default());
    let opened = connections.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            opened.fetch_add(1, Ordering::Relaxed);
            let answer = answer.clone();
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|length| length > 0) {
                    if answer(&mut stream).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (address, connections)
}

#[derive(Default)]
struct Streams {
    requests: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Starts an HTTP/2 server that allows `limit` streams, which it announces only after a while. It answers each request after
/// `answer_after`, or never, with `trailers` behind the body.
fn http2(limit: u32, answer_after: Option<Duration>, trailers: HeaderMap) -> (SocketAddr, Arc<Streams>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it may");
    let address = listener.local_addr().expect("it is bound");
    let streams = Arc::<Streams>::default();
    let counts = streams.clone();
    let serve = async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("it is a listener");
        while let Ok((socket, _)) = listener.accept().await {
            let (counts, trailers) = (counts.clone(), trailers.clone());
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let mut builder = h2::server::Builder::new();
                let builder = builder.max_concurrent_streams(limit).handshake::<_, Bytes>(socket);
                let Ok(mut connection) = builder.await else { return };
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let (counts, trailers) = (counts.clone(), trailers.clone());
                    counts.requests.fetch_add(1, Ordering::Relaxed);
                    let now = counts.now.fetch_add(1, Ordering::Relaxed) + 1;
                    counts.most.fetch_max(now, Ordering::Relaxed);
                    tokio::spawn(async move {
                        match answer_after {
                            Some(after) => tokio::time::sleep(after).await,
                            None => drop(std::future::poll_fn(|context| respond.poll_reset(context)).await),
                        }
                        counts.now.fetch_sub(1, Ordering::Relaxed);
                        if let Ok(mut body) = respond.send_response(Response::default(), false) {
                            drop(body.send_data(Bytes::from_static(b"\0\0\0\0\0"), false));
                            drop(body.send_trailers(trailers));
                        }
                    });
                }
            });
        }
    };
    std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(serve);
    });
    (address, streams)
}

#[test]
fn attempts_beyond_the_stream_limit_wait_outside_from_the_first_one_on() {
    let (address, streams) = http2(4, Some(Duration::from_millis(20)), HeaderMap::new());
    let left = drive(HTTP2, address, 8, &burst(40, Duration::from_secs(30)));
    assert_eq!(left.attempts(), [40, 40, 0, 0]);
    assert_eq!((left.report.connection_waits.count, left.report.resent), (36, 0));
    assert_eq!(left.report.connections, 1);
    assert!(streams.most.load(Ordering::Relaxed) <= 4);
}

#[test]
fn attempts_that_never_got_a_stream_are_never_sent() {
    let (address, streams) = http2(4, None, HeaderMap::new());
    let left = drive(HTTP2, address, 8, &burst(20, Duration::from_secs(1)));
    assert_eq!(left.attempts(), [4, 0, 4, 16]);
    assert_eq!(left.run.measurements().ops.given_up, 20);
    assert_eq!(left.are_sent.iter().filter(|is_sent| **is_sent).count(), 4);
    assert_eq!(streams.requests.load(Ordering::Relaxed), 4);
}

#[test]
fn a_withdrawn_attempt_frees_its_stream() {
    let (address, streams) = http2(4, None, HeaderMap::new());
    let arrivals = ArrivalProcess::Closed { in_flight: 4 };
    let workload = Workload { arrivals, ops: Some(8), duration: None };
    let left = drive(HTTP2, address, 8, &RunConfig { workload, ..burst(8, Duration::from_secs(1)) });
    assert_eq!(left.attempts(), [8, 0, 8, 0]);
    assert_eq!(streams.requests.load(Ordering::Relaxed), 8);
}

#[test]
fn a_server_that_announces_no_settings_does_not_hang_the_run() {
    let (address, _) = http1(|_| Ok(()));
    let left = drive(HTTP2, address, 8, &burst(3, Duration::from_millis(300)));
    assert_eq!(left.attempts(), [3, 0, 3, 0]);
}

#[test]
fn attempts_that_never_got_a_connection_are_never_sent() {
    for transport in HTTP1 {
        let (address, connections) = http1(|_| Ok(()));
        let left = drive(transport, address, 5, &burst(20, Duration::from_secs(1)));
        assert_eq!(left.attempts(), [5, 0, 5, 15], "{transport}");
        assert_eq!(left.are_sent.iter().filter(|is_sent| **is_sent).count(), 5, "{transport}");
        assert_eq!(left.run.measurements().series.totals().total, 5, "{transport}");
        assert_eq!(connections.load(Ordering::Relaxed), 5, "{transport}");
    }
}

#[test]
fn attempts_that_waited_for_a_connection_count_once_sent() {
    for transport in HTTP1 {
        let (address, _) = http1(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        let left = drive(transport, address, 5, &burst(100, Duration::from_secs(30)));
        assert_eq!(left.attempts(), [100, 100, 0, 0], "{transport}");
        assert!(left.report.connection_waits.count > 50, "{transport}");
    }
}

#[test]
fn foreign_servers_get_no_more_connections_than_attempts() {
    for transport in HTTP1 {
        let (address, connections) =
            http1(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
        drive(transport, address, 200, &burst(1, Duration::from_secs(30)));
        assert_eq!(connections.load(Ordering::Relaxed), 1, "{transport}");
    }
}

#[test]
fn a_complete_body_of_any_length_is_an_answer() {
    const LENGTH: usize = (64 << 20) + 1;
    for transport in HTTP1 {
        let (address, _) = http1(|stream| {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n")?;
            stream.write_all(&vec![b'x'; LENGTH])
        });
        let left = drive(transport, address, 1, &burst(1, Duration::from_mins(1)));
        assert_eq!(left.attempts(), [1, 1, 0, 0], "{transport}");
    }
}

#[test]
fn the_status_of_a_call_in_the_trailers_decides() {
    for (status, succeeded) in [("0", 1), ("13", 0)] {
        let trailers: HeaderMap =
            [(http::HeaderName::from_static("grpc-status"), status.parse().expect("a value"))]
                .into_iter()
                .collect();
        let (over_http2, _) = http2(10, Some(Duration::ZERO), trailers);
        let (over_http1, _) = http1(move |stream| {
            stream.write_all(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: grpc-status\r\n\r\n",
            )?;
            write!(stream, "5\r\n12345\r\n0\r\ngrpc-status: {status}\r\nlocation: x\r\n\r\n")
        });
        for transport in TRANSPORTS {
            let address = if transport.name == HTTP2 { over_http2 } else { over_http1 };
            let left = drive(transport.name, address, 1, &burst(1, Duration::from_secs(30)));
            assert_eq!(left.attempts(), [1, succeeded, 1 - succeeded, 0], "{} {status}", transport.name);
        }
    }
}

/// The server serves one connection after the other, and each until the client closes it.
#[test]
fn the_connection_of_the_probe_does_not_stay_open() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection");
        connection.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        let mut received = [0; 4096];
        assert_ne!(connection.read(&mut received).expect("a request"), 0);
        connection.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok").expect("an open socket");
        connection.read(&mut received)
    });
    let target = Target::resolve(&format!("http://{address}/"), Trust::default(), &[]).expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let answer = runtime.block_on(probe(&target)).expect("a client");
    assert!(matches!(answer, Probe::Other), "{answer:?}");
    // Nothing drives the runtime any more.
    assert_eq!(server.join().expect("no panic").expect("the client closes the connection"), 0);
}
