//! The client state machine against scripted servers: literal inputs, no clock.

use std::time::Duration;

use tailback::{Failure, Method, Outcome, Status, StrategySpec};
use vocabulary::Instant;

use super::{AttemptResult, Completion, Input, Output, Run, SentAttempt};
use crate::mix::Mix;
use crate::requests::Requests;
use crate::snapshot::Phase;
use crate::workload::{ArrivalProcess, RunConfig, Workload};

mod deferring;
mod hedging;
mod holding;
mod stalling;
mod waiting;

struct Bench {
    run: Run,
    sent: Vec<SentAttempt>,
    cancelled: usize,
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn burst(ops: u64) -> RunConfig {
    let workload = Workload { arrivals: ArrivalProcess::Burst, ops: Some(ops), duration: None };
    RunConfig { workload, ..RunConfig::default() }
}

fn closed(in_flight: u32, ops: u64) -> RunConfig {
    let workload =
        Workload { arrivals: ArrivalProcess::Closed { in_flight }, ops: Some(ops), duration: None };
    RunConfig { workload, ..RunConfig::default() }
}

impl Bench {
    fn new(strategy: &str, config: RunConfig) -> Self {
        let spec: StrategySpec = strategy.parse().unwrap();
        let run = Run::new(config, |_| spec.build(1, None), None).unwrap();
        Self { run, sent: Vec::new(), cancelled: 0 }
    }

    fn poll(&mut self, now: Instant) -> Output {
        loop {
            match self.run.poll_output(now) {
                Output::Send(launched) => self.sent.push(launched),
                Output::Cancel(key) => {
                    self.sent.retain(|launched| launched.attempt != key);
                    self.cancelled += 1;
                }
                waiting => return waiting,
            }
        }
    }

    fn answer(&mut self, now: Instant, status: Status) -> Output {
        let launched = self.sent.remove(0);
        self.answer_to(launched, now, status)
    }

    fn answer_to(&mut self, launched: SentAttempt, now: Instant, status: Status) -> Output {
        self.advise(launched, now, status, None)
    }

    fn advise(
        &mut self,
        launched: SentAttempt,
        now: Instant,
        status: Status,
        advised_wait: Option<Duration>,
    ) -> Output {
        self.end(launched, now, Outcome::plain(status), advised_wait)
    }

    fn end(
        &mut self,
        launched: SentAttempt,
        now: Instant,
        outcome: Outcome,
        advised_wait: Option<Duration>,
    ) -> Output {
        self.run.handle_input(
            now,
            Input::AttemptEnd(Completion {
                attempt: launched.attempt,
                sent_at: launched.due,
                result: AttemptResult { outcome, advised_wait, ..AttemptResult::plain(outcome.status) },
            }),
        );
        self.poll(now)
    }

    fn ops_out(&self) -> Vec<u64> {
        self.sent.iter().map(|launched| launched.op).collect()
    }

    fn assert_conserved(&self) {
        let conservation = self.run.conservation(None);
        assert!(conservation.holds(), "{:?}", conservation.mismatches);
    }
}

/// A late driver does not shorten it.
#[test]
fn latency_counts_from_the_scheduled_arrival() {
    let uniform = ArrivalProcess::Uniform { rate_per_s: 100.0 };
    let workload = Workload { arrivals: uniform, ops: Some(3), duration: None };
    let mut bench = Bench::new("none", RunConfig { workload, ..RunConfig::default() });
    // The driver slept through all three arrivals, at 0, 10 and 20 ms.
    bench.poll(ms(50));
    let due: Vec<Instant> = bench.sent.iter().map(|launched| launched.due).collect();
    assert_eq!(due, [ms(0), ms(10), ms(20)]);
    for _ in 0..3 {
        bench.answer(ms(60), Status::Succeeded);
    }
    let measured = bench.run.measurements();
    assert_eq!(measured.op_latency.count(), 3);
    assert!(measured.op_latency.max() >= Duration::from_millis(60));
    assert_eq!(measured.makespan(), Some(Duration::from_millis(60)));
    assert_eq!(bench.poll(ms(60)), Output::Done);
    bench.assert_conserved();
}

#[test]
fn a_window_delays_the_rest_and_a_freed_place_is_used_at_once() {
    let mut bench = Bench::new("fixed-window:window=2", burst(3));
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0, 1]);
    bench.answer(ms(600), Status::Succeeded);
    assert_eq!(bench.ops_out(), [1, 2]);
    assert_eq!(bench.sent[1].due, ms(600));
}

