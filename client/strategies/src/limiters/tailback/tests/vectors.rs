//! Comparison with the vectors of `tests/tailback_vectors.py`, an independent implementation of the rules.

use super::*;
use crate::Quota;

const VECTORS: &str = include_str!("../vectors.txt");

/// Relative tolerance for windows: the two implementations may associate products differently.
const WINDOW_TOLERANCE: f64 = 1e-9;

/// Tolerance for gaps and instants, in nanoseconds: both implementations round each gap to whole nanoseconds.
const NANOS_TOLERANCE: u64 = 2;

/// State that a line of the file expects, as text. `=` is already resolved.
#[derive(Clone, Default)]
struct Expected<'a>([&'a str; 5]);

impl<'a> Expected<'a> {
    fn update(&mut self, state: &'a str) {
        let mut values = state.split_whitespace();
        for field in &mut self.0 {
            let value = values.next().expect("five values");
            if value != "=" {
                *field = value;
            }
        }
    }

    fn differences(&self, tailback: &Tailback, now: Instant, in_flight: u32) -> Vec<String> {
        let [window, top, base, gap, decision] = self.0;
        let mut differences = Vec::new();
        for (name, actual, expected) in
            [("window", tailback.window, window), ("top", tailback.top, top), ("base", tailback.base, base)]
        {
            let value: f64 = number(expected);
            if (actual - value).abs() > WINDOW_TOLERANCE * value {
                differences.push(format!("{name} is {actual} instead of {expected}"));
            }
        }
        let gap = vocabulary::nanos(number::<f64>(gap) * 1e9);
        if gap.abs_diff(tailback.gap()) > Duration::from_nanos(NANOS_TOLERANCE) {
            differences.push(format!("gap is {:?} instead of {gap:?}", tailback.gap()));
        }
        let actual = tailback.poll(now, &view(in_flight, tailback.next_seq));
        if !agrees(actual, decision, now) {
            differences.push(format!("decision is {actual:?} instead of {decision}"));
        }
        differences
    }
}

/// Returns whether two decisions are equal up to the tolerance of the instant that separates waiting from sending.
fn agrees(actual: Admit, expected: &str, now: Instant) -> bool {
    let near = |one: Instant, other: Instant| one.as_nanos().abs_diff(other.as_nanos()) <= NANOS_TOLERANCE;
    match (actual, expected) {
        (Admit::Go, "go") | (Admit::Wait(Until::Event), "event") => true,
        (Admit::Wait(Until::At(at)), "go") => near(at, now),
        (Admit::Go, at) if at != "event" => near(instant(at), now),
        (Admit::Wait(Until::At(at)), expected) if expected != "event" => near(at, instant(expected)),
        _ => false,
    }
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("the script writes numbers")
}

fn instant(text: &str) -> Instant {
    Instant::from_nanos(number(text))
}

fn status(text: &str) -> Status {
    match text {
        "ok" => Status::Succeeded,
        "rejected" => Status::Rejected,
        "timeout" => Status::Failed(Failure::Timeout),
        "transport" => Status::Failed(Failure::Transport),
        "server" => Status::Failed(Failure::Server),
        "fatal" => Status::Failed(Failure::Fatal),
        "cancelled" => Status::Cancelled,
        "deferred" => Status::Deferred,
        _ => panic!("unknown status `{text}`"),
    }
}

/// Returns the outcome of an answer that states advice, a quota, both or nothing.
fn outcome(status: Status, stated: &[&str]) -> Outcome {
    let nanos = |text| Duration::from_nanos(number(text));
    match *stated {
        [] => Outcome::plain(status),
        ["advice", wait, ref more @ ..] => {
            Outcome { advice: Advice::After(nanos(wait)), ..outcome(status, more) }
        }
        ["quota", limit, remaining, reset, precision, ref more @ ..] => {
            let (limit, remaining, reset) = (number(limit), number(remaining), Some(nanos(reset)));
            let quota = Some(Quota { limit, remaining, reset, is_whole: precision == "whole" });
            Outcome { quota, ..outcome(status, more) }
        }
        _ => panic!("unknown statement {stated:?}"),
    }
}

/// Passes one input to the limiter. Returns its instant and the attempts in flight after it.
fn apply(tailback: &mut Tailback, input: &[&str]) -> (Instant, u32) {
    match *input {
        ["poll", now, in_flight] => (instant(now), number(in_flight)),
        ["sent", now, in_flight, ready, seq] => {
            let (now, in_flight): (_, u32) = (instant(now), number(in_flight));
            let view = LimiterView { ready: number(ready), ..view(in_flight, number(seq)) };
            tailback.on_sent(now, &view);
            (now, in_flight + 1)
        }
        ["end", now, in_flight, ready, seq, sent_at, in_flight_when_sent, how, ref stated @ ..] => {
            let (now, in_flight): (_, u32) = (instant(now), number(in_flight));
            let ended = AttemptEnd {
                sent_at: instant(sent_at),
                in_flight_when_sent: number(in_flight_when_sent),
                ready: number(ready),
                ..ended(number(seq), in_flight)
            };
            tailback.on_ended(now, &ended, &outcome(status(how), stated));
            (now, in_flight - 1)
        }
        _ => panic!("unknown input {input:?}"),
    }
}

fn switch(text: &str) -> Switch {
    if text == "on" { Switch::On } else { Switch::Off }
}

#[test]
fn the_limiter_matches_an_independent_implementation() {
    let mut tailback = Tailback::new(TailbackConfig::default());
    let mut expected = Expected::default();
    let (mut run, mut inputs, mut differences) = ("", 0, Vec::new());
    for (index, line) in VECTORS.lines().enumerate() {
        let (input, state) = line.split_once('|').unwrap_or((line, ""));
        let input: Vec<&str> = input.split_whitespace().collect();
        match *input {
            [comment, ..] if comment.starts_with('#') => {}
            ["run", name, initial, beta, max_gap, hold, quota] => {
                run = name;
                tailback = Tailback::new(TailbackConfig {
                    initial: number(initial),
                    beta: number(beta),
                    max_gap: Duration::from_secs_f64(number(max_gap)),
                    hold: switch(hold),
                    quota: switch(quota),
                    ..TailbackConfig::default()
                });
            }
            _ => {
                let (now, in_flight) = apply(&mut tailback, &input);
                expected.update(state);
                inputs += 1;
                for difference in expected.differences(&tailback, now, in_flight) {
                    differences.push(format!("line {} ({run}): {difference}", index + 1));
                }
            }
        }
    }
    assert!(inputs > 3000, "only {inputs} inputs");
    let first = &differences[..differences.len().min(10)];
    assert!(differences.is_empty(), "{} differences, first: {first:#?}", differences.len());
}
