//! Tables on the first screen of the report: ranking, figures, pairs, failures, warnings, claims.

use std::collections::BTreeMap;

use loadgen_core::FailureResult;
use maud::{Markup, html};
use results::numbers::{level, milliseconds, percent, seconds, thousands, three};
use results::{
    Answer, Claim, Figure, RankedBy, Row, RowRank, Score, Times, WarningGroups, is_about_machine, pair_rows,
};
use statistics::percentile;

use crate::report::plots::capitalised;
use crate::report::run::positive;
use crate::report::{Document, Ranking, Run, Strategy, number};
use crate::text;

const MAX_WARNINGS: usize = 4;

struct Column {
    head: &'static str,
    figure: fn(&Run) -> Option<f64>,
    text: fn(f64) -> String,
}

const fn column(head: &'static str, figure: fn(&Run) -> Option<f64>, text: fn(f64) -> String) -> Column {
    Column { head, figure, text }
}

/// Columns with general figures of a run. Below a ranking, the first `RANKED` of them are left out, because the ranking
/// contains these figures.
const FIGURES: [Column; 8] = [
    column("makespan", Run::complete_makespan_s, seconds),
    column("attempts", |run| Some(run.attempts()), count),
    column("done", Run::share_done, percent),
    column("over the lower bound", Run::over_bound, percent),
    column("attempts per op", |run| positive(run.result.amplification), three),
    column("efficiency", Run::efficiency, percent),
    column("op latency p50", |run| run.latency_ms(0.5), milliseconds),
    column("op latency p99", |run| run.latency_ms(0.99), milliseconds),
];

const RANKED: usize = 3;

/// Columns with side effects on the server, on the client itself and on other clients. A column is shown if at least
/// one run has its figure.
const SIDE_EFFECTS: [Column; 8] = [
    column("wasted server time", |run| figure(run, "wasted_server_s"), seconds),
    column("server time per op done", |run| figure(run, "server_work_per_success_ms"), milliseconds),
    column("retries too early", |run| figure(run, "advice.broken").filter(|count| *count > 0.0), count),
    column(
        "requests too early",
        |run| figure(run, "advice.early_shared").filter(|count| *count > 0.0),
        count,
    ),
    column("window fits after", |run| figure(run, "window.convergence_s"), seconds),
    column("window spread", |run| figure(run, "window.variation"), percent),
    column("ops late", |run| figure(run, "late_share"), percent),
    column("jain", |run| figure(run, "fairness.jain"), three),
];

fn figure(run: &Run, path: &str) -> Option<f64> {
    Figure::find(path)?.of(&run.result).filter(|value| value.is_finite())
}

fn count(value: f64) -> String {
    thousands(text::whole(value))
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn tables(document: &Document) -> Markup {
    html! {
        @match (&document.ranking, document.strategies.as_slice()) {
            (_, []) => {}
            (Some(ranking), strategies) => (ranked(ranking, strategies)),
            (None, [only]) => (alone(only)),
            (None, several) => (unranked(several)),
        }
        (failures_table(document))
        (warnings(document))
        (super::swept::tables(document))
        (claims(document))
    }
}

/// On a narrow screen, the columns after the ratio are in a second line below the strategy.
fn ranked(ranking: &Ranking, strategies: &[Strategy]) -> Markup {
    let answer = &ranking.answer;
    let (before, after) = answer.columns();
    html! {
        table class="ranking" {
            thead {
                tr {
                    th {} th { "strategy" }
                    @for column in &before { th { (answer.title(*column)) } }
                    th { "× best" }
                    @for column in &after { th class="wide" { (answer.title(*column)) } }
                }
            }
            tbody {
                @for row in &answer.rows {
                    tr class=[row_class(row)] {
                        td { (answer.mark(row)) }
                        td {
                            code { (row.strategy) }
                            small class="narrow" {
                                @for (number, column) in after.iter().enumerate() {
                                    @if number > 0 { " · " }
                                    span { (answer.title(*column)) " " (answer.cell(*column, row)) }
                                }
                            }
                        }
                        @for column in &before { td { (answer.cell(*column, row)) } }
                        (times_best(answer, row))
                        @for column in &after { td class="wide" { (answer.cell(*column, row)) } }
                    }
                }
            }
        }
        p class="note" { (caption(answer)) }
        (details(ranking, strategies))
    }
}

fn row_class(row: &Row) -> Option<&'static str> {
    match row.place {
        RowRank::Ranked { rank: 1, .. } => Some("best"),
        RowRank::Stopped { .. } => Some("stopped"),
        _ => None,
    }
}

