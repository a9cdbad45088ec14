//! A hundred thousand calls on one throttle. Started by an explicit command, because it takes long (CONTRIBUTING.md).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tailback_http::{Error, Repeats, Throttle};

use crate::world::Refused as ConnectionRefused;

const CALLS: usize = 100_000;

/// Returns the memory of this process in bytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it is listed");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

fn throttle(spec: &str) -> Throttle {
    Throttle::builder(spec.parse().expect("a strategy")).unlimited().build().expect("it is fit")
}

/// One call in ten is dropped while it waits or runs, and one in a hundred panics.
async fn crowd(throttle: &Throttle, done: &Arc<AtomicUsize>) {
    let calls = (0..CALLS).map(|number| {
        let (throttle, done) = (throttle.clone(), done.clone());
        tokio::spawn(async move {
            let run = throttle.run(|_| async {
                tokio::time::sleep(Duration::from_micros(100)).await;
                assert!(number % 100 != 1, "the test wants it");
                Ok::<_, ConnectionRefused>(
                    http::Response::builder().status(200).body(()).expect("it is valid"),
                )
            });
            if number % 10 == 0 {
                let patience = Duration::from_micros(number as u64 % 50_000);
                let _ = tokio::time::timeout(patience, run).await;
            } else {
                let result: Result<_, Error<ConnectionRefused>> = run.await;
                done.fetch_add(usize::from(result.is_ok()), Ordering::Relaxed);
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let _ = call.await;
    }
}

#[test]
#[ignore = "takes a minute; CONTRIBUTING.md names the command"]
fn a_hundred_thousand_calls_leave_nothing_behind() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains("the test wants it") {
            hook(panic);
        }
    }));
    for spec in ["aimd", "tailback", "hold+fixed-window:window=200"] {
        let throttle = throttle(spec);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let mut after = Vec::new();
        for _ in 0..8 {
            let done = Arc::default();
            runtime.block_on(crowd(&throttle, &done));
            assert_eq!((throttle.calls(), throttle.in_flight()), (0, 0), "{spec}");
            assert_eq!(done.load(Ordering::Relaxed), CALLS * 89 / 100, "{spec}");
            after.push(memory());
        }
        let growth = after[7].saturating_sub(after[3]);
        eprintln!("{spec}: {after:?}");
        assert!(growth < 8 << 20, "{spec}: {after:?} bytes after each round");
    }
}

#[test]
#[ignore = "measures memory, so it runs alone; CONTRIBUTING.md names the command"]
fn a_waiting_call_takes_at_most_200_bytes_besides_its_future() {
    let throttle = throttle("fixed-window:window=1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _guard = runtime.enter();
    let mut calls = Vec::with_capacity(CALLS);
    let own = CALLS * size_of::<tailback_http::Call>();
    let before = memory();
    for _ in 0..CALLS {
        calls.push(throttle.call(Repeats::All).expect("the queue has no limit"));
    }
    for call in &mut calls {
        let _ = std::pin::pin!(call.admitted()).poll(&mut Context::from_waker(Waker::noop()));
    }
    let each = (memory() - before).saturating_sub(own) / CALLS;
    assert!(each <= 200, "{each} bytes");
    eprintln!("{each} bytes for a waiting call");
}
