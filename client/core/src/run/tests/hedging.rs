//! Several attempts of one op, by the rules of gRPC (grpc/proposal `A6-client-retries.md`, "Hedging Policy"), and the
//! withdrawal of the other attempts.

use std::time::Duration;

use tailback::{Advice, Failure, Outcome, Status};
use vocabulary::Instant;

use super::{Bench, burst, ms};
use crate::run::{Input, Output};
use crate::workload::{ArrivalProcess, RunConfig, Workload};

/// Example of the proposal: four attempts in all, half a second apart, and no retry after them.
const A6: &str = "none+hedging:delay=500ms,copies=3";

const FATAL: Status = Status::Failed(Failure::Fatal);

impl Bench {
    fn out(&self) -> Vec<(Instant, u32)> {
        self.sent.iter().map(|launched| (launched.due, launched.ordinal)).collect()
    }

    fn end_of(&mut self, ordinal: u32, now: Instant, outcome: Outcome) -> Output {
        let place = self.sent.iter().position(|launched| launched.ordinal == ordinal).expect("it is out");
        let launched = self.sent.remove(place);
        self.end(launched, now, outcome, None)
    }

    fn fails(&mut self, ordinal: u32, now: Instant) -> Output {
        self.end_of(ordinal, now, Outcome::plain(Status::Rejected))
    }

    fn assert_over(&mut self, now: Instant) {
        assert_eq!(self.poll(now), Output::Done);
        self.assert_conserved();
        assert!(self.run.dispatcher.is_empty());
    }
}

fn counts(bench: &Bench) -> [u64; 5] {
    let attempts = bench.run.measurements().attempts;
    [attempts.total, attempts.succeeded, attempts.rejected, attempts.cancelled, attempts.duplicates]
}

/// The first success cancels the other copies, and their late answers are ignored.
#[test]
fn a_copy_is_sent_each_delay_until_the_first_success() {
    let mut bench = Bench::new(A6, burst(1));
    assert_eq!(bench.poll(ms(0)), Output::WaitUntil(ms(500)));
    bench.poll(ms(1600));
    assert_eq!(bench.out(), [(ms(0), 1), (ms(500), 2), (ms(1000), 3), (ms(1500), 4)]);
    let (second, late) = (bench.sent[1], bench.sent[0]);
    bench.end(second, ms(1700), Outcome::plain(Status::Succeeded), None);
    assert_eq!(bench.cancelled, 3);
    assert_eq!(counts(&bench), [4, 1, 0, 3, 3]);
    bench.answer_to(late, ms(1800), Status::Succeeded);
    assert_eq!(counts(&bench), [4, 1, 0, 3, 3], "what was withdrawn is not heard of again");
    assert_eq!(bench.run.measurements().most_attempts_per_op, 4);
    bench.assert_over(ms(1800));
}

#[test]
fn an_answer_in_time_needs_no_copy() {
    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    // An answer at the instant at which a copy is due comes first.
    assert_eq!(bench.answer(ms(500), Status::Succeeded), Output::Done);
    assert_eq!(counts(&bench), [1, 1, 0, 0, 0]);
    bench.assert_over(ms(500));
}

#[test]
fn without_a_delay_all_go_at_once() {
    let mut bench = Bench::new("none+hedging:delay=0,copies=3", burst(2));
    bench.poll(ms(0));
    assert_eq!(bench.ops_out(), [0, 1, 0, 0, 0, 1, 1, 1]);
}

