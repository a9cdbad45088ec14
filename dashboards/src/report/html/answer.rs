//! The answer in one sentence.

use maud::{Markup, PreEscaped, html};
use results::Score;

use super::joined::joined;
use crate::report::document::Document;
use crate::report::experiment::Claim;
use crate::report::number::{at_least, number, percent};
use crate::report::ranking::{Ranked, ranked, ranked_by_share};
use crate::report::run::Run;
use crate::report::score::{geometric_mean, mean_score};
use crate::report::strategy::Strategy;

/// The answer, with names as code.
pub(super) fn answer(document: &Document) -> Markup {
    let mut sentences: Vec<Markup> = Vec::new();
    match document.strategies.as_slice() {
        [] => {}
        [only] => sentences.push(alone(only)),
        _ => sentences.extend(first_of_several(document)),
    }
    sentences.extend(super::swept::answers(document));
    let scenarios = || document.scenarios.iter().filter(|scenario| scenario.sweep.is_none());
    let claims: Vec<&Claim> = scenarios().flat_map(|scenario| &scenario.claims).collect();
    if claims.is_empty() && scenarios().next().is_some() {
        let scenarios = document.scenarios.len();
        sentences.push(html! { (scenarios) " scenarios without claims." });
    }
    for (ours, whose) in [(false, ""), (true, " of our own, which no source makes")] {
        let claims: Vec<&Claim> = claims.iter().copied().filter(|claim| claim.ours_alone == ours).collect();
        sentences.extend(counted(&claims, whose).map(|words| html! { (words) }));
    }
    // No tag has a blank between digits.
    PreEscaped(unbroken(&joined(sentences, " ").into_string()))
}

/// How many claims came out how, and whether that was expected.
fn counted(claims: &[&Claim], whose: &str) -> Option<String> {
    if claims.is_empty() {
        return None;
    }
    let of = |verdict: &str| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let words = [
        ("holds", "holds", "hold"),
        ("holds partly", "holds partly", "hold partly"),
        ("does not hold", "does not hold", "do not hold"),
        ("too few runs", "has too few runs to say", "have too few runs to say"),
        ("no figure", "has no figure", "have no figure"),
    ];
    let parts: Vec<String> = words
        .iter()
        .map(|(verdict, one, several)| (of(verdict), one, several))
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| format!("{count} {}", if count == 1 { one } else { several }))
        .collect();
    let expected = match claims.iter().filter(|claim| !claim.as_expected).count() {
        0 => "none came out otherwise than expected".to_owned(),
        unmet => format!("{unmet} did not come out as expected"),
    };
    Some(format!("Of {} claims{whose}, {}; {expected}.", claims.len(), parts.join(", ")))
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

/// The title of the page.
pub(super) fn title(document: &Document) -> String {
    let runs: usize = document.strategies.iter().map(|strategy| strategy.runs.len()).sum();
    match (document.strategies.as_slice(), document.scenarios.as_slice()) {
        ([strategy], _) => format!("{} · Tailback", strategy.label),
        ([], [swept]) if swept.sweep.is_some() => format!("{} · Tailback", swept.title),
        ([], [scenario]) => format!("{} · Tailback", scenario.name),
        ([], several) => format!("{} scenarios · Tailback", several.len()),
        (several, _) => format!("{} strategies, {runs} runs · Tailback", several.len()),
    }
}

/// The mean of values, as all figures over runs are told: here, in the tables below and on the terminal.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn mean_of(strategy: &Strategy, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    mean(&strategy.values(figure))
}

fn makespan(strategy: &Strategy) -> f64 {
    mean_of(strategy, |run| run.makespan_s).unwrap_or(f64::INFINITY)
}

fn attempts(strategy: &Strategy) -> String {
    number(mean_of(strategy, |run| Some(run.attempts)).unwrap_or(0.0))
}

fn name(strategy: &Strategy) -> Markup {
    html! { code { (strategy.label) } }
}

