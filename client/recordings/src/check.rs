//! Check whether a strategy behaves like a recording. The check is made for one pair, which consists of a scenario and one configuration of
//! a library.

use std::cell::Cell;

use tailback::{Method, SpecError, StrategySpec};

use crate::compare::endings::{attempts, endings};
use crate::compare::series::{Delays, series};
use crate::ending::Ending;
use crate::grain::without_noise;
use crate::outcome::{CheckOutcome, Difference};
use crate::pair::{Kind, Ops, Pair, Series};
use crate::replay::{Clients, Op, Trial};

/// Number of ops that are simulated to find out whether a strategy makes random draws.
const FEW: usize = 64;

/// Number of ops that are simulated for a strategy that makes random draws. A delay that occurs in every op is therefore drawn this many
/// times.
const MANY: usize = 2500;

/// Number of ops that are simulated if the draws must cover nearly the whole range of each random delay.
const MOST: usize = 50_000;

const RUNS: u64 = 100;

/// Seed of all random draws of a check. It is fixed, so that the same recording and strategy always get the same verdict.
const SEED: u64 = 20_261_121;

/// Compares a recorded pair (a scenario and a configuration of a library) with a strategy. `strategy` is the strategy that the
/// configuration is mapped to, or `None` if no strategy is known.
///
/// # Errors
/// Fails if the strategy cannot be started.
pub fn check(pair: &Pair, strategy: Option<&StrategySpec>) -> Result<CheckOutcome, SpecError> {
    match (&pair.kind, strategy) {
        (Kind::Skipped(why), _) => Ok(CheckOutcome::Skipped(why.clone())),
        (_, None) => Ok(CheckOutcome::NoPreset),
        (_, Some(strategy)) => {
            Ok(check_within(pair, strategy, Effort::Most)?.expect("the most effort decides every outcome"))
        }
    }
}

/// Number of ops that a check may simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Decides strategies without random draws, those whose ops all differ from the recorded ones, and those whose delays are far from the
    /// recorded ones or surround a single one.
    Few,
    /// Decides strategies whose delays have the range of the recorded ones, or are far from them.
    Many,
    Most,
}

/// Variant of [`check()`] with limited effort. Returns `None` if the outcome needs more. A difference that further ops would hardly
/// remove is returned without them, so its text may name a smaller range.
pub fn check_within(
    pair: &Pair,
    strategy: &StrategySpec,
    effort: Effort,
) -> Result<Option<CheckOutcome>, SpecError> {
    let strategy = strategy.clone().with_method(method(pair));
    Ok(match &pair.kind {
        Kind::Ops(ops) => of_ops(pair, ops, strategy, effort)?,
        Kind::Series(recorded) => Some(of_series(pair, recorded, &strategy)?.into()),
        Kind::Skipped(why) => Some(CheckOutcome::Skipped(why.clone())),
    })
}

/// Returns the HTTP method of the recorded requests. If the method was not recorded, it follows the slash in the id of a series of ops.
/// gRPC calls always use POST.
fn method(pair: &Pair) -> Method {
    let named = pair.method.as_deref().or_else(|| pair.id.split_once('/').map(|(_, method)| method));
    named.map_or_else(Method::default, |name| Method::named(if name == "unary" { "POST" } else { name }))
}

