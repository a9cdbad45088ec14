//! Heading of the report: the answer in one sentence, and below it the strategies and runs that the answer does not
//! include.

use maud::{Markup, PreEscaped, html};
use results::numbers::{at_least, counted as number_of, seconds, thousands};
use results::{Claim, Row, RowRank, RunResult, same_winner_sentence};

use crate::report::html::swept::sentence;
use crate::report::{Document, Ranking, Run, Strategy};

const MAX_NAMED: usize = 4;

pub(super) fn answer(document: &Document) -> Markup {
    let mut sentences: Vec<Markup> = Vec::new();
    match (document.strategies.as_slice(), &document.ranking) {
        ([], _) => {}
        ([only], _) => sentences.push(alone(only)),
        (_, Some(ranking)) => match ranking.unthrottled().filter(|unthrottled| unthrottled.are_equal) {
            Some(unthrottled) => sentences.push(html! { (unthrottled.sentence()) }),
            None => sentences.push(sentence(&ranking.answer.headline())),
        },
        (several, None) => sentences.push(html! {
            (several.len()) " settings, not ranked because they differ in more than the strategy: see the table."
        }),
    }
    sentences.extend(super::swept::answers(document));
    let claims: Vec<&Claim> = document.reproduced().flat_map(|scenario| &scenario.claims).collect();
    if claims.is_empty() && document.reproduced().next().is_some() {
        sentences.push(html! { (document.scenarios.len()) " scenarios without claims." });
    }
    sentences.extend(counted(&claims).map(|words| html! { (words) }));
    // Non-breaking spaces can be inserted into the finished markup. They damage no tag, because no tag contains a space
    // between digits.
    PreEscaped(unbroken(&joined(sentences, " ").into_string()))
}

/// Returns the sentences that follow the answer. They give the number of seeds, the strategies that gave up ops, and
/// whether the answer depends on the server.
pub(super) fn more(document: &Document) -> Markup {
    let Some(ranking) = &document.ranking else { return html! {} };
    let own_limits = ranking.unthrottled().filter(|unthrottled| !unthrottled.are_equal);
    let further = ranking.answer.sentences(ranking.mode).into_iter().skip(1);
    let sentences = further.chain(same_winner_sentence(&document.sensitivity));
    html! {
        @for words in sentences { p class="more" { (sentence(&words)) } }
        @if let Some(own_limits) = own_limits { p class="more" { (own_limits.sentence()) } }
    }
}

pub(super) fn incomplete(document: &Document) -> Markup {
    let mut parts = document.ranking.as_ref().map(stopped).unwrap_or_default();
    if let [only] = document.strategies.as_slice() {
        parts.extend(how_it_ended(only).map(|how| html! { code { (only.label) } " " (how) }));
    }
    html! {
        @if !parts.is_empty() {
            p class="incomplete" {
                (PreEscaped(unbroken(&html! { "Incomplete: " (joined(parts, "; ")) "." }.into_string())))
            }
        }
        @for words in &document.incomplete { p class="incomplete" { (words) } }
    }
}

fn stopped(ranking: &Ranking) -> Vec<Markup> {
    let rows = ranking.answer.rows.iter();
    let stopped: Vec<&Row> = rows.filter(|row| matches!(row.place, RowRank::Stopped { .. })).collect();
    let more = stopped.len().saturating_sub(MAX_NAMED);
    let reason = |row: &Row| {
        let standing = ranking.standings.iter().find(|standing| standing.strategy == row.strategy)?;
        standing.incomplete.as_deref()
    };
    let part = |row: &Row| html! { code { (row.strategy) } " " (reason(row).unwrap_or("has no rank")) };
    let mut parts: Vec<Markup> = stopped.into_iter().take(MAX_NAMED).map(part).collect();
    if more > 0 {
        parts.push(html! { (more) " more were stopped" });
    }
    parts
}