/// The delays of further copies count from that send.
#[test]
fn a_non_fatal_failure_sends_the_next_copy_at_once() {
    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    bench.fails(1, ms(100));
    assert_eq!(
        bench.poll(ms(500)),
        Output::WaitUntil(ms(600)),
        "the instant planned before is none any more"
    );
    assert_eq!(bench.out(), [(ms(100), 2)]);
    bench.poll(ms(600));
    bench.fails(2, ms(700));
    assert_eq!(bench.poll(ms(1200)), Output::WaitUntil(ms(30_600)), "the timeout of the third");
    assert_eq!(bench.out(), [(ms(600), 3), (ms(700), 4)]);
    // No attempts are left, because no retries follow the copies.
    bench.fails(4, ms(800));
    assert_eq!(bench.fails(3, ms(900)), Output::Done);
    assert_eq!(counts(&bench), [4, 0, 4, 0, 2], "the second went out alone");
    assert_eq!(bench.run.measurements().ops.given_up, 1);
    bench.assert_over(ms(900));
}

#[test]
fn a_final_failure_ends_all() {
    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    bench.poll(ms(500));
    assert_eq!(bench.end_of(2, ms(600), Outcome::plain(FATAL)), Output::Done);
    assert_eq!((counts(&bench), bench.cancelled), ([2, 0, 0, 1, 1], 1));
    assert_eq!(bench.run.measurements().ops.given_up, 1);
    bench.assert_over(ms(600));
}

#[test]
fn push_back_forbids_more_copies_or_sets_their_instant() {
    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    bench.poll(ms(500));
    bench.end_of(2, ms(600), Outcome::advised(Status::Rejected, Advice::Never));
    bench.poll(ms(5000));
    assert_eq!(bench.out(), [(ms(0), 1)], "what is under way goes on");
    bench.answer(ms(5000), Status::Succeeded);
    bench.assert_over(ms(5000));

    let wait = Outcome::advised(Status::Rejected, Advice::After(Duration::from_millis(300)));
    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    assert_eq!(bench.end_of(1, ms(100), wait), Output::WaitUntil(ms(400)), "nothing is under way until then");
    assert_eq!(bench.poll(ms(400)), Output::WaitUntil(ms(900)));
    bench.end_of(2, ms(500), wait);
    bench.poll(ms(2000));
    assert_eq!(bench.out(), [(ms(800), 3), (ms(1300), 4)]);
    bench.end_of(4, ms(2100), wait);
    assert_eq!(bench.end_of(3, ms(2200), wait), Output::Done, "no copy is left that could wait");
    assert_eq!(counts(&bench), [4, 0, 4, 0, 1]);
    bench.assert_over(ms(2200));
}

#[test]
fn copies_need_more_than_half_the_tokens_and_are_not_sent_later() {
    for ask in ["failure", "retry"] {
        let text = format!("{A6}+retry-budget:max=4,ratio=0.1,ask={ask}");
        let mut bench = Bench::new(&text, RunConfig { clients: 1, ..burst(4) });
        bench.poll(ms(0));
        // Two failures leave two tokens of four. So the second op sends no copy and is over.
        bench.answer(ms(10), Status::Rejected);
        bench.answer(ms(20), Status::Rejected);
        assert_eq!(bench.ops_out(), [2, 3, 0], "{ask}");
        assert_eq!(bench.run.measurements().ops.given_up, 1);
        bench.poll(ms(500));
        bench.poll(ms(1000));
        assert_eq!(bench.ops_out(), [2, 3, 0], "copies at 500 and 510 ms are refused");
        assert_eq!(bench.run.measurements().attempts.shed, 1 + 2 * 2 + 1);
        for _ in 0..3 {
            bench.answer(ms(1005), Status::Succeeded);
        }
        bench.assert_over(ms(1005));
    }
}

#[test]
fn a_copy_for_which_the_window_has_no_place_is_not_sent() {
    let mut bench = Bench::new("none+hedging:delay=100ms,copies=2+fixed-window:window=2", burst(3));
    bench.poll(ms(0));
    bench.poll(ms(150));
    assert_eq!(bench.ops_out(), [0, 1]);
    bench.answer(ms(150), Status::Succeeded);
    assert_eq!(bench.ops_out(), [1, 2], "who waits in the queue comes first");
    bench.answer(ms(160), Status::Succeeded);
    bench.poll(ms(250));
    assert_eq!(bench.out(), [(ms(150), 1), (ms(250), 2)]);
    bench.poll(ms(1000));
    assert_eq!(bench.sent.len(), 2);
    bench.answer(ms(1000), Status::Succeeded);
    bench.assert_over(ms(1000));
}

