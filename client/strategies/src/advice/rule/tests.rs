//! Reactions of production clients to advice. The vectors are from recordings of the named clients.

use vocabulary::{Purpose, TextField, draws};

use super::*;
use crate::common::{COMMON, Common};

const SECOND: Duration = Duration::from_secs(1);

fn rule(text: &str) -> AdviceRule {
    let mut common = Common::default();
    for (key, value) in text.split(',').filter_map(|option| option.split_once('=')) {
        let parameter = COMMON.iter().find(|parameter| parameter.key == key).unwrap();
        parameter.set(&mut common, value).unwrap();
    }
    common.advice
}

/// Decides about a rejection with a backoff of one second.
fn apply(text: &str, advice: Advice) -> Advised {
    apply_drawn(text, advice, 1)
}

fn apply_drawn(text: &str, advice: Advice, seed: u64) -> Advised {
    rule(text).apply(advice, Classification::Throttled, SECOND, || draws(seed, Purpose::Backoff, 0, 1))
}

const fn seconds(seconds: u64) -> Advice {
    Advice::After(Duration::from_secs(seconds))
}

const fn after(millis: u64) -> Advised {
    Advised::After { delay: Duration::from_millis(millis) }
}

#[test]
fn advice_is_a_floor_at_most_for_a_day() {
    assert_eq!(apply("", seconds(3)), after(3000));
    assert_eq!(apply("", Advice::After(Duration::from_millis(10))), after(1000));
    assert_eq!(apply("", seconds(100_000)), after(86_400_000));
    for (advice, advised) in [
        (Advice::None, Advised::BackOff),
        (Advice::Negative, Advised::BackOff),
        (Advice::Unreadable, Advised::BackOff),
        (Advice::Past, after(1000)),
        (seconds(0), after(1000)),
        (Advice::Never, Advised::GiveUp),
    ] {
        assert_eq!(apply("", advice), advised, "{advice:?}");
    }
    assert_eq!(apply("retry-after=exact", Advice::Past), after(0));
    assert_eq!(apply("retry-after=ignore,advice-unreadable=give-up", Advice::Unreadable), Advised::BackOff);
    assert_eq!(apply("retry-after=ignore", Advice::Never), Advised::GiveUp);
}

/// Slack for Node waits as advised and then backs off.
#[test]
fn advice_may_be_added_to_the_back_off() {
    assert_eq!(apply("retry-after=add", seconds(2)), after(3000));
    assert_eq!(apply("retry-after=add", seconds(0)), after(1000));
    assert_eq!(apply("retry-after=add,advice-limit=1s", seconds(2)), after(2000));
    assert_eq!(apply("retry-after=add", Advice::None), Advised::BackOff);
    assert_eq!(apply("retry-after=add,advice-missing=give-up", Advice::None), Advised::GiveUp);
}

#[test]
fn beyond_the_limit_clients_differ() {
    let openai = "retry-after=exact,advice-limit=120s,advice-beyond=give-up";
    assert_eq!(apply(openai, seconds(120)), after(120_000));
    assert_eq!(apply(openai, seconds(121)), Advised::GiveUp);
    let openai_node = "retry-after=exact,advice-limit=60s,advice-beyond=back-off";
    assert_eq!(apply(openai_node, seconds(61)), Advised::BackOff);
    let undici = "retry-after=exact,advice-limit=30s";
    assert_eq!(apply(undici, seconds(70)), after(30_000));
    let anthropic = "retry-after=exact,advice-limit=none";
    assert_eq!(apply(anthropic, Advice::After(LONGEST)), after(4_294_967_000));
    assert_eq!(apply("advice-limit=1ms,advice-beyond=at-once", seconds(1)), after(0));
    assert_eq!(apply("advice-limit=1ms,advice-beyond=5s", seconds(1)), after(5000));
}

#[test]
fn what_is_no_time_to_wait_has_rules_of_its_own() {
    let urllib3 = "retry-after=exact,advice-zero=back-off,advice-past=back-off,advice-negative=give-up,advice-unreadable=give-up";
    assert_eq!(apply(urllib3, seconds(0)), Advised::BackOff);
    assert_eq!(apply(urllib3, Advice::Past), Advised::BackOff);
    assert_eq!(apply(urllib3, Advice::Negative), Advised::GiveUp);
    assert_eq!(apply(urllib3, Advice::Unreadable), Advised::GiveUp);
    let ky_1 = "retry-after=exact,advice-limit=none,advice-unreadable=2147483647ms,advice-zero=1ms,advice-negative=1ms";
    assert_eq!(apply(ky_1, Advice::Unreadable), after(2_147_483_647));
    assert_eq!(apply(ky_1, Advice::Negative), after(1));
    assert_eq!(apply("advice-zero=at-once", seconds(0)), after(0), "whatever the back-off says");
}

#[test]
fn no_advice_has_a_meaning_only_when_the_server_throttles() {
    let missing = rule("retry-after=exact,advice-missing=60s");
    let draws = || draws(1, Purpose::Backoff, 0, 1);
    assert_eq!(missing.apply(Advice::None, Classification::Throttled, SECOND, draws), after(60_000));
    assert_eq!(missing.apply(Advice::None, Classification::Transient, SECOND, draws), Advised::BackOff);
}

/// AWS, retry behaviour of 2026: `clamp [d, d + 5 s]`, `d` being the jittered delay.
#[test]
fn advice_may_be_clamped_to_the_back_off() {
    let aws = "retry-after=floor,advice-clamp=5s";
    for (advised, delay) in [(3000, 3000), (10, 1000), (10_000, 6000)] {
        assert_eq!(apply(aws, Advice::After(Duration::from_millis(advised))), after(delay), "{advised} ms");
    }
}

#[test]
fn advice_is_spread() {
    let between = |text: &str, least: f64, most: f64| {
        let delays: Vec<f64> = (0..1000)
            .map(|seed| match apply_drawn(text, seconds(10), seed) {
                Advised::After { delay, .. } => delay.as_secs_f64(),
                other => panic!("{other:?}"),
            })
            .collect();
        let (low, high) =
            delays.iter().fold((f64::MAX, 0.0_f64), |(low, high), d| (low.min(*d), high.max(*d)));
        let near = (most - least) / 50.0;
        assert!(
            least <= low && low < least + near && most - near < high && high <= most,
            "{text}: {low} {high}"
        );
    };
    between("retry-after=exact,advice-plus=1s", 10.0, 11.0);
    between("retry-after=exact,advice-stretch=0.2", 10.0, 12.0);
    between("retry-after=exact,advice-shrink=1", 0.0, 10.0);
    between("retry-after=exact,advice-stretch=0.5,advice-limit=4s", 4.0, 6.0);
    assert_eq!(apply("retry-after=exact,advice-plus=1s,advice-negative=at-once", Advice::Negative), after(0));
}

#[test]
fn limits_are_read_as_they_are_shown() {
    let rule = rule("advice-limit=none,advice-beyond=5s,advice-clamp=1m 30s");
    assert_eq!(
        (rule.limit.show(), rule.beyond.show(), rule.clamp.show()),
        ("none".into(), "5s".into(), "1m 30s".into())
    );
}
