//! Windows and buckets with literal answers.

use super::*;

const S: u64 = 1_000;

const fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn credit() -> Credit {
    Credit::new(Duration::from_hours(1))
}

/// Passes on the success of the attempt `seq`, which states a quota with a reset in milliseconds.
fn answer(credit: &mut Credit, now: u64, seq: u64, limit: u64, remaining: u64, reset: u64) {
    let reset = Some(Duration::from_millis(reset));
    credit.on_answer(ms(now), seq, true, 100e6, Some(Quota { limit, remaining, reset, is_whole: false }));
}

#[expect(clippy::unnecessary_wraps, reason = "compared with a decision")]
const fn at(millis: u64) -> Option<Until> {
    Some(Until::At(ms(millis)))
}

#[test]
fn a_window_admits_what_remains_and_then_its_limit_at_the_reset() {
    let mut credit = credit();
    assert_eq!(credit.wait(ms(0), 1_000_000, 5), None, "no quota is known");
    answer(&mut credit, 100, 0, 10, 9, 5 * S);
    for seq in 1..10 {
        assert_eq!(credit.wait(ms(100), seq, 5), None);
        credit.on_sent(ms(100), seq);
    }
    assert_eq!(credit.wait(ms(100), 10, 5), at(5100));
    assert!(!credit.admits(ms(5099), 10) && credit.admits(ms(100), 9));
    for seq in 10..20 {
        assert_eq!(credit.wait(ms(5100), seq, 5), None);
        credit.on_sent(ms(5100), seq);
    }
    // No answer has shown the new window, so nothing more may be sent. With nothing in flight, one attempt has to find out.
    assert_eq!(credit.wait(ms(5100), 20, 10), Some(Until::Event));
    assert_eq!(credit.wait(ms(5100), 20, 0), None);
    // Answers to attempts of the old window show nothing about the new one.
    answer(&mut credit, 5110, 9, 10, 0, 1);
    assert_eq!(credit.wait(ms(5110), 20, 10), Some(Until::Event));
    answer(&mut credit, 5200, 10, 10, 9, 4900);
    assert_eq!(credit.wait(ms(5200), 20, 10), at(10_100));
}

#[test]
fn answers_that_overtake_each_other_change_nothing() {
    let mut credit = credit();
    for seq in 0..50 {
        answer(&mut credit, seq, seq, 100, 99 - seq, 5 * S - seq);
    }
    // The answer to attempt 51 was counted before that to attempt 50.
    answer(&mut credit, 51, 51, 100, 49, 4_949);
    answer(&mut credit, 52, 50, 100, 48, 4_948);
    assert!(credit.admits(ms(52), 99) && !credit.admits(ms(52), 100));
    // A difference of two requests is a use by others.
    answer(&mut credit, 53, 52, 100, 45, 4_947);
    assert!(credit.admits(ms(53), 97) && !credit.admits(ms(53), 98));
}

#[test]
fn clients_that_share_a_window_take_their_part_in_whole_requests() {
    let mut credit = credit();
    answer(&mut credit, 0, 0, 1000, 999, 60 * S);
    // Four requests are used between two of this client.
    for seq in 1..100 {
        answer(&mut credit, seq, seq, 1000, 999 - 4 * seq, 60 * S - seq);
    }
    // 603 remain, a quarter of which is 150.75.
    assert!(credit.admits(ms(100), 99 + 150) && !credit.admits(ms(100), 99 + 151));
}

/// With a share of less than a request, one attempt may be sent after an eighth of the remaining time.
#[test]
fn what_others_leave_is_tried_once() {
    let mut credit = credit();
    for seq in 0..100 {
        answer(&mut credit, seq, seq, 1000, 998 - 10 * seq.min(99), 60 * S - seq);
    }
    // 8 remain, of which .8 are for this client, and the window ends after 59.901 s.
    assert_eq!(credit.wait(ms(99), 100, 5), Some(Until::At(Instant::from_nanos(7_586_625_000))));
    assert_eq!(credit.wait(ms(99), 101, 5), at(60_000));
    assert!(!credit.covers(ms(7_600), 100) && credit.covers(ms(0), 99));
}

#[test]
fn a_bucket_admits_more_at_its_rate() {
    let mut credit = credit();
    // 10/s: each request moves the reset by 100 ms.
    for seq in 0..=20 {
        answer(&mut credit, 10 * seq, seq, 20, 19 - seq.min(19), 100 * (seq + 1) - 10 * seq);
    }
    assert_eq!(credit.wait(ms(200), 21, 5), at(295), "the bucket gains a request in 1.9 s / 20");
    assert_eq!(credit.wait(ms(295), 21, 5), None);
    assert_eq!(credit.wait(ms(295), 22, 5), at(390));
}

#[test]
fn only_a_success_introduces_or_ends_a_quota() {
    let quota = Quota { limit: 10, remaining: 0, reset: Some(Duration::from_secs(9)), is_whole: true };
    let mut credit = credit();
    credit.on_answer(ms(0), 0, false, 100e6, Some(quota));
    assert!(credit.admits(ms(0), 5), "a rejection alone");
    credit.on_answer(ms(0), 1, true, 100e6, Some(quota));
    assert!(!credit.admits(ms(0), 5));
    credit.on_answer(ms(0), 2, false, 100e6, None);
    assert!(!credit.admits(ms(0), 5), "a rejection without a quota");
    credit.on_answer(ms(0), 3, true, 100e6, None);
    assert!(credit.admits(ms(0), 5));
    for useless in [Quota { limit: 4, ..quota }, Quota { reset: None, ..quota }] {
        credit.on_answer(ms(0), 4, true, 100e6, Some(useless));
        assert!(credit.admits(ms(0), 9), "{useless:?}");
    }
}

#[test]
fn odd_resets_end() {
    let mut credit = credit();
    credit.on_answer(
        ms(0),
        0,
        true,
        100e6,
        Some(Quota { limit: 9, remaining: 0, reset: Some(Duration::MAX), is_whole: true }),
    );
    assert_eq!(credit.wait(ms(0), 1, 1), at(3_600_000), "as long as advice at most");
    let mut past = self::credit();
    for seq in 0..100 {
        answer(&mut past, seq, seq, 10, 0, 0);
        assert_eq!(past.wait(ms(seq), seq + 1, 1), None, "a reset in the past is over");
    }
}

/// Ten thousand clients share one quota of 100 requests a second. Each still sends now and then.
#[test]
fn one_of_many_clients_gets_a_turn_in_every_window() {
    let mut credit = credit();
    let mut sent = 0;
    let mut seq = 0;
    for window in 0..50_u64 {
        let now = window * S;
        if credit.wait(ms(now), seq, 0).is_none() {
            credit.on_sent(ms(now), seq);
            answer(&mut credit, now + 100, seq, 100, 0, 900);
            seq += 1;
            sent += 1;
        }
    }
    assert!(sent >= 49, "{sent} in 50 windows");
}

/// A period of less than a round trip is over before its answers arrive.
#[test]
fn short_periods_are_not_used() {
    for (latency_ms, is_used) in [(3_300, true), (3_400, false)] {
        let mut credit = credit();
        let reset = Some(Duration::from_secs(1));
        let quota = Quota { limit: 10, remaining: 0, reset, is_whole: false };
        credit.on_answer(ms(0), 0, true, f64::from(latency_ms) * 1e6, Some(quota));
        assert_eq!(!credit.admits(ms(0), 1), is_used, "{latency_ms} ms");
    }
}