#[test]
fn copies_count_as_attempts_and_each_retry_begins_a_round() {
    let text = "constant:delay=1s,max-attempts=5+hedging:delay=100ms,copies=2";
    let mut bench = Bench::new(text, burst(1));
    bench.poll(ms(0));
    bench.poll(ms(100));
    bench.poll(ms(200));
    for ordinal in 1..=3 {
        bench.fails(ordinal, ms(300));
    }
    assert_eq!(bench.poll(ms(300)), Output::WaitUntil(ms(1300)), "one failure of the op, not three");
    bench.poll(ms(3000));
    assert_eq!(bench.out(), [(ms(1300), 4), (ms(1400), 5)], "five are all");
    bench.fails(4, ms(3000));
    bench.fails(5, ms(3000));
    assert_eq!(bench.run.measurements().given_up_after.rejected, 1);
    bench.assert_over(ms(3000));
}

#[test]
fn the_others_are_waited_for_or_the_first_end_decides() {
    let mut bench = Bench::new("none+hedging:delay=100ms,copies=2,after-failure=wait", burst(1));
    bench.poll(ms(0));
    bench.poll(ms(100));
    assert_eq!(bench.fails(2, ms(150)), Output::WaitUntil(ms(200)), "the next keeps its instant");
    bench.poll(ms(200));
    bench.fails(1, ms(250));
    assert_eq!(bench.fails(3, ms(260)), Output::Done);
    assert_eq!(counts(&bench), [3, 0, 3, 0, 2]);

    let mut bench = Bench::new("none+hedging:delay=100ms,copies=2,after-failure=wait", burst(1));
    bench.poll(ms(0));
    assert_eq!(bench.fails(1, ms(50)), Output::Done, "nothing is left to wait for");

    let mut bench = Bench::new("none+hedging:delay=100ms,copies=2,after-failure=end", burst(1));
    bench.poll(ms(0));
    bench.poll(ms(100));
    assert_eq!(bench.fails(2, ms(150)), Output::Done);
    assert_eq!(counts(&bench), [2, 0, 1, 1, 1]);
    bench.assert_over(ms(150));
}

#[test]
fn an_attempt_that_times_out_is_a_failure_like_any_other() {
    let config = RunConfig { timeout: Duration::from_millis(300), ..burst(1) };
    let mut bench = Bench::new("none+hedging:delay=200ms,copies=2", config);
    bench.poll(ms(0));
    bench.poll(ms(320));
    assert_eq!(bench.out(), [(ms(200), 2), (ms(300), 3)], "the next copy goes when the first times out");
    bench.answer(ms(400), Status::Succeeded);
    let attempts = bench.run.measurements().attempts;
    assert_eq!((attempts.failed, attempts.succeeded, attempts.cancelled), (1, 1, 1));
    bench.assert_over(ms(400));
}

#[test]
fn after_the_deadline_or_a_stop_no_copy_is_sent() {
    let config = RunConfig { deadline: Some(Duration::from_millis(700)), ..burst(1) };
    let mut bench = Bench::new(A6, config.clone());
    bench.poll(ms(0));
    bench.poll(ms(2000));
    assert_eq!(bench.out(), [(ms(0), 1), (ms(500), 2)]);
    bench.answer(ms(2000), Status::Succeeded);
    bench.assert_over(ms(2000));

    let wait = Outcome::advised(Status::Rejected, Advice::After(Duration::from_secs(2)));
    let mut bench = Bench::new(A6, config);
    bench.poll(ms(0));
    bench.end_of(1, ms(100), wait);
    assert_eq!(bench.poll(ms(500)), Output::WaitUntil(ms(700)));
    assert_eq!(bench.poll(ms(700)), Output::Done, "it waits for a copy no longer than its deadline");
    bench.assert_over(ms(700));

    let mut bench = Bench::new(A6, burst(1));
    bench.poll(ms(0));
    bench.poll(ms(500));
    bench.run.handle_input(ms(600), Input::Stop);
    bench.poll(ms(2000));
    assert_eq!(bench.sent.len(), 2);
    bench.run.handle_input(ms(2000), Input::Abort);
    bench.poll(ms(2000));
    assert_eq!((bench.cancelled, counts(&bench)), (2, [2, 0, 0, 2, 1]));
    bench.assert_conserved();
}