/// Returns `None` if the outcome needs more effort.
fn of_ops(
    pair: &Pair,
    recorded: &Ops,
    mut strategy: StrategySpec,
    effort: Effort,
) -> Result<Option<CheckOutcome>, SpecError> {
    if recorded.attempts.is_empty() {
        // The recording contains only delays, and the recorder chose their number. The strategy is therefore limited to one attempt more
        // than the largest number of delays.
        strategy = strategy.with_max_attempts(u32::try_from(recorded.most_delays() + 1).unwrap_or(u32::MAX));
    }
    let trial = |clients, ops, seed| {
        let script = &recorded.script;
        Trial { strategy: &strategy, script, clients, ops, seed }.run()
    };
    // A client waits before its next op only because of its earlier ops. If more than half of the recorded ops began with a wait, one
    // client did all ops.
    let waited = recorded.before_first.iter().skip(1).filter(|wait| without_noise(**wait) > 0.0);
    let is_one = 2 * waited.count() > recorded.before_first.len();
    let usual = if is_one { Clients::ONE } else { Clients::Fresh };
    let endless = || {
        let most = recorded.attempts.iter().max();
        let most = most.map_or_else(|| "an end".to_owned(), |most| format!("at most {most}"));
        Ok(Some(CheckOutcome::Differs(Difference::new("attempts", most, "no end"))))
    };
    let Some(few) = trial(usual, FEW, SEED)? else { return endless() };
    let Some(scattered) = trial(Clients::Scattered, FEW, SEED)? else { return endless() };
    // A single client starts each op when the previous op has ended, at any fraction of a second. A simulation with scattered starts
    // would therefore show no difference. Instead, the script shows whether delays depend on the calendar time.
    let by_calendar = if is_one { recorded.script.to_string().contains(":@") } else { scattered != few };
    let clients = if by_calendar && !is_one { Clients::Scattered } else { usual };
    let is_drawn = by_calendar || few.iter().skip(1).any(|op| *op != few[1]);
    if is_drawn && effort < Effort::Many {
        let is_steady = few.iter().all(|op| (op.attempts, op.ending) == (few[0].attempts, few[0].ending));
        let differs = counts(recorded, &few).filter(|_| is_steady);
        if differs.is_some() {
            return Ok(Some(differs.into()));
        }
        let is_far = Cell::new(false);
        let differs = waits(pair, recorded, &few, by_calendar, |far| {
            is_far.set(far);
            few.clone()
        });
        // A single recorded op has no distribution, so it agrees as soon as the simulated delays surround its own.
        let is_one_op = recorded.delays.len().max(recorded.attempts.len()) <= 1;
        let agrees = differs.is_none() && is_steady && is_one_op && !by_calendar;
        return Ok((is_far.get() || agrees).then(|| differs.into()));
    }
    // A run with many ops ends, because an earlier run with fewer ops of the same strategy and script ended.
    let own = if is_drawn { trial(clients, MANY, SEED)?.unwrap_or_default() } else { few };
    let needs_more = Cell::new(false);
    let more = |is_far: bool| {
        if effort < Effort::Most {
            needs_more.set(!is_far);
            return own.clone();
        }
        trial(clients, MOST, SEED + 1).map_or_else(|_| own.clone(), Option::unwrap_or_default)
    };
    let differs = counts(recorded, &own).or_else(|| waits(pair, recorded, &own, by_calendar, more));
    Ok((!needs_more.get()).then(|| differs.into()))
}

fn counts(recorded: &Ops, own: &[Op]) -> Option<Difference> {
    let numbers: Vec<u32> = own.iter().map(|op| op.attempts).collect();
    let ended: Vec<Ending> = own.iter().map(|op| op.ending).collect();
    attempts(&recorded.attempts, &numbers).or_else(|| endings(&recorded.endings, &ended))
}

fn waits(
    pair: &Pair,
    recorded: &Ops,
    own: &[Op],
    by_calendar: bool,
    more: impl Fn(bool) -> Vec<Op>,
) -> Option<Difference> {
    let waiting = [
        ("wait before the first attempt", &recorded.before_first, (|op| op.before_first) as fn(&Op) -> f64),
        ("wait after the last attempt", &recorded.after_last, |op| op.after_last),
    ];
    let at_the_ends = waiting.into_iter().find_map(|(what, waits, of)| {
        // The first recorded op is skipped, because the wait before it is unknown.
        let first = usize::from(waits.len() > 1);
        let waits = usual(waits.iter().skip(first).map(|wait| without_noise(*wait)).collect());
        let own: Vec<f64> = own.iter().skip(first).map(|op| without_noise(of(op))).collect();
        let grain = pair.grain.of_waiting();
        Delays { what, recorded: &waits, own: &own, grain, by_calendar }.difference(|_| own.clone())
    });
    at_the_ends.or_else(|| {
        (0..recorded.most_delays()).find_map(|index| {
            let at =
                |ops: &[Op]| ops.iter().filter_map(|op| op.delays.get(index).copied()).collect::<Vec<f64>>();
            let what = format!("delay {}", index + 1);
            let mut delays: Vec<f64> =
                recorded.delays.iter().filter_map(|delays| delays.get(index).copied()).collect();
            if recorded.script.to_string().contains("close") {
                delays = usual(delays);
            }
            let own = at(own);
            // If numbers of attempts were recorded, a delay that no simulated op has is not compared. These numbers have already been
            // compared, and they match. So hardly any recorded op has this delay either.
            if own.is_empty() && !recorded.attempts.is_empty() {
                return None;
            }
            Delays { what: &what, recorded: &delays, own: &own, grain: pair.grain, by_calendar }
                .difference(|is_far| at(&more(is_far)))
        })
    })
}

/// Returns the waits without outliers: the 5 % of waits (rounded down) that are furthest from the median are removed. In ops with such
/// waits, the library had to reconnect, because the connection had been closed.
fn usual(mut waits: Vec<f64>) -> Vec<f64> {
    waits.sort_by(f64::total_cmp);
    if let Some(middle) = waits.get(waits.len() / 2).copied() {
        waits.sort_by(|one, other| (one - middle).abs().total_cmp(&(other - middle).abs()));
    }
    waits.truncate(waits.len() - waits.len() / 20);
    waits
}

