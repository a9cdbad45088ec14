//! Tests of the rule in `hold.rs`: literal sequences, and random ones against a model.

use proptest::prelude::*;
use vocabulary::Configurable as _;

use super::*;
use crate::Failure;
use crate::testing::{Always, CANCELLED, OK, REJECTED, Series, TIMEOUT, advised, ended, launch};

fn hold(text: &[(&str, &str)]) -> Hold {
    let mut config = HoldConfig::default();
    for (key, value) in text {
        let parameter = HoldConfig::PARAMETERS.iter().find(|parameter| parameter.key == *key).unwrap();
        parameter.set(&mut config, value).unwrap();
    }
    Hold::new(config)
}

fn ask(hold: &Hold, at_ms: u64, seq: u64) -> BudgetDecision {
    hold.ask(Instant::from_millis(at_ms), &launch(seq, None), &mut Always(0.5))
}

#[track_caller]
fn send(hold: &mut Hold, at_ms: u64, seqs: std::ops::Range<u64>) -> Vec<Permit> {
    let each = seqs.map(|seq| {
        assert_eq!(ask(hold, at_ms, seq), BudgetDecision::Permit, "{seq}");
        hold.on_sent(Instant::from_millis(at_ms), &launch(seq, None))
    });
    each.collect()
}

fn end(hold: &mut Hold, at_ms: u64, seq: u64, permit: Permit, outcome: Outcome) {
    hold.on_ended(Instant::from_millis(at_ms), &ended(seq, 1), &outcome, permit);
}

fn wait_of(millis: u64) -> Outcome {
    advised(Advice::After(Duration::from_millis(millis)))
}

const fn until_ms(at_ms: u64) -> BudgetDecision {
    BudgetDecision::Wait(Until::At(Instant::from_millis(at_ms)))
}

const FOR_AN_ANSWER: BudgetDecision = BudgetDecision::Wait(Until::Event);

#[test]
fn the_latest_advised_instant_counts_and_nothing_shortens_it() {
    let mut hold = hold(&[]);
    let permits = send(&mut hold, 0, 0..5);
    end(&mut hold, 100, 0, permits[0], wait_of(3000));
    assert_eq!(ask(&hold, 100, 5), until_ms(3100));
    end(&mut hold, 200, 1, permits[1], wait_of(1000));
    end(&mut hold, 300, 2, permits[2], OK);
    end(&mut hold, 300, 3, permits[3], CANCELLED);
    assert_eq!(ask(&hold, 3099, 5), until_ms(3100));
    end(&mut hold, 400, 4, permits[4], Outcome { status: Status::Failed(Failure::Server), ..wait_of(5000) });
    assert_eq!(ask(&hold, 3100, 5), until_ms(5400));
    assert_eq!(ask(&hold, 5400, 5), BudgetDecision::Permit);
}

#[test]
fn advice_without_a_wait_holds_nothing() {
    for advice in [
        Advice::None,
        Advice::After(Duration::ZERO),
        Advice::Past,
        Advice::Negative,
        Advice::Unreadable,
        Advice::Never,
    ] {
        let mut hold = hold(&[]);
        let permits = send(&mut hold, 0, 0..1);
        end(&mut hold, 100, 0, permits[0], advised(advice));
        assert_eq!(ask(&hold, 100, 1), BudgetDecision::Permit, "{advice:?}");
    }
}

#[test]
fn advice_beyond_the_longest_is_cut_or_ignored() {
    for (beyond, expected) in [("cut", until_ms(10_100)), ("ignore", BudgetDecision::Permit)] {
        let mut hold = hold(&[("max", "10s"), ("beyond", beyond)]);
        let permits = send(&mut hold, 0, 0..1);
        end(&mut hold, 100, 0, permits[0], wait_of(10_001));
        assert_eq!(ask(&hold, 100, 1), expected);
    }
}

