//! The answer in one sentence.

use crate::report::document::Document;
use crate::report::html::escaped;
use crate::report::number::{number, percent};
use crate::report::run::Run;
use crate::report::strategy::Strategy;
use statistics::percentile;

/// The answer, with names as code.
pub(super) fn answer(document: &Document) -> String {
    let mut sentences = Vec::new();
    match document.strategies.as_slice() {
        [] => {}
        [one] => sentences.push(alone(one)),
        several => sentences.extend(told(several)),
    }
    sentences.extend(super::swept::answers(document));
    let claims = document.scenarios.iter().flat_map(|scenario| &scenario.claims);
    let (all, met) = claims.fold((0, 0), |(all, met), claim| (all + 1, met + usize::from(claim.as_expected)));
    match (all, met) {
        (0, _) if document.scenarios.iter().any(|scenario| scenario.sweep.is_none()) => {
            sentences.push(format!("{} scenarios without claims.", document.scenarios.len()));
        }
        (0, _) => {}
        (all, met) if all == met => sentences.push(format!("All {all} claims came out as expected.")),
        (all, met) => sentences.push(format!("{} of {all} claims did not come out as expected.", all - met)),
    }
    unbroken(&sentences.join(" "))
}

/// The text, with numbers kept on one line, as `17 399` and `44 %`.
fn unbroken(text: &str) -> String {
    let mut before = ' ';
    let kept = text.char_indices().map(|(at, letter)| {
        let after = text[at..].chars().nth(1).unwrap_or(' ');
        let inside = letter == ' ' && before.is_ascii_digit() && (after.is_ascii_digit() || after == '%');
        before = letter;
        if inside { '\u{a0}' } else { letter }
    });
    kept.collect()
}

/// Those that did everything, the soonest done first, then the others; `None` when they cannot be compared.
pub(super) fn ranked(strategies: &[Strategy]) -> Option<Vec<&Strategy>> {
    let conditions = strategies.first()?.conditions();
    if strategies.iter().any(|strategy| strategy.conditions() != conditions) {
        return None;
    }
    let mut ranked: Vec<&Strategy> = strategies.iter().collect();
    let key = |strategy: &Strategy| if strategy.complete() { makespan(strategy) } else { f64::INFINITY };
    ranked.sort_by(|a, b| key(a).total_cmp(&key(b)));
    Some(ranked)
}

/// The title of the page.
pub(super) fn title(document: &Document) -> String {
    let runs: usize = document.strategies.iter().map(|strategy| strategy.runs.len()).sum();
    match (document.strategies.as_slice(), document.scenarios.as_slice()) {
        ([one], _) => format!("{} · Tailback", escaped(&one.label)),
        ([], [one]) if one.sweep.is_some() => format!("{} · Tailback", escaped(&one.title)),
        ([], [one]) => format!("{} · Tailback", escaped(&one.name)),
        ([], several) => format!("{} scenarios · Tailback", several.len()),
        (several, _) => format!("{} strategies, {runs} runs · Tailback", several.len()),
    }
}

/// The middle of a figure over runs.
fn middle(strategy: &Strategy, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    percentile(&strategy.values(figure), 0.5)
}

fn makespan(strategy: &Strategy) -> f64 {
    middle(strategy, |run| run.makespan_s).unwrap_or(f64::INFINITY)
}

fn attempts(strategy: &Strategy) -> String {
    number(middle(strategy, |run| Some(run.attempts)).unwrap_or(0.0))
}

fn name(strategy: &Strategy) -> String {
    format!("<code>{}</code>", escaped(&strategy.label))
}

fn alone(strategy: &Strategy) -> String {
    if !strategy.complete() {
        return format!("{}.", incomplete(strategy));
    }
    let ops = number(strategy.median().ops as f64);
    let optimal = middle(strategy, |run| run.optimal_s).filter(|optimal| *optimal > 0.0);
    let against = optimal.map_or_else(String::new, |optimal| {
        let over = makespan(strategy) / optimal - 1.0;
        format!(", {} over the optimum of {} s", percent(over.max(0.0)), number(optimal))
    });
    let per_op = middle(strategy, |run| run.amplification).map_or_else(|| "–".to_owned(), number);
    let attempts = if per_op == "1" { "attempt" } else { "attempts" };
    let several = match strategy.runs.len() {
        1 => String::new(),
        runs => format!(" (median of {runs} runs)"),
    };
    format!(
        "{} did {ops} ops in {} s{against}, with {per_op} {attempts} per op{several}.",
        name(strategy),
        number(makespan(strategy))
    )
}

/// Who was first among those that did everything, and who did not. The yardstick takes no part.
fn told(strategies: &[Strategy]) -> Vec<String> {
    let Some(ranked) = ranked(strategies) else {
        return vec![format!(
            "{} settings, not ranked because they differ in more than the strategy: see the table.",
            strategies.len()
        )];
    };
    let ranked = ranked.into_iter().filter(|strategy| !strategy.is_yardstick());
    let (complete, rest): (Vec<&Strategy>, Vec<&Strategy>) = ranked.partition(|strategy| strategy.complete());
    let mut sentences = Vec::new();
    match complete.as_slice() {
        [] => sentences.push("No strategy did every op.".to_owned()),
        [only] => sentences.push(format!(
            "{} is the only one that did every op: {} ops in {} s with {} attempts.",
            name(only),
            number(only.median().ops as f64),
            number(makespan(only)),
            attempts(only)
        )),
        [first, second, ..] => {
            let gain = 1.0 - makespan(first) / makespan(second);
            let lead = if gain < 0.0005 {
                "as fast as".to_owned()
            } else {
                format!("{} sooner than", percent(gain))
            };
            sentences.push(format!(
                "{} finished first: {} ops in {} s with {} attempts, {lead} {} ({} s, {} attempts).",
                name(first),
                number(first.median().ops as f64),
                number(makespan(first)),
                attempts(first),
                name(second),
                number(makespan(second)),
                attempts(second)
            ));
        }
    }
    if !rest.is_empty() {
        let list: Vec<String> = rest.into_iter().map(incomplete).collect();
        sentences.push(format!("Incomplete: {}.", list.join("; ")));
    }
    sentences
}

fn incomplete(strategy: &Strategy) -> String {
    let run = strategy.runs.iter().find(|run| !run.complete).unwrap_or(strategy.median());
    let how = match run {
        run if run.stalled => "stalled",
        run if run.interrupted => "was interrupted",
        run if run.given_up > 0 => "gave up",
        _ => "did not finish",
    };
    let (done, of) = (number(run.succeeded as f64), number(run.ops as f64));
    let complete = strategy.runs.iter().filter(|run| run.complete).count();
    match strategy.runs.len() {
        1 => format!("{} {how}: {done} of {of} ops done", name(strategy)),
        runs => {
            format!("{} {how} in {} of {runs} runs: {done} of {of} ops done", name(strategy), runs - complete)
        }
    }
}