#[test]
fn advice_counts_as_broken_even_if_the_strategy_ignores_it() {
    let mut bench = Bench::new("fixed-window:window=1", burst(2));
    bench.poll(ms(0));
    // Op 0 is advised to wait a second, op 1 is not. Then the window sends op 0 again at once.
    let launched = bench.sent.remove(0);
    bench.advise(launched, ms(10), Status::Rejected, Some(Duration::from_secs(1)));
    bench.answer(ms(20), Status::Succeeded);
    bench.answer(ms(30), Status::Rejected);
    bench.answer(ms(40), Status::Succeeded);
    let figures = bench.run.measurements().advice_figures();
    assert_eq!(
        (figures.retries, figures.broken),
        (1, 1),
        "the third attempt of op 0 had no advice before it"
    );
    assert_eq!((figures.early_ms.mean, figures.early_ms.max), (Some(990.0), Some(990.0)));
}

#[test]
fn a_rejected_op_goes_to_the_back_of_the_queue() {
    let mut bench = Bench::new("fixed-window:window=1", burst(3));
    bench.poll(ms(0));
    bench.answer(ms(10), Status::Rejected);
    assert_eq!(bench.ops_out(), [1]);
    bench.answer(ms(20), Status::Succeeded);
    bench.answer(ms(30), Status::Succeeded);
    assert_eq!((bench.ops_out(), bench.sent[0].ordinal), (vec![0], 2));
}

#[test]
fn a_sleeping_op_lets_others_pass_and_wakes_at_its_instant() {
    let mut bench = Bench::new("constant:delay=1s+fixed-window:window=1", burst(2));
    bench.poll(ms(0));
    bench.answer(ms(10), Status::Rejected);
    assert_eq!(bench.ops_out(), [1]);
    assert_eq!(bench.answer(ms(20), Status::Succeeded), Output::WaitUntil(ms(1010)));
    bench.poll(ms(1500));
    assert_eq!((bench.ops_out(), bench.sent[0].due), (vec![0], ms(1010)));
}

#[test]
fn an_attempt_fails_at_its_timeout_and_a_late_answer_is_ignored() {
    let mut bench = Bench::new("none", RunConfig { timeout: Duration::from_millis(100), ..burst(1) });
    assert_eq!(bench.poll(ms(0)), Output::WaitUntil(ms(100)));
    let late = bench.sent[0];
    assert_eq!(bench.poll(ms(100)), Output::Done);
    assert_eq!(bench.cancelled, 1);
    bench.answer_to(late, ms(120), Status::Succeeded);
    let measured = bench.run.measurements();
    assert_eq!((measured.attempts.failed, measured.attempts.succeeded, measured.ops.given_up), (1, 0, 1));
    bench.assert_conserved();
}

#[test]
fn queued_ops_that_give_up_together_are_all_removed() {
    let config = RunConfig { deadline: Some(Duration::from_millis(100)), ..burst(6) };
    let mut bench = Bench::new("fixed-window:window=1", config);
    bench.poll(ms(0));
    bench.poll(ms(100));
    assert_eq!(bench.run.measurements().ops.given_up, 5);
    assert_eq!(bench.answer(ms(150), Status::Succeeded), Output::Done);
    assert!(bench.run.dispatcher.is_empty(), "{:?}", bench.run.dispatcher);
}

#[test]
fn an_op_gives_up_at_its_deadline_unless_it_is_in_flight() {
    let config = RunConfig { deadline: Some(Duration::from_millis(100)), ..burst(3) };
    let mut bench = Bench::new("constant:delay=1s+fixed-window:window=2", config);
    bench.poll(ms(0));
    bench.answer(ms(10), Status::Rejected);
    assert_eq!(bench.ops_out(), [1, 2]);
    // Op 0 sleeps beyond the deadline; 1 and 2 are in flight and one of them still succeeds.
    bench.poll(ms(100));
    assert_eq!(bench.run.measurements().ops.given_up, 1);
    assert_eq!(bench.run.measurements().last_end, Some(ms(100)));
    bench.answer(ms(150), Status::Succeeded);
    assert_eq!(bench.answer(ms(160), Status::Rejected), Output::Done);
    let ops = bench.run.measurements().ops;
    assert_eq!((ops.succeeded, ops.given_up), (1, 2));
    bench.assert_conserved();
}

#[test]
fn in_a_closed_loop_an_op_arrives_when_a_place_frees() {
    let mut bench = Bench::new("none", closed(2, 3));
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0, 1]);
    assert_eq!(bench.run.phase(ms(0)), Phase::Arriving);
    bench.answer(ms(70), Status::Succeeded);
    assert_eq!((bench.ops_out(), bench.sent[1].due), (vec![1, 2], ms(70)));
    assert_eq!(bench.run.phase(ms(70)), Phase::Finishing);
    bench.answer(ms(80), Status::Rejected);
    assert_eq!(bench.answer(ms(90), Status::Succeeded), Output::Done);
    bench.assert_conserved();
}