fn alone(strategy: &Strategy) -> Markup {
    if !strategy.complete() {
        return html! { (incomplete(strategy)) "." };
    }
    let ops = number(strategy.median().ops as f64);
    let bound = mean_of(strategy, |run| run.optimal_s.filter(|_| run.over_bound().is_some()));
    let against = bound.zip(mean_of(strategy, Run::over_bound)).map_or_else(String::new, |(bound, over)| {
        format!(", {} above the lower bound of {} s", percent(over), number(bound))
    });
    let per_op = mean_of(strategy, |run| run.amplification).map_or_else(|| "–".to_owned(), number);
    let attempts = if per_op == "1" { "attempt" } else { "attempts" };
    let several = match strategy.runs.len() {
        1 => String::new(),
        runs => format!(" (means of {runs} runs)"),
    };
    html! {
        (name(strategy)) " did " (ops) " ops in " (number(makespan(strategy))) " s" (against) ", with " (per_op) " "
        (attempts) " per op" (several) "."
    }
}

/// Who was first among those that did everything, and who did not. The yardstick takes no part.
fn first_of_several(document: &Document) -> Vec<Markup> {
    let (strategies, by) = (&document.strategies, document.by);
    let Some(ranked) = ranked(document) else {
        return vec![html! {
            (strategies.len())
            " settings, not ranked because they differ in more than the strategy: see the table."
        }];
    };
    if let Some(ranked) = ranked_by_share(document) {
        return by_share(&ranked, by);
    }
    let ranked = ranked.into_iter().filter(|strategy| !strategy.is_yardstick());
    let (complete, rest): (Vec<&Strategy>, Vec<&Strategy>) = ranked.partition(|strategy| strategy.complete());
    let mut sentences = Vec::new();
    match complete.as_slice() {
        [] => sentences.push(html! { "No strategy did every op." }),
        [only] => sentences.push(html! {
            (name(only)) " is the only one that did every op: " (number(only.median().ops as f64)) " ops in "
            (number(makespan(only))) " s with " (attempts(only)) " attempts."
        }),
        [first, second, ..] => sentences.push(first_ahead(first, second, by)),
    }
    if !rest.is_empty() {
        let rest = joined(rest.into_iter().map(incomplete), "; ");
        sentences.push(html! { "Incomplete: " (rest) "." });
    }
    sentences.extend(not_counted(strategies.iter()));
    sentences
}

/// The yardstick may stand first in the table below, which is strange to who does not know it.
fn not_counted<'a>(mut strategies: impl Iterator<Item = &'a Strategy>) -> Option<Markup> {
    let yardstick = strategies.find(|strategy| strategy.is_yardstick())?;
    Some(html! { "Not counted: " (name(yardstick)) ", which knows the server." })
}

fn first_ahead(first: &Strategy, second: &Strategy, by: Score) -> Markup {
    let over = match first.runs.len() {
        1 => String::new(),
        runs => format!(" Means of {runs} runs; ranks and ratio are of geometric means."),
    };
    html! { (led(first, second, by)) (over) }
}