fn times_best(answer: &Answer, row: &Row) -> Markup {
    let range = row.range_cell(answer.seeds);
    let may_be_one = row.times_best.is_some_and(|times| times.interval.is_some() && times.may_be_one());
    html! {
        td class=[may_be_one.then_some("dim")] {
            (row.times_cell())
            @if !range.is_empty() && range != "–" {
                small { (range) @if matches!(row.place, RowRank::Stopped { .. }) { " runs" } }
            }
        }
    }
}

fn caption(answer: &Answer) -> String {
    let has = |place: fn(&Row) -> bool| answer.rows.iter().any(place);
    let mut words = vec![match answer.seeds {
        1 => "One run of each strategy: ranks and intervals need at least 5 seeds.".to_owned(),
        seeds if !answer.has_intervals() => {
            format!("Geometric means of {seeds} runs; ranks and intervals need at least 5 seeds.")
        }
        seeds => {
            let means = match answer.ranked_by {
                RankedBy::Share => format!("Means of {seeds} runs."),
                _ if answer.by == Score::attempts() => {
                    format!("Attempts are geometric means of {seeds} runs.")
                }
                _ => format!(
                    "{} and attempts are geometric means of {seeds} runs.",
                    capitalised(answer.figure().column())
                ),
            };
            format!(
                "{means} × best: geometric mean of the ratios to the best strategy, paired by seed; below it the interval at {}, \
                 so that all intervals of this report hold together in 95 % of reports.",
                level(answer.level)
            )
        }
    }];
    if answer.has_intervals() && has(|row| matches!(row.place, RowRank::Ranked { is_tied: true, .. })) {
        words.push("= strategies are not distinguishable, or equal within 2 %.".to_owned());
    }
    if has(|row| matches!(row.place, RowRank::Stopped { .. })) {
        words.push("! not ranked, because runs were stopped.".to_owned());
    }
    if has(|row| row.place == RowRank::KnowsServer) {
        words.push("* knows the server's configuration, as no real client can.".to_owned());
    }
    if answer.has_early() {
        words.push(
            "early: requests sent while the server had asked the client to wait, as a mean of the runs."
                .to_owned(),
        );
    }
    if has(|row| row.done_is_lower_bound) {
        words.push("≥ a lower bound, because a run was stopped early.".to_owned());
    }
    if answer.ranked_by != RankedBy::Score {
        words.push(
            "Strategies with more ops done come first, then those with fewer attempts per op done; makespans are compared only among strategies that did \
             every op."
                .to_owned(),
        );
    }
    words.join(" ")
}

fn details(ranking: &Ranking, strategies: &[Strategy]) -> Markup {
    let pairs = pair_rows(&ranking.answer, &ranking.standings);
    let columns: Vec<&Column> = FIGURES[RANKED..].iter().chain(known(&SIDE_EFFECTS, strategies)).collect();
    html! {
        details class="figures" {
            summary { "All figures" }
            (figures(strategies, &columns, &FIGURES[..2]))
        }
        @if !pairs.is_empty() {
            details class="pairs" {
                summary { "Every pair" }
                div class="scroll" {
                    table {
                        thead {
                            tr {
                                th class="words" { "strategy" } th class="words" { "against" }
                                th { (ranking.answer.figure().column()) }
                                @if ranking.answer.figure() != Score::attempts() { th { "attempts" } }
                            }
                        }
                        tbody {
                            @for pair in &pairs {
                                tr {
                                    td class="words" { code { (pair.second) } }
                                    td class="words" { code { (pair.first) } }
                                    td { (ratio(pair.figure)) }
                                    @if ranking.answer.figure() != Score::attempts() { td { (ratio(pair.attempts)) } }
                                }
                            }
                        }
                    }
                }
                p class="note" {
                    "Ratios of the first strategy to the second: geometric means over runs paired by seed"
                    @if ranking.answer.has_intervals() { ", with their intervals at " (level(ranking.answer.level)) }
                    ". –: the two strategies did not do the same ops."
                }
            }
        }
    }
}

fn ratio(times: Option<Times>) -> Markup {
    html! {
        @match times {
            None => "–",
            Some(times) => { (times.ratio_text()) @if let Some(range) = times.range_text() { small { (range) } } }
        }
    }
}

