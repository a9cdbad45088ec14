//! Unit tests of the source, with its numbers: awslabs/aws-s3-transfer-manager-rs
//! `aws-sdk-s3-transfer-manager/src/scheduler/concurrency/adaptive.rs`.

use super::*;
use crate::testing::{OK, REJECTED, ended, view};
use crate::{Admit, Until};

fn new() -> S3HillClimb {
    S3HillClimb::new(S3HillClimbConfig::default())
}

/// Judges measurements, each with the accepted level in flight. Returns the last target.
fn judge<const N: usize>(climb: &mut S3HillClimb, goodput: [f64; N]) -> f64 {
    let mut target = 0.0;
    for goodput in goodput {
        target = climb.judge(goodput, whole(climb.accepted));
    }
    target
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "levels of tests are small")]
fn whole(level: f64) -> u32 {
    level as u32
}

/// Returns a climb that has just left its start at its initial level.
fn started() -> S3HillClimb {
    let mut climb = new();
    judge(&mut climb, [1000.0; 5]);
    assert_eq!(climb.phase, Phase::Probing);
    climb
}

#[test]
fn the_first_measurement_is_only_kept() {
    let mut climb = new();
    assert_eq!(whole(judge(&mut climb, [1000.0])), 64);
    assert_eq!((climb.phase, whole(climb.accepted)), (Phase::Start, 32));
}

#[test]
fn it_grows_by_32_at_first_while_goodput_grows_by_a_tenth() {
    let mut climb = new();
    assert_eq!(whole(judge(&mut climb, [1000.0, 1200.0])), 96);
    assert_eq!((climb.phase, whole(climb.accepted)), (Phase::Start, 64));
}

#[test]
fn the_fourth_consecutive_miss_ends_the_start() {
    let mut climb = new();
    judge(&mut climb, [1000.0, 1050.0, 1050.0, 1050.0]);
    assert_eq!(climb.phase, Phase::Start);
    judge(&mut climb, [1050.0]);
    assert_eq!((climb.phase, whole(climb.accepted)), (Phase::Probing, 32));
    assert!(climb.judged.is_empty(), "what was measured on the way up is forgotten");
}

#[test]
fn probing_accepts_two_percent_more() {
    let mut climb = started();
    judge(&mut climb, [1000.0, 1030.0]);
    assert_eq!((climb.phase, whole(climb.accepted), climb.in_a_row), (Phase::Probing, 33, 0));
}

/// Shedding continues while goodput stays within 2 % of the best.
#[test]
fn after_three_misses_it_sheds_near_the_best_goodput() {
    let mut climb = started();
    judge(&mut climb, [1000.0; 4]);
    assert_eq!(climb.phase, Phase::Shedding);
    judge(&mut climb, [985.0]);
    assert_eq!((climb.phase, climb.in_a_row), (Phase::Shedding, 1));
    let mut climb = started();
    judge(&mut climb, [1000.0, 1000.0, 1000.0, 1000.0, 900.0]);
    assert_eq!(climb.phase, Phase::Probing);
    // Measurements made while probing remain in the comparison.
    let mut climb = started();
    judge(&mut climb, [5000.0, 5000.0, 5000.0, 5000.0, 4000.0]);
    assert_eq!(climb.phase, Phase::Probing);
}

#[test]
fn shedding_accelerates_from_one_step_above_what_was_accepted() {
    let mut climb = started();
    judge(&mut climb, [1000.0; 4]);
    // 33 is accepted; then 33 · 0.96, 31 · 0.94 and 29 · 0.92 are tried, each cut to a whole number.
    for (accepted, tried) in [(33, 31), (31, 29), (29, 26), (26, 23)] {
        let target = judge(&mut climb, [1000.0]);
        assert_eq!((whole(climb.accepted), whole(target)), (accepted, tried));
    }
}

#[test]
fn flat_goodput_does_not_let_it_creep_up() {
    let mut climb = started();
    let before = climb.accepted;
    judge(&mut climb, [1000.0; 20]);
    assert!(climb.accepted <= before + 5.0, "{}", climb.accepted);
}

#[test]
fn throttling_has_it_shed_at_once() {
    let mut climb = new();
    climb.on_ended(Instant::ORIGIN, &ended(0, 1), &REJECTED);
    assert_eq!(climb.phase, Phase::Shedding);
}

#[test]
fn targets_stay_between_the_minimum_and_thrice_the_accepted() {
    let mut climb =
        S3HillClimb::new(S3HillClimbConfig { initial: 100, min: 50, ..S3HillClimbConfig::default() });
    climb.tried = 3.0;
    climb.phase = Phase::Shedding;
    assert_eq!(whole(climb.judge(1000.0, 100)), 50);
    climb.tried = 1000.0;
    climb.judged.clear();
    assert_eq!(whole(climb.judge(1000.0, 100)), 300);
}

#[test]
fn a_window_that_was_not_used_is_not_judged() {
    let mut climb = started();
    judge(&mut climb, [1000.0]);
    let target = climb.judge(5000.0, 5);
    assert_eq!((whole(climb.accepted), whole(target)), (32, 33));
    let mut climb = started();
    judge(&mut climb, [1000.0]);
    climb.judge(1030.0, 32);
    assert_eq!(whole(climb.accepted), 33);
}

#[test]
fn goodput_is_judged_every_300_ms_but_never_without_a_success() {
    let mut climb = new();
    let ms = Instant::from_millis;
    for seq in 0..32 {
        climb.on_sent(ms(0), &view(u32::try_from(seq).expect("few"), seq));
    }
    climb.on_ended(ms(299), &ended(0, 32), &OK);
    assert_eq!(whole(climb.window), 32);
    climb.on_ended(ms(300), &ended(1, 31), &OK);
    assert_eq!((whole(climb.window), climb.judged.last().to_bits()), (64, 4.0_f64.to_bits()));
    assert_eq!(climb.poll(ms(300), &view(63, 32)), Admit::Go);
    assert_eq!(climb.poll(ms(300), &view(64, 32)), Admit::Wait(Until::Event));
    // All successes are older than the half second for which they count.
    climb.on_ended(ms(900), &ended(2, 30), &crate::testing::FATAL);
    assert_eq!(climb.raw.best().to_bits(), 4.0_f64.to_bits());
    assert_eq!(climb.judged_at, ms(900));
}

#[test]
fn while_shedding_only_the_level_that_is_tried_can_be_used() {
    for (used, judged) in [(Used::Accepted, false), (Used::Tried, true)] {
        let mut climb = S3HillClimb::new(S3HillClimbConfig { used, ..S3HillClimbConfig::default() });
        climb.phase = Phase::Shedding;
        climb.judge(1000.0, 32);
        climb.window = climb.judge(1000.0, 32);
        assert_eq!((whole(climb.accepted), whole(climb.window)), (32, 30));
        climb.judge(1000.0, 30);
        assert_eq!(climb.accepted < 32.0, judged);
    }
}