#[test]
fn a_copy_that_is_withdrawn_ends_no_try_of_the_layer_around_it() {
    let text =
        "constant:delay=1s,max-attempts=2+fixed-window:window=1 over none+hedging:delay=100ms,copies=1";
    let mut bench = Bench::new(text, burst(2));
    bench.poll(ms(0));
    bench.poll(ms(100));
    assert_eq!(bench.ops_out(), [0, 0], "the window of the outer layer holds tries, not attempts");
    bench.answer(ms(150), Status::Succeeded);
    assert_eq!(bench.ops_out(), [1]);
    bench.poll(ms(250));
    bench.end_of(2, ms(260), Outcome::plain(Status::Rejected));
    assert_eq!(bench.ops_out(), [1], "its try goes on");
    bench.fails(1, ms(270));
    bench.poll(ms(1270));
    assert_eq!(bench.out(), [(ms(1270), 3)]);
    bench.poll(ms(1400));
    bench.end_of(4, ms(1500), Outcome::plain(FATAL));
    assert_eq!(bench.run.measurements().ops.given_up, 1);
    bench.assert_over(ms(1500));
}

#[test]
fn after_the_deadline_no_push_back_is_waited_for() {
    let config = RunConfig { deadline: Some(Duration::from_millis(400)), ..burst(1) };
    let wait = Outcome::advised(Status::Rejected, Advice::After(Duration::from_secs(2)));
    let mut bench = Bench::new(A6, config);
    bench.poll(ms(0));
    bench.poll(ms(450));
    assert_eq!(bench.end_of(1, ms(460), wait), Output::Done);
}

/// Creates two ops, half a second apart, which give up after 700 ms.
fn two_with_a_deadline() -> RunConfig {
    let arrivals = ArrivalProcess::Uniform { rate_per_s: 2.0 };
    let workload = Workload { arrivals, ops: Some(2), duration: None };
    RunConfig { deadline: Some(Duration::from_millis(700)), workload, ..burst(2) }
}

#[test]
fn a_deadline_in_push_back_frees_the_place_of_the_layer_around() {
    let wait = Outcome::advised(Status::Rejected, Advice::After(Duration::from_secs(2)));
    let text =
        "constant:delay=1s,max-attempts=2+fixed-window:window=1 over none+hedging:delay=500ms,copies=1";
    let mut bench = Bench::new(text, two_with_a_deadline());
    bench.poll(ms(0));
    bench.end_of(1, ms(100), wait);
    bench.poll(ms(600));
    assert_eq!(bench.sent.len(), 0);
    bench.poll(ms(1000));
    assert_eq!(bench.ops_out(), [1], "the window is free from 700 ms on");
    assert_eq!(bench.out(), [(ms(700), 1)]);
}

#[test]
fn a_deadline_asleep_frees_the_place_of_the_layer_around() {
    let text = "constant:delay=1s,max-attempts=2+fixed-window:window=1 over constant:delay=2s";
    let mut bench = Bench::new(text, two_with_a_deadline());
    bench.poll(ms(0));
    bench.fails(1, ms(100));
    bench.poll(ms(600));
    bench.poll(ms(1000));
    assert_eq!(bench.out(), [(ms(700), 1)]);
}