/// Returns the columns whose figure is known for at least one run.
fn known<'a>(
    columns: impl IntoIterator<Item = &'a Column>,
    strategies: &[Strategy],
) -> impl Iterator<Item = &'a Column> {
    let runs = || strategies.iter().flat_map(|strategy| &strategy.runs);
    columns.into_iter().filter(move |column| runs().any(|run| (column.figure)(run).is_some()))
}

/// Returns a table with the mean figures of every strategy over its runs. The columns in `spreads` come first. They
/// show the range from the 5th to the 95th percentile instead of a mean.
fn figures(strategies: &[Strategy], columns: &[&Column], spreads: &[Column]) -> Markup {
    let is_repeated = strategies.iter().any(|strategy| strategy.runs.len() > 1);
    let spreads = if is_repeated { spreads } else { &[] };
    html! {
        div class="scroll" {
            table {
                thead {
                    tr {
                        th { "strategy" }
                        @for column in spreads { th { (column.head) ", 5th to 95th percentile" } }
                        @for column in columns { th { (column.head) } }
                        @if is_repeated { th { "runs" } }
                    }
                }
                tbody {
                    @for strategy in strategies {
                        tr {
                            td { code { (strategy.label) } }
                            @for column in spreads { td { (spread(strategy, column).unwrap_or_else(dash)) } }
                            @for column in columns { td { (over_runs(strategy, column)) } }
                            @if is_repeated { td { (strategy.runs.len()) } }
                        }
                    }
                }
            }
        }
        p class="note" { (legend(columns, is_repeated)) }
    }
}

fn legend(columns: &[&Column], is_repeated: bool) -> String {
    let meaning = |column: &&Column| match column.head {
        "op latency p99" => Some("Latencies include only ops that succeeded."),
        "wasted server time" => {
            Some("Wasted: time of the server's slots spent on rejections and abandoned attempts.")
        }
        "window fits after" => Some("Fits: time until the window stayed within 10 % of the server's cap."),
        "window spread" => Some("Spread: standard deviation over mean."),
        "jain" => Some("Jain's index of fairness: 1 if all clients received the same."),
        _ => None,
    };
    let means = is_repeated.then_some("Means over runs; below them, 5th to 95th percentile.");
    let words: Vec<&str> = means.into_iter().chain(columns.iter().filter_map(meaning)).collect();
    words.join(" ")
}

fn unranked(strategies: &[Strategy]) -> Markup {
    let columns: Vec<&Column> = FIGURES.iter().chain(known(&SIDE_EFFECTS, strategies)).collect();
    figures(strategies, &columns, &[])
}

fn alone(strategy: &Strategy) -> Markup {
    let columns = FIGURES.iter().chain(&SIDE_EFFECTS);
    let columns: Vec<&Column> = known(columns, std::slice::from_ref(strategy)).collect();
    let is_repeated = strategy.runs.len() > 1;
    html! {
        table class="alone" {
            @if is_repeated {
                thead { tr { th {} th { "mean of " (strategy.runs.len()) " runs" } th { "5th to 95th percentile" } } }
            }
            tbody {
                @for column in &columns {
                    tr {
                        th { (column.head) }
                        td { (mean_text(strategy, column)) }
                        @if is_repeated { td { (spread(strategy, column).unwrap_or_default()) } }
                    }
                }
            }
        }
        p class="note" { (legend(&columns, false)) }
    }
}

fn mean_text(strategy: &Strategy, column: &Column) -> String {
    let bound = if column.head == "done" && strategy.share_is_lower_bound() { "≥ " } else { "" };
    let mean = mean(&strategy.values(column.figure));
    mean.map_or_else(dash, |mean| format!("{bound}{}", (column.text)(mean)))
}

/// Formats the range of a figure from the 5th to the 95th percentile over a strategy's runs, such as `24.9–25.6 s`.
/// Returns `None` if fewer than two runs have the figure, or if both percentiles are formatted as the same text.
fn spread(strategy: &Strategy, column: &Column) -> Option<String> {
    let values = strategy.values(column.figure);
    let [low, high] = [percentile(&values, 0.05)?, percentile(&values, 0.95)?].map(column.text);
    let is_unit = |text: &str| text.starts_with(|c: char| !c.is_ascii_digit());
    let low = match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other && is_unit(unit) => number,
        _ => &low,
    };
    (values.len() > 1 && low != high).then(|| format!("{low}–{high}"))
}