/// The same where strategies did not do the same work: who did all is compared as ever, all others by what they did.
fn by_share(ranked: &[Ranked<'_>], by: Score) -> Vec<Markup> {
    /// More would be no answer, but the table below.
    const TOLD: usize = 4;
    let real = || ranked.iter().filter(|ranked| !ranked.strategy.is_yardstick());
    let equals: Vec<&Strategy> =
        real().filter(|ranked| ranked.standing.is_comparable()).map(|ranked| ranked.strategy).collect();
    let mut sentences = Vec::new();
    if let [first, second, ..] = equals[..] {
        sentences.push(first_ahead(first, second, by));
    }
    // One alone is compared by what it did, too.
    let by_share: Vec<&Ranked<'_>> = real()
        .filter(|ranked| ranked.standing.rank.is_some())
        .filter(|ranked| equals.len() < 2 || !ranked.standing.is_comparable())
        .collect();
    let all = by_share.len();
    let told =
        by_share.iter().enumerate().filter(|(place, _)| all <= TOLD || place + 2 < TOLD || place + 1 == all);
    let told = told.map(|(place, ranked)| match place {
        last if all > TOLD && last + 1 == all => html! { "… and least of " (all) ", " (did(ranked)) },
        _ => did(ranked),
    });
    sentences.push(html! { (joined(told, "; ")) "." });
    let stalled: Vec<Markup> = real()
        .filter(|ranked| ranked.standing.rank.is_none())
        .map(|ranked| incomplete(ranked.strategy))
        .collect();
    if !stalled.is_empty() {
        sentences.push(html! { "Not ranked: " (joined(stalled, "; ")) "." });
    }
    sentences.extend(not_counted(ranked.iter().map(|ranked| ranked.strategy)));
    sentences
}

/// What a strategy did, and what it cost.
fn did(ranked: &Ranked<'_>) -> Markup {
    let share = ranked.share();
    let is_lower_bound = ranked.standing.share_is_lower_bound();
    let part = if share >= 1.0 { "all".to_owned() } else { at_least(share, is_lower_bound) };
    let within = ranked.standing.limit.as_ref().map_or_else(String::new, |limit| format!(" within {limit}"));
    let cost = match ranked.effort().map(number) {
        Some(one) if one == "1" => "at 1 attempt per success".to_owned(),
        Some(several) => format!("at {several} attempts per success"),
        None => "and none at all in some runs".to_owned(),
    };
    html! { (name(ranked.strategy)) " did " (part) " of the ops" (within) " " (cost) }
}

/// By how much the first leads.
fn led(first: &Strategy, second: &Strategy, by: Score) -> Markup {
    let ratio = geometric_mean(by, second) / geometric_mean(by, first);
    let ahead = |same: &str, words: &str| {
        if ratio < 1.0005 { same.to_owned() } else { format!("{}× {words}", number(ratio)) }
    };
    let (ops, makespan) =
        (number(first.median().ops as f64), |strategy| format!("{} s", number(makespan(strategy))));
    match by {
        by if by == Score::makespan() => html! {
            (name(first)) " finished first: " (ops) " ops in " (makespan(first)) " with " (attempts(first)) " attempts, "
            (ahead("as fast as", "sooner than")) " " (name(second)) " (" (makespan(second)) ", " (attempts(second))
            " attempts)."
        },
        by if by == Score::attempts() => html! {
            (name(first)) " needed the fewest attempts: " (attempts(first)) " for " (ops) " ops in " (makespan(first)) ", "
            (ahead("as many as", "fewer than")) " " (name(second)) " (" (attempts(second)) " attempts, "
            (makespan(second)) ")."
        },
        other => html! {
            (name(first)) " has the least " (other.title()) ": " (mean_score(other, first)) " in " (ops) " ops with " (attempts(first))
            " attempts, " (ahead("as", "less than")) " " (name(second)) " (" (mean_score(other, second)) ", " (attempts(second))
            " attempts)."
        },
    }
}

fn incomplete(strategy: &Strategy) -> Markup {
    let run = strategy.runs.iter().find(|run| !run.complete).unwrap_or(strategy.median());
    let how = match run {
        run if run.stalled => "stalled",
        run if run.interrupted => "was interrupted",
        run if run.lacks_clients() => "lacks clients",
        run if run.given_up > 0 => "gave up",
        _ => "did not finish",
    };
    let share = mean_of(strategy, Run::share_done).unwrap_or_default();
    let share = at_least(share, strategy.share_is_lower_bound());
    let complete = strategy.runs.iter().filter(|run| run.complete).count();
    let in_runs = match strategy.runs.len() {
        1 => String::new(),
        runs => format!(" in {} of {runs} runs", runs - complete),
    };
    html! { (name(strategy)) " " (how) (in_runs) ": " (share) " of its ops done" }
}