#[test]
fn a_closed_loop_that_only_sheds_takes_time() {
    let mut bench = Bench::new("none+breaker:failures=1,when-open=shed,open=1h,cap=1h", closed(1, 50));
    bench.poll(ms(0));
    // The one failure opens the breaker; every further op is shed, a millisecond apart.
    assert_eq!(bench.answer(ms(5), Status::Rejected), Output::WaitUntil(ms(6)));
    assert_eq!(bench.poll(ms(1000)), Output::Done);
    let measured = bench.run.measurements();
    assert_eq!((measured.attempts.total, measured.attempts.shed, measured.ops.given_up), (1, 49, 50));
    assert_eq!(measured.last_end, Some(ms(53)));
    bench.assert_conserved();
}

#[test]
fn ops_are_dealt_to_clients_in_turn_and_each_has_its_own_window() {
    let mut bench = Bench::new("fixed-window:window=1", RunConfig { clients: 2, ..burst(4) });
    bench.poll(ms(0));
    let dealt: Vec<(u64, u32)> = bench.sent.iter().map(|launched| (launched.op, launched.client)).collect();
    assert_eq!(dealt, [(0, 0), (1, 1)]);
    bench.answer(ms(10), Status::Succeeded);
    assert_eq!(bench.ops_out(), [1, 2]);
}

#[test]
fn the_strategy_of_each_client_is_built_with_its_number() {
    let mut asked = Vec::new();
    let spec: StrategySpec = "fixed-window:window=1".parse().unwrap();
    let strategy = |client| {
        asked.push(client);
        spec.build(1, None)
    };
    Run::new(RunConfig { clients: 3, ..burst(4) }, strategy, None).unwrap();
    assert_eq!(asked, [0, 1, 2]);
}

#[test]
fn clients_that_share_a_strategy_share_its_window() {
    let config = RunConfig { clients: 2, share_strategy: true, ..burst(4) };
    let mut bench = Bench::new("fixed-window:window=1", config);
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0]);
    bench.answer(ms(10), Status::Succeeded);
    assert_eq!((bench.sent[0].op, bench.sent[0].client), (1, 1));
}

#[test]
fn after_a_stop_nothing_is_sent_and_what_is_in_flight_may_end() {
    let mut bench = Bench::new("fixed-window:window=2", burst(4));
    bench.poll(ms(0));
    bench.run.handle_input(ms(5), Input::Stop);
    assert_eq!(bench.run.phase(ms(5)), Phase::Stopping);
    bench.answer(ms(10), Status::Succeeded);
    assert_eq!(bench.answer(ms(20), Status::Rejected), Output::Done);
    let measured = bench.run.measurements();
    assert_eq!((measured.attempts.total, measured.ops.succeeded, measured.ops.unfinished()), (2, 1, 3));
    bench.assert_conserved();
}

#[test]
fn an_abort_withdraws_what_is_in_flight() {
    let mut bench = Bench::new("none", burst(2));
    bench.poll(ms(0));
    bench.run.handle_input(ms(5), Input::Abort);
    assert_eq!(bench.poll(ms(5)), Output::Done);
    assert_eq!((bench.cancelled, bench.run.measurements().attempts.cancelled), (2, 2));
    bench.assert_conserved();
}

#[test]
fn after_its_duration_a_run_drains_for_a_while_and_ends() {
    let workload = Workload {
        arrivals: ArrivalProcess::Uniform { rate_per_s: 10.0 },
        ops: None,
        duration: Some(Duration::from_millis(250)),
    };
    let drain = Some(Duration::from_secs(1));
    let mut bench = Bench::new("none", RunConfig { workload, drain, ..RunConfig::default() });
    bench.poll(ms(300));
    assert_eq!(bench.ops_out(), [0, 1, 2]);
    bench.answer(ms(310), Status::Succeeded);
    assert_eq!(bench.poll(ms(310)), Output::WaitUntil(ms(1250)));
    assert_eq!(bench.poll(ms(1250)), Output::Done);
    let measured = bench.run.measurements();
    assert_eq!((measured.ops.succeeded, measured.ops.unfinished(), measured.attempts.cancelled), (1, 2, 2));
    bench.assert_conserved();
}