fn over_runs(strategy: &Strategy, column: &Column) -> Markup {
    html! {
        (mean_text(strategy, column))
        @if let Some(spread) = spread(strategy, column) { small { (spread) } }
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn warnings(document: &Document) -> Markup {
    let mut warnings: Vec<(String, Vec<&str>)> = Vec::new();
    for strategy in &document.strategies {
        let mut groups = WarningGroups::default();
        strategy.runs.iter().for_each(|run| groups.note(&run.result.warnings));
        for (_, warning) in groups.iter() {
            match warnings.iter_mut().find(|(there, _)| *there == warning) {
                Some((_, labels)) => labels.push(&strategy.label),
                None => warnings.push((warning, vec![&strategy.label])),
            }
        }
    }
    warnings.sort_by_key(|(warning, _)| is_about_machine(warning));
    let list = html! {
        ul class="warnings" {
            @for (warning, labels) in &warnings {
                li { (warning) " " span class="note" { "(" (labels.join(", ")) ")" } }
            }
        }
    };
    html! {
        @if warnings.len() > MAX_WARNINGS {
            details { summary { (warnings.len()) " warnings" } (list) }
        } @else if !warnings.is_empty() {
            (list)
        }
    }
}

fn claims(document: &Document) -> Markup {
    html! {
        @for scenario in document.unplotted().filter(|scenario| !scenario.claims.is_empty()) {
            h2 { (scenario.name) }
            div class="scroll" {
                table {
                    thead {
                        tr { th { "claim" } th { "published" } th { "tested" } th { "ours" } th { "verdict" } }
                    }
                    tbody { @for claim in &scenario.claims { (row(claim)) } }
                }
            }
        }
    }
}

fn row(claim: &Claim) -> Markup {
    html! {
        tr {
            td { (claim.says) @if claim.ours_alone { " " em { "(ours, not the source’s)" } } }
            td { (claim.published) }
            td { (condition(claim)) }
            td { (claim.ours) }
            td class="words" {
                // A claim that was not decided, because there were too few runs, counts as expected.
                @if claim.as_expected == Some(false) { strong { (claim.verdict.words()) " (not as expected)" } }
                @else { (claim.verdict.words()) }
            }
        }
    }
}

/// Returns the condition by which a claim was tested, in words. If the words of the source were interpreted, the
/// interpretation follows in parentheses.
pub(super) fn condition(claim: &Claim) -> String {
    match claim.means.as_str() {
        "" => claim.condition.clone(),
        means => format!("{} ({means})", claim.condition),
    }
}

/// Maximum number of kinds of failure that are listed for one strategy.
const MAX_FAILURES: usize = 20;

/// Returns a table of the failed attempts of every strategy. The markup is empty if no attempt failed, or if the
/// results are too old to record failures.
pub(super) fn failures_table(document: &Document) -> Markup {
    let failed = document.strategies.iter().flat_map(|strategy| {
        let failed = counted(strategy.runs.iter().flat_map(|run| &run.result.failures));
        failed.into_iter().take(MAX_FAILURES).map(|(what, attempts)| (&strategy.label, what, attempts))
    });
    let failed: Vec<_> = failed.collect();
    html! {
        @if !failed.is_empty() {
            h2 { "What failed" }
            div class="scroll" {
                table {
                    thead { tr { th { "strategy" } th { "status or error" } th { "attempts" } } }
                    tbody {
                        @for (label, what, attempts) in failed {
                            tr { td { code { (label) } } td { (what) } td { (number(attempts)) } }
                        }
                    }
                }
            }
        }
    }
}

fn counted<'a>(failures: impl Iterator<Item = &'a FailureResult>) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for failure in failures {
        let status = failure.status.map(|status| status.to_string());
        let what = status.or_else(|| Some(failure.kind?.to_string()));
        if let Some(what) = what {
            *counts.entry(what).or_default() += failure.attempts as f64;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failures with neither are left out.
    #[test]
    fn failures_are_summed_by_status_and_kind_over_all_runs() {
        let runs = [
            r#"[{ "status": 404, "kind": null, "attempts": 3 }, { "attempts": 7 }]"#,
            r#"[{ "status": null, "kind": "long-headers", "attempts": 5 }]"#,
            r#"[{ "status": 404, "kind": null, "attempts": 4 }]"#,
            "[]",
        ];
        let failures: Vec<FailureResult> =
            runs.iter().flat_map(|run| results::read::<Vec<FailureResult>>(run).unwrap()).collect();
        let expected = [("404".to_owned(), 7.0), ("long-headers".to_owned(), 5.0)];
        assert_eq!(counted(failures.iter()), expected);
    }
}
