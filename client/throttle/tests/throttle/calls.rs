//! Single calls: results, limits, and callers and servers that misbehave.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tailback_http::{
    BuildError, Builder, Error, MAX_KEYS, Refused, Repeats, Seen, Throttle, Throttles, WaitReason,
};
use tokio::time::{Instant, advance};

use crate::world::{Answer, Refused as ConnectionRefused, on_paused_clock};

fn builder(spec: &str) -> Builder {
    Throttle::builder(spec.parse().expect("a strategy")).seed(1)
}

fn throttle(spec: &str) -> Throttle {
    builder(spec).build().expect("a fit strategy")
}

/// Runs one call whose attempts have these answers, and returns its status with the number of attempts.
async fn status(throttle: &Throttle, answers: &[Answer]) -> (Result<u16, Error<ConnectionRefused>>, u32) {
    let attempts = Cell::new(0);
    let result = throttle
        .run(|attempt| {
            attempts.set(attempt.number);
            let answer = answers[(attempt.number as usize - 1).min(answers.len() - 1)].clone();
            async move { Ok(answer) }
        })
        .await;
    (result.map(|answer| answer.0.status().as_u16()), attempts.get())
}

#[test]
fn the_last_response_is_the_result_whatever_it_is() {
    on_paused_clock(async {
        let three = throttle("constant:delay=1s,max-attempts=3");
        for (codes, expected) in [
            (&[200][..], (200, 1)),
            (&[429, 200], (200, 2)),
            (&[503], (503, 3)),
            // A failure may mean that the work was done, so `run` does not repeat it.
            (&[500, 200], (500, 1)),
            (&[404, 200], (404, 1)),
        ] {
            let answers: Vec<Answer> = codes.iter().map(|code| Answer::new(*code, None)).collect();
            let (result, attempts) = status(&three, &answers).await;
            assert_eq!((result.expect("a response"), attempts), expected);
        }
        let idempotent = three.run_idempotent(|attempt| async move {
            Ok::<_, ConnectionRefused>(Answer::new(if attempt.number == 1 { 500 } else { 200 }, None))
        });
        assert_eq!(idempotent.await.expect("a response").0.status(), 200);
        let refused = three.run(|_| async { Err::<Answer, _>(ConnectionRefused) }).await;
        assert!(matches!(refused, Err(Error::Inner(ConnectionRefused))));
    });
}

#[test]
fn a_wait_has_its_length_and_its_reason() {
    on_paused_clock(async {
        let two = throttle("constant:delay=1s,max-attempts=2");
        for (advice, seconds, reason) in [(None, 1, WaitReason::Backoff), (Some(7), 7, WaitReason::Advice)] {
            let mut waits = Vec::new();
            let answer = Answer::new(429, advice);
            two.run(|attempt| {
                waits.push((attempt.waited.as_secs(), attempt.reason));
                let answer = answer.clone();
                async move { Ok::<_, ConnectionRefused>(answer) }
            })
            .await
            .expect("a response");
            assert_eq!(waits[1], (seconds, reason));
        }
    });
}

#[test]
fn one_advised_wait_holds_all_calls() {
    on_paused_clock(async {
        let held = builder("hold+fixed-window:window=9").unlimited().build().expect("it is allowed");
        assert!(held.holds() && !throttle("full-jitter:max-attempts=2").holds());
        let began = Instant::now();
        let first = held.run(|attempt| async move {
            Ok::<_, ConnectionRefused>(Answer::new(if attempt.number == 1 { 429 } else { 200 }, Some(30)))
        });
        let other = async {
            advance(Duration::from_millis(1)).await;
            held.run(|attempt| async move {
                assert_eq!(attempt.reason, WaitReason::Hold);
                Ok::<_, ConnectionRefused>(Answer::new(200, None))
            })
            .await
            .expect("a response");
            Instant::now() - began
        };
        let (first, other) = tokio::join!(first, other);
        assert_eq!(first.expect("a response").0.status(), 200);
        assert!(other >= Duration::from_secs(30) && other < Duration::from_secs(31), "{other:?}");
        assert_eq!(held.held_until().expect("it holds") - began, Duration::from_secs(30));
    });
}