fn how_it_ended(strategy: &Strategy) -> Option<String> {
    let results = strategy.runs.iter().map(|run| &run.result);
    let short: Vec<&RunResult> = results.filter(|run| !run.makespan_complete).collect();
    let how = match short.first()? {
        run if run.stalled_at_s.is_some() => "stalled",
        run if run.interrupted.is_some() => "was interrupted",
        run if run.ops.given_up > 0 => "gave up ops",
        _ => "did not finish",
    };
    Some(match strategy.runs.len() {
        1 => how.to_owned(),
        runs => format!("{how} in {} of {runs} runs", short.len()),
    })
}

fn counted(claims: &[&Claim]) -> Option<String> {
    if claims.is_empty() {
        return None;
    }
    let (ours, others): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.ours_alone);
    let parts: Vec<String> = [(others, ""), (ours, " of this project, which no source makes")]
        .iter()
        .filter(|(claims, _)| !claims.is_empty())
        .map(|(claims, whose)| {
            format!("{}{whose}: {}", number_of(claims.len() as u64, "claim"), verdicts(claims))
        })
        .collect();
    let expected = match claims.iter().filter(|claim| claim.as_expected == Some(false)).count() {
        0 => "All as expected".to_owned(),
        unmet => format!("{unmet} of {} not as expected", claims.len()),
    };
    Some(format!("{}. {expected}.", parts.join("; ")))
}

fn verdicts(claims: &[&Claim]) -> String {
    let words = [
        ("holds", "holds", "hold"),
        ("holds partly", "holds partly", "hold partly"),
        ("does not hold", "does not hold", "do not hold"),
        ("too few runs", "has too few runs", "have too few runs"),
        ("no figure", "has no figure", "have no figure"),
    ];
    let part = |(verdict, one, several)| match claims
        .iter()
        .filter(|claim| claim.verdict.words() == verdict)
        .count()
    {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {several}")),
    };
    words.into_iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

/// Returns the text with non-breaking spaces inside numbers and before their units, as in `17 399`, `44 %` and `25.2 s`.
fn unbroken(text: &str) -> String {
    const UNITS: [&str; 5] = ["%", "s", "ms", "min", "×"];
    let has_unit = |rest: &str| {
        let word = rest.split(|letter: char| !letter.is_alphabetic() && !"%×".contains(letter)).next();
        UNITS.contains(&word.unwrap_or_default())
    };
    let mut before = ' ';
    let kept = text.char_indices().map(|(at, letter)| {
        let rest = &text[at + letter.len_utf8()..];
        let is_inside = letter == ' ' && before.is_ascii_digit();
        let is_kept = is_inside && (rest.starts_with(|next: char| next.is_ascii_digit()) || has_unit(rest));
        before = letter;
        if is_kept { '\u{a0}' } else { letter }
    });
    kept.collect()
}

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

fn alone(strategy: &Strategy) -> Markup {
    let mean = |figure: fn(&Run) -> Option<f64>| super::table::mean(&strategy.values(figure));
    let time = mean(Run::makespan_s).map(seconds).unwrap_or_default();
    let name = html! { code { (strategy.label) } };
    if strategy.complete() {
        let ops = thousands(strategy.median().result.ops.share_base());
        let bound = mean(Run::optimal_s).map(seconds);
        return html! {
            (name) ": all " (ops) " ops done in " (time)
            @if let Some(bound) = bound { " (no client can be faster than " (bound) ")" } "."
        };
    }
    let share = at_least(mean(Run::share_done).unwrap_or_default(), strategy.share_is_lower_bound());
    match strategy.runs.as_slice() {
        [Run { result: RunResult { ops, .. }, .. }] => html! {
            (name) ": " (thousands(ops.succeeded)) " of " (thousands(ops.share_base())) " ops done (" (share) ")"
            @if ops.given_up > 0 { ", " (thousands(ops.given_up)) " given up after rejections" }
            @if !time.is_empty() { ", in " (time) } "."
        },
        runs => html! { (name) ": " (share) " of the ops done, mean of " (runs.len()) " runs." },
    }
}

/// Joins pieces of HTML, with a separator between any two.
pub(super) fn joined(pieces: impl IntoIterator<Item = Markup>, between: &str) -> Markup {
    html! {
        @for (index, piece) in pieces.into_iter().enumerate() {
            @if index > 0 { (between) }
            (piece)
        }
    }
}