#[test]
fn failures_are_final_when_they_may_not_be_retried() {
    let config = RunConfig { retry_failed: false, ..burst(2) };
    let mut bench = Bench::new("constant:delay=10ms", config);
    bench.poll(ms(0));
    bench.answer(ms(5), Status::Failed(Failure::Server));
    assert_eq!(bench.run.measurements().ops.given_up, 1);
    // Rejections are still retried.
    assert_eq!(bench.answer(ms(6), Status::Rejected), Output::WaitUntil(ms(16)));
}

/// Two ops at once, of which the first is a GET and the second a POST.
fn get_and_post() -> RunConfig {
    let mix: Mix = "GET /; POST /".parse().unwrap();
    let is_wanted = |seed: &u64| mix.kind_of(*seed, 0) == 0 && mix.kind_of(*seed, 1) == 1;
    let seed = (0..1000).find(is_wanted).unwrap();
    RunConfig { seed, requests: Requests { mix: Some(mix), ..Requests::default() }, ..burst(2) }
}

#[test]
fn each_op_of_a_mix_is_retried_by_the_rule_for_its_method() {
    for (rule, again) in
        [("rejected&idempotent", &[0][..]), ("rejected&post", &[1]), ("rejected", &[0, 1]), ("none", &[])]
    {
        let spec: StrategySpec = format!("constant:delay=10ms,retry-on={rule}").parse().unwrap();
        let spec = spec.with_methods([Method::Get, Method::Post]);
        let run = Run::new(get_and_post(), |_| spec.build(1, None), None).unwrap();
        let mut bench = Bench { run, sent: Vec::new(), cancelled: 0 };
        bench.poll(ms(0));
        bench.answer(ms(5), Status::Rejected);
        bench.answer(ms(5), Status::Rejected);
        bench.poll(ms(20));
        assert_eq!(bench.ops_out(), again, "{rule}");
    }
}

#[test]
fn with_unsafe_fail_once_a_failed_post_of_a_mix_is_final() {
    for (unsafe_fail_once, retried) in [(false, 2), (true, 1)] {
        let mut config = get_and_post();
        config.requests.unsafe_fail_once = unsafe_fail_once;
        let mut bench = Bench::new("constant:delay=10ms", config);
        bench.poll(ms(0));
        bench.answer(ms(5), Status::Failed(Failure::Server));
        bench.answer(ms(5), Status::Failed(Failure::Server));
        bench.poll(ms(20));
        assert_eq!(bench.sent.len(), retried);
        assert_eq!(bench.run.measurements().ops.given_up, 2 - retried as u64);
    }
}

#[test]
fn answers_that_come_out_of_order_are_taken_at_their_own_time() {
    let mut bench = Bench::new("none", burst(2));
    bench.poll(ms(0));
    let first = bench.sent[0];
    let second = bench.sent[1];
    bench.answer_to(second, ms(30), Status::Succeeded);
    bench.answer_to(first, ms(20), Status::Succeeded);
    assert_eq!(bench.run.measurements().makespan(), Some(Duration::from_millis(30)));
    bench.assert_conserved();
}

#[test]
fn an_immediate_retry_follows_fresh_arrivals_of_that_instant() {
    let instants = [ms(0), ms(10)];
    let workload = Workload { arrivals: ArrivalProcess::Listed(instants.into()), ops: None, duration: None };
    let mut bench = Bench::new("immediate", RunConfig { workload, ..RunConfig::default() });
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0]);
    bench.answer(ms(10), Status::Rejected);
    assert_eq!(bench.ops_out(), [1, 0]);
}

#[test]
fn a_closed_loop_client_pauses_after_each_op_if_configured() {
    let config = RunConfig { pause: Duration::from_millis(70), ..closed(1, 3) };
    let mut bench = Bench::new("none", config);
    assert_eq!(bench.poll(ms(0)), bench.poll(ms(0)), "nothing but the first op is out");
    let mut due = Vec::new();
    for _ in 0..3 {
        let at = bench.sent[0].due;
        due.push(at);
        bench.answer(at + Duration::from_millis(5), Status::Succeeded);
        bench.poll(at + Duration::from_millis(75));
    }
    assert_eq!(due, [ms(0), ms(75), ms(150)]);
}

#[test]
fn an_op_within_a_try_precedes_ops_that_wait_for_its_place() {
    let text =
        "constant:delay=1s,max-attempts=3+fixed-window:window=1 over constant:delay=10ms,max-attempts=3";
    let mut bench = Bench::new(text, burst(2));
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0], "the second waits for the window around");
    bench.answer(ms(5), Status::Rejected);
    bench.poll(ms(15));
    assert_eq!(bench.ops_out(), [0], "the first goes on");
    bench.answer(ms(20), Status::Succeeded);
    bench.poll(ms(20));
    assert_eq!(bench.ops_out(), [1]);
}