#[test]
fn a_deadline_ends_a_wait_with_the_last_response_if_there_is_one() {
    on_paused_clock(async {
        let limited =
            builder("hold+constant:delay=1s").deadline(Duration::from_secs(10)).build().expect("it is fit");
        let (result, attempts) = status(&limited, &[Answer::new(503, Some(60))]).await;
        assert_eq!((result.expect("a response"), attempts), (503, 1));
        // The second call finds the hold, and makes no attempt.
        let (result, attempts) = status(&limited, &[Answer::new(200, None)]).await;
        assert!(matches!(result, Err(Error::Refused(Refused::Deadline))), "{result:?}");
        assert_eq!((attempts, limited.calls()), (0, 0));
        let past = builder("constant:delay=1s").deadline(Duration::ZERO).build().expect("it is fit");
        assert_eq!(status(&past, &[Answer::new(429, None)]).await.0.expect("a response"), 429);
    });
}

#[test]
fn a_full_queue_a_shed_call_and_a_closed_throttle_are_errors_of_their_own() {
    on_paused_clock(async {
        let narrow = builder("fixed-window:window=1+none").max_waiting(1).build().expect("it is fit");
        let stuck = narrow.run(|_| pending::<Result<Answer, ConnectionRefused>>());
        let waits = narrow.run(|_| async { Ok::<_, ConnectionRefused>(Answer::new(200, None)) });
        let others = async {
            tokio::task::yield_now().await;
            let full = status(&narrow, &[Answer::new(200, None)]).await.0;
            assert!(matches!(full, Err(Error::Refused(Refused::Full))), "{full:?}");
            narrow.close();
            let closed = status(&narrow, &[Answer::new(200, None)]).await.0;
            assert!(matches!(closed, Err(Error::Refused(Refused::Closed))), "{closed:?}");
        };
        tokio::select! {
            biased;
            _ = stuck => unreachable!("it never ends"),
            (waits, ()) = async { tokio::join!(waits, others) } => {
                assert!(matches!(waits, Err(Error::Refused(Refused::Closed))), "{waits:?}");
            }
        }
        assert_eq!((narrow.in_flight(), narrow.calls()), (0, 0), "dropped calls are cancelled");
        let open = throttle("none+breaker:failures=1,open=1h,when-open=shed");
        assert_eq!(status(&open, &[Answer::new(503, None)]).await.0.expect("a response"), 503);
        let shed = status(&open, &[Answer::new(200, None)]).await.0;
        assert!(matches!(shed, Err(Error::Refused(Refused::Shed))), "{shed:?}");
    });
}

#[test]
fn an_attempt_that_never_ends_times_out_and_is_seen_as_a_timeout() {
    on_paused_clock(async {
        let limited = builder("constant:delay=1s,max-attempts=2").attempt_timeout(Duration::from_secs(5));
        let limited = limited.build().expect("it is fit");
        let attempts = Cell::new(0);
        let result = limited
            .run_idempotent(|attempt| {
                attempts.set(attempt.number);
                pending::<Result<Answer, ConnectionRefused>>()
            })
            .await;
        assert!(
            matches!(result, Err(Error::AttemptTimeout(limit)) if limit == Duration::from_secs(5)),
            "{result:?}"
        );
        assert_eq!((attempts.get(), limited.in_flight()), (2, 0));
        // The strategy's own limit holds, too.
        let own = throttle("constant:max-attempts=1,attempt-timeout=2s");
        let result = own.run_idempotent(|_| pending::<Result<Answer, ConnectionRefused>>()).await;
        assert!(
            matches!(result, Err(Error::AttemptTimeout(limit)) if limit == Duration::from_secs(2)),
            "{result:?}"
        );
    });
}

