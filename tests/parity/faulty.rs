//! Parity tests of servers with injected faults: transports report the state of a socket as virtual time does, and both
//! drivers decide the same.

use std::time::Duration;

use loadgen_core::{ArrivalProcess, Cause, ErrorKind, Input, OperationKind, Workload};
use loadgen_http::{TRANSPORTS, TransportEntry};
use mockserver_core::Config;
use vocabulary::Distribution;

use crate::real_run::{RealRun, Setting};
use crate::replayed::{overload, replayed};

fn faulty(strategy: &'static str, fault: &str) -> Setting {
    let mut setting = overload(strategy);
    setting.config.workload.ops = Some(100);
    setting.config.timeout = Duration::from_secs(3);
    setting.server.fault = fault.parse().expect("faults");
    setting
}

fn failed(real: &RealRun, cause: Cause) -> u64 {
    let failures = real.run.measurements().failures.by_frequency();
    failures.into_iter().filter(|(of, _)| *of == cause).map(|(_, count)| count).sum()
}

/// Returns the cause that a transport reports for a fault that HTTP/1.1 reports as `over_http1`. Over HTTP/2, the fault
/// affects the attempt's own stream.
fn seen_by(transport: &TransportEntry, over_http1: Cause) -> Cause {
    match over_http1 {
        Cause::Error(ErrorKind::Reset | ErrorKind::Closed) if transport.name == "hyper-http2" => {
            Cause::Error(ErrorKind::StreamReset)
        }
        same => same,
    }
}

/// Every transport communicates with the server in its own way, but the results of their runs are the same.
#[test]
fn each_fault_is_the_failure_that_every_transport_sees() {
    let error = Cause::Error;
    let faults = [
        ("reset", error(ErrorKind::Reset)),
        ("close", error(ErrorKind::Closed)),
        ("truncate", error(ErrorKind::Truncated)),
        ("garbage", error(ErrorKind::Unreadable)),
        ("hang", error(ErrorKind::Timeout)),
        ("slow-headers(10s)", error(ErrorKind::Timeout)),
        ("slow-body(10s)", error(ErrorKind::Timeout)),
        ("500", Cause::Status(500)),
        ("429", Cause::Status(429)),
        ("503", Cause::Status(503)),
    ];
    std::thread::scope(|scope| {
        for transport in TRANSPORTS {
            scope.spawn(move || {
                for (name, cause) in faults {
                    for after in ["", ":after"] {
                        meets(transport, name, after, cause);
                    }
                }
            });
        }
    });
}

/// Replaces causes of HTTP/2 by those of HTTP/1.1, which virtual time reports. Strategies treat both alike.
fn as_over_http1(real: &mut RealRun, cause: Cause) {
    for (_, input) in &mut real.client.inputs {
        if let Input::AttemptEnd(completion) = input
            && completion.result.cause == Some(Cause::Error(ErrorKind::StreamReset))
        {
            completion.result.cause = Some(cause);
        }
    }
    for sample in &mut real.client.samples {
        if sample.cause == Some(Cause::Error(ErrorKind::StreamReset)) {
            sample.cause = Some(cause);
        }
    }
}

fn meets(transport: &'static TransportEntry, fault: &str, after: &str, cause: Cause) {
    let mut setting = faulty("full-jitter:base=20ms,cap=200ms", &format!("{fault}:20%{after}"));
    setting.transport = transport;
    let what = format!("{fault}{after} over {}", transport.name);
    if cause != Cause::Error(ErrorKind::Timeout) {
        // Only faults that hang may time out, however busy the machine is.
        setting.config.timeout = Duration::from_mins(5);
    }
    let mut real = setting.run();
    let seen = seen_by(transport, cause);
    assert!(failed(&real, seen) > 5, "{what}: {:?}", real.run.measurements().failures);
    as_over_http1(&mut real, cause);
    real.replay(&setting).unwrap_or_else(|error| panic!("{what}: {error}"));
    let ops = real.run.measurements().ops;
    assert_eq!(ops.succeeded + ops.given_up, 100, "{what}");
    let counts = real.server.stats.counts;
    let conserved = real.run.conservation(Some(&counts));
    assert!(conserved.holds(), "{what}: {:?}", conserved.mismatches);
    let is_early = after.is_empty() && !fault.starts_with("slow");
    assert_eq!(counts.failed > 0, is_early, "{what}: {counts:?}");
    assert!(counts.failed <= real.run.measurements().attempts.failed, "{what}");
}

#[test]
fn slow_answers_that_come_in_time_are_good() {
    for (fault, transport) in ["slow-headers(300ms):50%", "slow-body(300ms):50%"]
        .into_iter()
        .flat_map(|fault| TRANSPORTS.iter().map(move |transport| (fault, transport)))
    {
        let mut setting = Setting { transport, ..faulty("aimd:initial=10", fault) };
        setting.config.timeout = Duration::from_mins(1);
        let real = replayed(&setting);
        let (ops, attempts) = (real.run.measurements().ops, real.run.measurements().attempts);
        assert_eq!((ops.succeeded, attempts.failed), (100, 0), "{fault}");
    }
}

#[test]
fn conditional_writes_whose_answers_are_lost() {
    let mut setting = faulty(
        "full-jitter:base=20ms,cap=200ms",
        "reset:5%,close:5%:after,500:5%,slow-body(50ms):5%,502:5%:after",
    );
    setting.config.workload = Workload { arrivals: ArrivalProcess::Burst, ops: Some(40), duration: None };
    setting.config.kind = OperationKind::ReadModifyWrite;
    setting.config.clients = 40;
    let hop = "normal(10ms,2ms)".parse().expect("it is a distribution");
    let [service_time, reject_time] = [Distribution::ZERO; 2];
    let fault = setting.server.fault;
    setting.server = Config {
        max_busy: 1_000_000,
        service_time,
        reject_time,
        network_delay: hop,
        fault,
        ..Config::default()
    };
    let real = replayed(&setting);
    assert!(failed(&real, Cause::Status(502)) > 0 && failed(&real, Cause::Status(500)) > 0);
    assert!(real.run.conservation(Some(&real.server.stats.counts)).holds());
}