fn of_series(
    pair: &Pair,
    recorded: &Series,
    strategy: &StrategySpec,
) -> Result<Option<Difference>, SpecError> {
    let script = &recorded.script;
    let clients = Clients::One { pause: recorded.pause.max(Clients::AT_ONCE) };
    let mut runs = Vec::new();
    for seed in 0..RUNS {
        let trial = Trial { strategy, script, clients, ops: recorded.ops, seed: SEED + seed };
        let Some(ops) = trial.run()? else {
            return Ok(Some(Difference::new("attempts", "an end", "no end")));
        };
        runs.push(ops);
        // If two simulated runs with different seeds have equal results, the strategy makes no random draws. Further runs would have the
        // same results.
        if runs.len() == 2 && runs[0] == runs[1] {
            break;
        }
    }
    Ok(series(recorded, &runs, pair.grain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::read;

    /// Returns the verdict on a recording with these fields in its only scenario.
    fn verdict(language: &str, fields: &str, strategy: &str) -> String {
        let text = format!(
            r#"{{"library": "some", "version": "1", "language": "{language}", "interception": "sleeps",
                 "scenarios": [{{"config": "c", {fields}}}]}}"#
        );
        let recorded = read(&text).unwrap_or_else(|error| panic!("{error}"));
        match check(&recorded.pairs[0], Some(&strategy.parse().unwrap())).unwrap() {
            CheckOutcome::Reproduced => "reproduced".to_owned(),
            CheckOutcome::Differs(difference) => difference.to_string(),
            CheckOutcome::NoPreset => "no preset".to_owned(),
            CheckOutcome::Skipped(why) => format!("skipped: {why}"),
        }
    }

    /// More effort decides what less effort leaves open, and never changes a verdict.
    #[test]
    fn the_effort_of_a_check_grows_with_what_it_must_decide() {
        let text = r#"{"library": "some", "version": "1", "language": "python", "interception": "sleeps",
            "scenarios": [{"config": "c", "id": "503", "steps": [{"status": 503}], "n": 6, "attempts": 2,
                "samples": [[0.1], [0.3], [0.5], [0.7], [0.9], [1.001]]}]}"#;
        let pair = &read(text).unwrap().pairs[0];
        for (strategy, expected) in [
            ("constant:delay=500ms,max-attempts=2", [Some(false); 3]),
            ("full-jitter:base=100ms,max-attempts=2", [Some(false); 3]),
            ("full-jitter:base=900ms,max-attempts=3", [Some(false); 3]),
            ("full-jitter:base=900ms,max-attempts=2", [None, None, Some(false)]),
            ("full-jitter:base=1100ms,max-attempts=2", [None, Some(true), Some(true)]),
        ] {
            let strategy = strategy.parse().unwrap();
            for (effort, expected) in [Effort::Few, Effort::Many, Effort::Most].into_iter().zip(expected) {
                let outcome = check_within(pair, &strategy, effort).unwrap();
                let is_same = outcome.map(|outcome| outcome == CheckOutcome::Reproduced);
                assert_eq!(is_same, expected, "{strategy} {effort:?}");
            }
        }
    }

    const FIXED: &str = r#""id": "503", "steps": [{"status": 503}], "n": 6, "attempts": 3, "samples": [[0.5, 0.5]],
                           "outcome": {"type": "Failed", "status": 503}"#;

    #[test]
    fn fixed_delays_attempts_and_endings_are_reproduced_or_not() {
        for (strategy, words) in [
            ("constant:delay=500ms,max-attempts=3", "reproduced"),
            ("constant:delay=500ms,max-attempts=4", "attempts: recorded 3, here 4"),
            ("constant:delay=400ms,max-attempts=3", "delay 1: recorded 0.5 s, here always 0.4 s"),
            ("linear:base=500ms,max-attempts=3", "delay 2: recorded 0.5 s, here always 1 s"),
            ("constant:delay=500ms", "attempts: recorded at most 3, here no end"),
        ] {
            assert_eq!(verdict("python", FIXED, strategy), words, "{strategy}");
        }
        let drawn = verdict("python", FIXED, "uniform:min=0s,max=1s,max-attempts=3");
        assert!(drawn.starts_with("delay 1: recorded always 0.5 s, here drawn, "), "{drawn}");
    }

    #[test]
    fn a_different_outcome_is_reported() {
        let fields = r#""id": "x", "steps": [{"status": 503}, {"close": true}], "n": 1, "attempts": 2, "samples": [[0.5]],
                        "outcome": {"type": "Failed", "status": 503}"#;
        let words = verdict("python", fields, "constant:delay=500ms,max-attempts=2");
        assert_eq!(words, "outcome: recorded an answer with 503, here no answer");
    }

    #[test]
    fn an_unsent_status_matches_any_failure_but_no_success() {
        let fields = |then: &str| {
            format!(
                r#""id": "x", "steps": [{{"close": true}}{then}], "n": 1, "attempts": 2, "samples": [[0.5]],
                   "outcome": {{"type": "HttpError", "status": 500}}"#
            )
        };
        let strategy = "constant:delay=500ms,max-attempts=2";
        assert_eq!(verdict("python", &fields(""), strategy), "reproduced");
        let words = verdict("python", &fields(r#", {"status": 200}"#), strategy);
        assert_eq!(words, "outcome: recorded a failure, here success");
    }

    #[test]
    fn javascript_has_whole_milliseconds_and_at_least_one() {
        let fields = r#""id": "503", "steps": [{"status": 503}], "n": 6, "attempts": 3, "samples": [[0.002, 0.002]],
                        "outcome": {"type": "x"}, "sleep_before_first": 0.003"#;
        assert_eq!(verdict("javascript", fields, "immediate:max-attempts=3"), "reproduced");
        let words = verdict("python", fields, "immediate:max-attempts=3");
        assert_eq!(words, "delay 1: recorded 0.002 s, here always 0 s");
    }

    #[test]
    fn drawn_delays_are_held_against_many_draws() {
        let draws: Vec<String> =
            (0..100).map(|draw| format!("[{:.4}]", f64::from(draw * 37 % 100) / 100.0)).collect();
        let fields = format!(
            r#""id": "503", "steps": [{{"status": 503}}], "n": 100, "attempts": 2, "samples": [{}],
               "outcome": {{"type": "x"}}"#,
            draws.join(", ")
        );
        for (strategy, words) in [
            ("uniform:min=0s,max=1s,max-attempts=2", "reproduced"),
            ("uniform:min=0s,max=900ms,max-attempts=2", "delay 1: recorded 0.9"),
            (
                "uniform:min=0s,max=2s,max-attempts=2",
                "delay 1: recorded 0 s to 0.99 s, 0.495 s on average, here",
            ),
            (
                "constant:delay=500ms,max-attempts=2",
                "delay 1: recorded 0 s of 0 s to 0.99 s, here always 0.5 s",
            ),
        ] {
            let message = verdict("python", &fields, strategy);
            assert!(message.starts_with(words), "{strategy}: {message}");
        }
    }

    #[test]
    fn a_series_is_one_client() {
        let series = |attempts: &str| {
            let fields =
                format!(r#""id": "series-503", "kind": "series", "ops": 5, "attempts_per_op": {attempts}"#);
            verdict("python", &fields, "immediate:max-attempts=2+retry-budget:max=4,ratio=0.1")
        };
        assert_eq!(series("[2, 1, 1, 1, 1]"), "reproduced");
        assert_eq!(series("[2, 2, 1, 1, 1]"), "attempts of op 2: recorded 2, here 1");
    }

    #[test]
    fn one_op_in_twenty_may_have_waited_for_its_connection() {
        let waited = |count: usize| {
            let waits: Vec<f64> =
                std::iter::repeat_n(0.4, count).chain(std::iter::repeat_n(0.0, 40 - count)).collect();
            let fields = format!(
                r#""id": "200", "steps": [{{"status": 200}}], "n": 40, "attempts": 1, "samples": [[]],
                   "outcome": {{"type": "success"}}, "sleep_before_first": {waits:?}"#
            );
            verdict("python", &fields, "none")
        };
        assert_eq!(waited(2), "reproduced");
        assert!(waited(8).starts_with("wait before the first attempt: recorded 0.4 s"), "{}", waited(8));
    }

    #[test]
    fn delays_alone_may_come_from_a_strategy_without_an_end() {
        let fields =
            r#""id": "delays", "n": 1, "samples": [[0.5, 0.5, 0.5]], "outcome": {"type": "iterator"}"#;
        assert_eq!(verdict("python", fields, "constant:delay=500ms"), "reproduced");
        let words = verdict("python", fields, "constant:delay=500ms,max-attempts=3");
        assert_eq!(words, "delay 3: recorded 0.5 s, here none");
    }

    /// A pair that cannot be replayed is skipped, with or without a strategy.
    #[test]
    fn a_pair_without_a_strategy_has_no_preset() {
        let text = r#"{"library": "some", "version": "1", "language": "python", "interception": "sleeps", "scenarios":
                       [{"id": "503", "config": "c", "n": 1, "samples": [[]]},
                        {"id": "refused", "config": "c", "n": 1, "attempts": 0, "samples": [[]]}]}"#;
        let recorded = read(text).unwrap();
        let none = "none".parse().unwrap();
        assert_eq!(check(&recorded.pairs[0], None).unwrap(), CheckOutcome::NoPreset);
        for strategy in [None, Some(&none)] {
            let verdict = check(&recorded.pairs[1], strategy).unwrap();
            assert!(matches!(verdict, CheckOutcome::Skipped(_)), "{verdict:?}");
        }
    }
}