#[test]
fn an_attempt_that_panics_gives_its_place_back() {
    on_paused_clock(async {
        let narrow = throttle("fixed-window:window=1+none");
        let local = tokio::task::LocalSet::new();
        let panics = local.run_until(async {
            let narrow = narrow.clone();
            let attempt = |_| async { panic!("the test wants it") };
            tokio::task::spawn_local(
                async move { narrow.run::<Answer, ConnectionRefused, _, _>(attempt).await },
            )
            .await
        });
        assert!(panics.await.expect_err("it panicked").is_panic());
        assert_eq!((narrow.in_flight(), narrow.calls()), (0, 0));
        assert_eq!(status(&narrow, &[Answer::new(200, None)]).await.0.expect("a response"), 200);
    });
}

#[test]
fn absurd_advice_and_a_clock_that_jumps_end_all_the_same() {
    on_paused_clock(async {
        // 50 days, and an instant since 1970, both longer than the default maximum of a hold.
        for advice in [50 * 86_400, 1_795_831_626] {
            let held = builder("hold:max=1m+constant:delay=1s,max-attempts=2,retry-after=ignore")
                .build()
                .expect("it is fit");
            assert_eq!(status(&held, &[Answer::new(429, Some(advice))]).await, (Ok(429), 2));
        }
        let paced = throttle("least-gap:gap=1s+none");
        let sent = Rc::new(Cell::new(0));
        let local = tokio::task::LocalSet::new();
        for _ in 0..50 {
            let (paced, sent) = (paced.clone(), sent.clone());
            local.spawn_local(async move {
                let attempt = |_| {
                    sent.set(sent.get() + 1);
                    async { Ok::<_, ConnectionRefused>(Answer::new(200, None)) }
                };
                paced.run(attempt).await
            });
        }
        local
            .run_until(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert_eq!(sent.get(), 1);
                advance(Duration::from_hours(10)).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert_eq!(sent.get(), 2, "what was missed is not caught up");
            })
            .await;
        local.await;
        assert_eq!(sent.get(), 50);
    });
}

#[test]
fn calls_go_on_while_the_one_that_keeps_the_time_is_not_polled() {
    on_paused_clock(async {
        let paced = throttle("least-gap:gap=1s+none");
        assert_eq!(status(&paced, &[Answer::new(200, None)]).await.0, Ok(200));
        let mut stuck = paced.call(Repeats::Never).expect("there is room");
        let polled = std::pin::pin!(stuck.admitted()).poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        let began = Instant::now();
        // The stuck call is next, and keeps its place. The others follow at the pace.
        for calls in 2..5 {
            assert_eq!(status(&paced, &[Answer::new(200, None)]).await.0, Ok(200));
            let took = began.elapsed().as_secs_f64();
            assert!((took - f64::from(calls)).abs() < 0.1, "{calls} calls after {took} s");
        }
    });
}

/// Waker that looks at the throttle when it is dropped.
struct Nosy(Throttle);

impl Wake for Nosy {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.0.calls();
    }
}

#[test]
fn a_waker_that_is_dropped_may_use_the_throttle() {
    let (done, is_done) = std::sync::mpsc::channel();
    // With a deadlock, the thread stays behind.
    std::thread::spawn(move || {
        let narrow = throttle("fixed-window:window=1+none");
        let first = narrow.call(Repeats::Never).expect("there is room");
        let mut second = narrow.call(Repeats::Never).expect("there is room");
        for _ in 0..2 {
            let waker = Waker::from(Arc::new(Nosy(narrow.clone())));
            let admitted = std::pin::pin!(second.admitted()).poll(&mut Context::from_waker(&waker));
            assert!(admitted.is_pending());
        }
        drop(first);
        drop(second);
        done.send(narrow.calls()).expect("the test waits");
    });
    assert_eq!(is_done.recv_timeout(Duration::from_secs(10)), Ok(0));
}

/// Result of a client that knows no HTTP: a row, or an exhausted pool with the time after which it has room.
fn seen(result: &Result<(), Option<Duration>>) -> Seen<'_> {
    match result {
        Ok(()) => Seen::Succeeded,
        Err(retry_after) => Seen::Rejected { retry_after: *retry_after },
    }
}

