//! The dispatcher against a driver that only follows its clock.

use std::time::Duration;

use super::*;
use crate::{Status, StrategySpec};

/// Observer that records which ops ended, and how.
#[derive(Default)]
struct Ends {
    ops: Vec<(u32, Option<GiveUp>)>,
}

impl Host for Ends {
    type Op = ();
    type Attempt = ();
    type Note = ();

    fn on_done(&mut self, _at: Instant, _slot: u32, op: &Op<()>, _note: Option<&()>) {
        self.ops.push((op.id, None));
    }

    fn on_given_up(&mut self, _at: Instant, _slot: u32, op: &Op<()>, why: GiveUp) {
        self.ops.push((op.id, Some(why)));
    }
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn dispatcher(spec: &str, settings: Settings) -> Dispatcher<Ends> {
    let spec: StrategySpec = spec.parse().unwrap();
    Dispatcher::new([spec.build(1, None).unwrap()], settings)
}

/// Fires all events up to `now`, with the clock at `now`.
fn fire(dispatcher: &mut Dispatcher<Ends>, ends: &mut Ends, now: Instant) {
    while let Some(event) = dispatcher.next_due().filter(|(at, _)| *at <= now) {
        dispatcher.fire(ends, now, event);
    }
}

fn sent(dispatcher: &mut Dispatcher<Ends>) -> Vec<Launch> {
    std::iter::from_fn(|| dispatcher.take_output())
        .filter_map(|output| match output {
            Output::Send(launch) => Some(launch),
            Output::Cancel(_) => None,
        })
        .collect()
}

#[test]
fn a_process_that_slept_sends_no_burst_of_paced_attempts() {
    // Ten attempts per second; the process sleeps for 30 s.
    for (max_lateness, expected) in [(Duration::MAX, 300), (Duration::from_millis(100), 1)] {
        let settings = Settings { max_lateness, ..Settings::default() };
        let (mut paced, mut ends) = (dispatcher("least-gap:gap=100ms", settings), Ends::default());
        for op in 0..1000 {
            paced.arrive(&mut ends, ms(0), op, None, ()).unwrap();
        }
        assert_eq!(sent(&mut paced).len(), 1);
        fire(&mut paced, &mut ends, ms(30_000));
        let count = sent(&mut paced).len();
        assert!((expected..=expected + 1).contains(&count), "{count} with {max_lateness:?}");
    }
}

#[test]
fn more_ops_than_the_limit_are_refused_until_one_has_left() {
    let settings = Settings { max_waiting: 2, ..Settings::default() };
    let (mut narrow, mut ends) = (dispatcher("fixed-window:window=1", settings), Ends::default());
    let mut arrive = |narrow: &mut Dispatcher<Ends>, op| narrow.arrive(&mut ends, ms(0), op, None, ());
    let keys: Vec<OpKey> = (0..3).map(|op| arrive(&mut narrow, op).unwrap()).collect();
    assert_eq!(arrive(&mut narrow, 3), Err(Full));
    narrow.cancel(&mut Ends::default(), ms(1), keys[1], None);
    assert!(arrive(&mut narrow, 4).is_ok());
    assert_eq!(arrive(&mut narrow, 5), Err(Full));
}

#[test]
fn each_op_has_a_deadline_of_its_own() {
    let (mut narrow, mut ends) = (dispatcher("fixed-window:window=1", Settings::default()), Ends::default());
    for (op, deadline) in [(0, None), (1, Some(ms(300))), (2, Some(ms(100))), (3, Some(ms(0)))] {
        narrow.arrive(&mut ends, ms(0), op, deadline, ()).unwrap();
    }
    fire(&mut narrow, &mut ends, ms(400));
    let expired = Some(GiveUp::Expired);
    assert_eq!(ends.ops, [(3, expired), (2, expired), (1, expired)]);
    let first = sent(&mut narrow).remove(0);
    narrow.ended(&mut ends, ms(500), first.attempt, ms(0), &Outcome::plain(Status::Succeeded), &());
    assert_eq!(ends.ops.last(), Some(&(0, None)));
    assert!(narrow.is_empty(), "{narrow:?}");
}

#[test]
fn ops_cancelled_during_a_long_hold_do_not_pile_up() {
    let (mut held, mut ends) =
        (dispatcher("hold+fixed-window:window=4", Settings::default()), Ends::default());
    held.arrive(&mut ends, ms(0), 0, None, ()).unwrap();
    let first = sent(&mut held).remove(0);
    let advice = crate::Advice::After(Duration::from_hours(1));
    let rejected = Outcome::advised(Status::Rejected, advice);
    held.ended(&mut ends, ms(10), first.attempt, ms(0), &rejected, &());
    for op in 1..100_000 {
        let key = held.arrive(&mut ends, ms(20), op, None, ()).unwrap();
        held.cancel(&mut ends, ms(20), key, None);
        assert!(held.ops.len() < 600, "{} entries after {op} cancellations", held.ops.len());
    }
    assert_eq!((held.unfinished(), sent(&mut held).len()), (1, 0));
}

#[test]
fn sleeping_ops_that_are_cancelled_do_not_pile_up() {
    let (mut backing_off, mut ends) = (dispatcher("constant:delay=1h", Settings::default()), Ends::default());
    for op in 0..20_000 {
        let key = backing_off.arrive(&mut ends, ms(op.into()), op, None, ()).unwrap();
        let launch = sent(&mut backing_off).remove(0);
        let now = ms(u64::from(op) + 1);
        backing_off.ended(&mut ends, now, launch.attempt, now, &Outcome::plain(Status::Rejected), &());
        assert_eq!(backing_off.sleeping(), 1);
        backing_off.cancel(&mut ends, now, key, None);
        assert!(backing_off.ops.len() < 600, "{} entries", backing_off.ops.len());
    }
    assert_eq!((backing_off.unfinished(), backing_off.sleeping()), (0, 0));
}

#[test]
fn an_attempt_that_is_taken_back_is_sent_again_and_counts_once() {
    let (mut window, mut ends) = (dispatcher("fixed-window:window=1", Settings::default()), Ends::default());
    window.arrive(&mut ends, ms(0), 0, None, ()).unwrap();
    let first = sent(&mut window).remove(0);
    window.unsend(&mut ends, ms(1), first.attempt);
    let again = sent(&mut window).remove(0);
    assert_eq!((again.ordinal, again.op, window.in_flight()), (1, first.op, 1));
    window.ended(&mut ends, ms(2), first.attempt, ms(1), &Outcome::plain(Status::Succeeded), &());
    assert!(ends.ops.is_empty(), "the taken-back attempt has no end");
}