#[test]
fn a_release_sends_what_was_accepted_and_then_feelers_that_double() {
    let mut hold = hold(&[]);
    let permits = send(&mut hold, 0, 0..4);
    for seq in 0..3 {
        end(&mut hold, 100, seq, permits[0], OK);
    }
    end(&mut hold, 100, 3, permits[3], wait_of(1000));
    // Three were accepted, so three may go, and a feeler.
    let permits = send(&mut hold, 1100, 4..8);
    assert_eq!(permits.iter().map(|permit| permit.0).collect::<Vec<_>>(), [0, 0, 0, 1]);
    assert_eq!(ask(&hold, 1100, 8), FOR_AN_ANSWER);
    end(&mut hold, 1200, 4, permits[0], OK);
    assert_eq!(ask(&hold, 1200, 8), FOR_AN_ANSWER, "only feelers let more in");
    end(&mut hold, 1200, 7, permits[3], OK);
    let permits = send(&mut hold, 1200, 8..10);
    assert_eq!(ask(&hold, 1200, 10), FOR_AN_ANSWER);
    for (seq, permit) in (8..).zip(permits) {
        end(&mut hold, 1300, seq, permit, OK);
    }
    send(&mut hold, 1300, 10..14);
    assert_eq!(ask(&hold, 1300, 14), FOR_AN_ANSWER);
}

#[test]
fn the_release_may_double_from_one_or_let_all_go() {
    for (release, sent) in [("double", 1), ("all", 50)] {
        let mut hold = hold(&[("release", release)]);
        let permits = send(&mut hold, 0, 0..10);
        for (seq, permit) in (0..).zip(permits) {
            end(&mut hold, 100, seq, permit, if seq < 8 { OK } else { wait_of(1000) });
        }
        send(&mut hold, 1100, 10..10 + sent);
        let more = if release == "all" { BudgetDecision::Permit } else { FOR_AN_ANSWER };
        assert_eq!(ask(&hold, 1100, 10 + sent), more, "{release}");
    }
}

#[test]
fn feelers_that_tell_nothing_are_given_back() {
    for outcome in [CANCELLED, Outcome::plain(Status::Deferred), TIMEOUT, REJECTED] {
        let mut hold = hold(&[("release", "double")]);
        let permits = send(&mut hold, 0, 0..1);
        end(&mut hold, 100, 0, permits[0], wait_of(1000));
        let permits = send(&mut hold, 1100, 1..2);
        assert_eq!(ask(&hold, 1100, 2), FOR_AN_ANSWER);
        end(&mut hold, 1200, 1, permits[0], outcome);
        send(&mut hold, 1200, 2..3);
        assert_eq!(ask(&hold, 1200, 3), FOR_AN_ANSWER, "{:?} raised the number", outcome.status);
    }
}

#[test]
fn a_feeler_of_an_earlier_release_does_not_count() {
    let mut hold = hold(&[("release", "double")]);
    let first = send(&mut hold, 0, 0..1);
    end(&mut hold, 100, 0, first[0], wait_of(1000));
    let slow = send(&mut hold, 1100, 1..2);
    end(&mut hold, 1150, 0, Permit(0), wait_of(1000));
    let next = send(&mut hold, 2150, 2..3);
    end(&mut hold, 2200, 1, slow[0], OK);
    assert_eq!(ask(&hold, 2200, 3), FOR_AN_ANSWER);
    end(&mut hold, 2200, 2, next[0], OK);
    send(&mut hold, 2200, 3..5);
}

#[test]
fn held_launches_may_be_shed_with_the_rest_of_the_wait() {
    let mut hold = hold(&[("when-held", "shed"), ("release", "double")]);
    let permits = send(&mut hold, 0, 0..1);
    end(&mut hold, 100, 0, permits[0], wait_of(1000));
    let rest = Advice::After(Duration::from_millis(700));
    assert_eq!(ask(&hold, 400, 1), BudgetDecision::Shed(rest));
    send(&mut hold, 1100, 1..2);
    assert_eq!(ask(&hold, 1100, 2), BudgetDecision::Shed(Advice::None), "it waits for the feeler");
}

#[test]
fn blind_holds_double_and_rejections_of_one_crowd_count_once() {
    let mut hold = hold(&[("blind", "1s"), ("release", "all")]);
    let mut at = 0;
    for (round, seconds) in (0..).zip([1, 2, 4, 8, 16, 30, 30]) {
        let seq = 3 * round;
        let permits = send(&mut hold, at, seq..seq + 3);
        for (seq, permit) in (seq..).zip(permits) {
            end(&mut hold, at, seq, permit, REJECTED);
        }
        assert_eq!(ask(&hold, at, seq + 3), until_ms(at + 1000 * seconds), "{round}");
        at += 1000 * seconds;
    }
    let permits = send(&mut hold, at, 21..23);
    end(&mut hold, at, 21, permits[0], OK);
    end(&mut hold, at, 22, permits[1], REJECTED);
    assert_eq!(ask(&hold, at, 23), until_ms(at + 1000), "a success begins anew");
}