#[test]
fn a_client_without_http_is_held_as_well() {
    on_paused_clock(async {
        let held = throttle("hold+constant:delay=1ms,max-attempts=2");
        let began = Instant::now();
        let advised = Some(Duration::from_millis(2500));
        let result = held.run_with(Repeats::All, seen, |attempt| async move {
            if attempt.number == 1 { Err(advised) } else { Ok(()) }
        });
        assert_eq!(result.await, Ok(()));
        assert_eq!(held.held_until().expect("it holds") - began, Duration::from_millis(2500));
        assert!(began.elapsed() >= Duration::from_millis(2500));
    });
}

#[test]
fn strategies_that_are_unfit_for_production_are_refused_with_the_reason() {
    for (spec, expected) in [
        ("aimd", "`aimd` never ends a call that keeps failing; bound it, as in `full-jitter:max-attempts=6`"),
        ("constant:max-attempts=3 over constant", "never ends a call"),
        ("oracle", "`oracle` in `oracle` cannot be used in production, because it needs the configuration"),
        ("ethernet+none", "`ethernet` in `ethernet+none` cannot be used in production"),
        (
            "hedging+none",
            "`hedging` in `hedging+none` cannot be used in production, because it sends a second request",
        ),
    ] {
        let error = builder(spec).build().expect_err(spec).to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(matches!(builder("none").max_waiting(0).build(), Err(BuildError::NoRoom)));
    assert!(matches!(builder("none").attempt_timeout(Duration::ZERO).build(), Err(BuildError::NoTime)));
    for bounded in
        ["aimd+constant:max-attempts=3", "full-jitter:max-time=1m", "none", "aimd+none", "preset:openai"]
    {
        builder(bounded).build().unwrap_or_else(|error| panic!("{bounded}: {error}"));
    }
    builder("aimd").deadline(Duration::from_mins(1)).build().expect("the deadline ends calls");
}

#[test]
fn of_ten_thousand_hosts_only_busy_and_held_ones_are_kept() {
    on_paused_clock(async {
        let hosts = Throttles::new(&"hold+none".parse().expect("a strategy")).expect("it is fit");
        let held = hosts.get("held".to_owned()).expect("there is room");
        assert_eq!(status(&held, &[Answer::new(429, Some(60))]).await.0.expect("a response"), 429);
        let busy = hosts.get("busy".to_owned()).expect("there is room");
        let call = busy.call(Repeats::Never).expect("there is room");
        drop((held, busy));
        for host in 0..10_000 {
            hosts.get(format!("host {host}")).expect("an idle one is dropped");
        }
        assert!(hosts.get("held".to_owned()).expect("it is kept").held_until() > Some(Instant::now()));
        assert_eq!(hosts.get("busy".to_owned()).expect("it is kept").calls(), 1);
        drop(call);
        let all: Vec<Throttle> =
            (0..MAX_KEYS).filter_map(|host| hosts.get(format!("host {host}")).ok()).collect();
        assert_eq!(all.len(), MAX_KEYS - 1, "one is held");
        assert!(matches!(hosts.get("one more".to_owned()), Err(Refused::Full)));
    });
}

#[test]
fn a_runtime_that_shuts_down_leaves_the_calls_of_another() {
    let shared =
        builder("hold+constant:delay=1s").deadline(Duration::from_secs(20)).build().expect("it is fit");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let first = runtime();
    let (one, other) = (shared.clone(), shared.clone());
    first.block_on(async {
        // The call waits for its retry when the runtime shuts down.
        let is_sent = Arc::new(AtomicBool::new(false));
        let sent = is_sent.clone();
        let task = tokio::spawn(async move {
            one.run(|_| async {
                sent.store(true, Ordering::Relaxed);
                Ok::<_, ConnectionRefused>(http::Response::builder().status(503).body(()).expect("valid"))
            })
            .await
        });
        while !is_sent.load(Ordering::Relaxed) || shared.in_flight() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(!task.is_finished() && shared.calls() == 1);
    });
    drop(first);
    assert_eq!(shared.calls(), 0, "the call was dropped with its runtime");
    let result = runtime().block_on(async move {
        other
            .run(|_| async {
                Ok::<_, ConnectionRefused>(http::Response::builder().status(200).body(()).expect("valid"))
            })
            .await
    });
    assert_eq!(result.expect("a response").status(), 200);
}
