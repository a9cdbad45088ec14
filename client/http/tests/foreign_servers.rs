//! Transports against servers that are no mockservers: limits on connections and streams, long answers, and trailers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use loadgen_core::{ArrivalProcess, Classifier, Run, RunConfig, Workload};
use loadgen_http::{
    Control, DriveOptions, DriveReport, RequestTemplate, Target, TransportConfig, TransportEntry,
    Trust,
};
use tailback::StrategySpec;
use vocabulary::TimeScale;

const HTTP1: [&str; 2] = ["hyper", "reqwest"];

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

fn drive(transport: &str, address: SocketAddr, max_connections: usize, config: RunConfig) -> Left {
    let spec: StrategySpec = "none".parse().expect("it is a strategy");
    let mut run = Run::new(config.clone(), |_| spec.build(1, None), None).expect("it starts");
    let scale = TimeScale::parse("1").expect("it is a scale");
    let transport = TransportEntry::find(transport).expect("it is listed").build(TransportConfig {
        target: Target::resolve(&format!("http://{address}/"), Trust::default()).expect("an address"),
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
        http2_connections: NonZero::<usize>::MIN,
        scale,
    });
    let are_sent = Arc::<Mutex<Vec<bool>>>::default();
    let sink = are_sent.clone();
    run.record_samples(Box::new(move |sample| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(sample.is_sent);
    }));
    let options = DriveOptions { warm_connections: 128, ..DriveOptions::default() };
    let report = transport.expect("it needs nothing").drive(&mut run, &Control::default(), options);
    assert!(run.conservation(None).holds(), "{:?}", run.conservation(None));
    let are_sent = are_sent.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Left { run, report: report.expect("the system gives a timer"), are_sent }
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

#[test]
fn attempts_that_never_got_a_connection_are_never_sent() {
    for transport in HTTP1 {
        let (address, connections) = http1(|_| Ok(()));
        let left = drive(transport, address, 5, burst(20, Duration::from_secs(1)));
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
        let left = drive(transport, address, 5, burst(100, Duration::from_secs(30)));
        assert_eq!(left.attempts(), [100, 100, 0, 0], "{transport}");
        assert!(left.report.connection_waits.count > 50, "{transport}");
    }
}