#[test]
fn advice_that_the_rules_of_the_layer_skip_holds_nothing() {
    let waited = |text: &str, code: u16| {
        let mut client = Series::new(text);
        let facts = crate::Facts::code(code);
        client.op(|attempt, _| if attempt == 1 { Outcome { facts, ..wait_of(5000) } } else { OK });
        client.now
    };
    let text = "hold+aimd:retry-after=ignore";
    assert_eq!(waited(text, 429), Instant::from_millis(5000));
    assert_eq!(waited(&format!("{text},advice-on=429"), 429), Instant::from_millis(5000));
    assert_eq!(waited(&format!("{text},advice-on=429"), 503), Instant::ORIGIN);
}

/// During an outage, limiters receive a failed probe as cancelled, but with its advice.
#[test]
fn advice_of_a_failing_server_holds_during_an_outage() {
    for strategy in ["hold+aimd:retry-after=ignore", "tailback:retry-after=ignore"] {
        assert_held_for_a_minute(strategy);
    }
}

fn assert_held_for_a_minute(strategy: &str) {
    let mut client = Series::new(strategy);
    let failed = Outcome { status: Status::Failed(Failure::Server), ..wait_of(60_000) };
    let plain = Outcome::plain(Status::Failed(Failure::Server));
    let mut sent = Vec::new();
    client.op(|attempt, client| {
        sent.push(client.now);
        match attempt {
            14 => OK,
            13 => failed,
            _ => plain,
        }
    });
    assert_eq!(sent[13].since(sent[12]), Duration::from_mins(1), "{strategy}");
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Send,
    /// Ends the attempt at this place among those in flight.
    End(prop::sample::Index, Outcome),
    Pass(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let advice = prop_oneof![
        (0..4000_u64).prop_map(|millis| Advice::After(Duration::from_millis(millis))),
        Just(Advice::After(Duration::from_hours(24))),
        Just(Advice::Past),
        Just(Advice::Unreadable),
        Just(Advice::None),
    ];
    let outcome = prop_oneof![
        3 => Just(OK),
        1 => Just(CANCELLED),
        1 => Just(TIMEOUT),
        1 => Just(Outcome::plain(Status::Deferred)),
        3 => advice.clone().prop_map(advised),
        1 => advice.prop_map(|advice| Outcome::advised(Status::Failed(Failure::Server), advice)),
    ];
    let event = prop_oneof![
        3 => Just(Event::Send),
        2 => (any::<prop::sample::Index>(), outcome).prop_map(|(place, outcome)| Event::End(place, outcome)),
        1 => (0..3000_u64).prop_map(Event::Pass),
    ];
    prop::collection::vec(event, 1..300)
}

proptest! {
    #[test]
    fn nothing_is_sent_before_the_latest_advised_instant_and_nothing_waits_for_ever(
        events in events(),
        release in prop::sample::select(vec!["learn", "double", "all"]),
    ) {
        let max = Duration::from_secs(10);
        let mut hold = hold(&[("max", "10s"), ("release", release)]);
        let (mut now, mut seq, mut until) = (0_u64, 0_u64, 0_u64);
        let mut in_flight: Vec<(u64, Permit)> = Vec::new();
        for event in events {
            let decision = ask(&hold, now, seq);
            // The whole model: one instant, which is only ever raised.
            if now < until {
                prop_assert_eq!(decision, until_ms(until));
            } else if decision != BudgetDecision::Permit {
                prop_assert_eq!(decision, FOR_AN_ANSWER);
                prop_assert!(!in_flight.is_empty(), "it waits for an answer, but nothing is in flight");
            }
            match event {
                Event::Send if decision == BudgetDecision::Permit => {
                    in_flight.push((seq, hold.on_sent(Instant::from_millis(now), &launch(seq, None))));
                    seq += 1;
                }
                Event::End(place, outcome) if !in_flight.is_empty() => {
                    let (ended, permit) = in_flight.swap_remove(place.index(in_flight.len()));
                    end(&mut hold, now, ended, permit, outcome);
                    if let (Status::Rejected | Status::Failed(_), Advice::After(wait)) = (outcome.status, outcome.advice) {
                        until = until.max(now + u64::try_from(wait.min(max).as_millis()).unwrap());
                    }
                }
                Event::Send | Event::End(..) => {}
                Event::Pass(millis) => now += millis,
            }
        }
    }
}
