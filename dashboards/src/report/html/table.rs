//! The tables of the first screen: strategies, warnings, what a comparison found, claims.

use maud::{Markup, html};
use results::Figure;

use super::answer::mean;
use crate::report::document::Document;
use crate::report::experiment::Claim;
use crate::report::number::{number, percent};
use crate::report::ranking::{Ranked, ranked, ranked_by_share};
use crate::report::run::Run;
use crate::report::strategy::Strategy;
use statistics::percentile;

/// A column: its head, and a run's figure with its text.
type Column = (&'static str, fn(&Run) -> Option<f64>, fn(f64) -> String);

/// The most important first: on a phone no others can be seen without scrolling.
const COLUMNS: &[Column] = &[
    ("makespan s", |run| run.makespan_s.filter(|_| run.complete), number),
    ("over the lower bound", Run::over_bound, percent),
    ("attempts", |run| Some(run.attempts), number),
    ("attempts per op", |run| run.amplification, number),
    ("efficiency", |run| run.efficiency, percent),
    ("op latency p50 s", |run| run.latency_ms(0.5).map(|ms| ms / 1e3), number),
    ("p99 s", |run| run.latency_ms(0.99).map(|ms| ms / 1e3), number),
];

/// What is compared where strategies did not do the same work; before all else, where they did not.
const BY_SHARE: &[Column] = &[
    ("attempts per success", |run| figure(run, "attempts_per_success"), number),
    ("server ms per success", |run| figure(run, "server_work_per_success_ms"), number),
    ("retries too early", |run| figure(run, "advice.broken"), number),
];

/// What strategies do to the server, to themselves and to one another; each is shown where some run has it.
const SIDE_EFFECTS: &[Column] = &[
    ("wasted server s", |run| figure(run, "wasted_server_s"), number),
    ("window fits after s", |run| figure(run, "window.convergence_s"), number),
    ("window spread", |run| figure(run, "window.variation"), percent),
    ("ops late", |run| figure(run, "late_share"), percent),
    ("jain", |run| figure(run, "fairness.jain"), number),
];

/// A figure by its place in the result.
fn figure(run: &Run, path: &str) -> Option<f64> {
    Figure::find(path)?.of(run.result.as_deref()?).filter(|value| value.is_finite())
}

/// All tables that have something to say.
pub(super) fn tables(document: &Document) -> Markup {
    html! {
        @if !document.strategies.is_empty() { (strategies(document)) }
        (warnings(document))
        @if !document.comparison.is_empty() {
            h2 { "Comparison" }
            ul { @for words in &document.comparison { li { (words) } } }
        }
        (super::swept::tables(document))
        (claims(document))
    }
}

fn strategies(document: &Document) -> Markup {
    let repeated = document.strategies.iter().any(|strategy| strategy.runs.len() > 1);
    let incomplete = document.strategies.iter().any(|strategy| !strategy.complete());
    let by_share = ranked_by_share(document).unwrap_or_default();
    html! {
        @if !by_share.is_empty() { (shares(&by_share, document)) }
        div class="scroll" {
            table {
                thead {
                    tr {
                        th { "strategy" }
                        @for (head, ..) in COLUMNS { th { (head) } }
                        th { "share of ops done" }
                        @if repeated { th { "runs" } }
                    }
                }
                tbody {
                    @for strategy in in_order(document) {
                        tr {
                            td { code { (strategy.label) } }
                            @for (_, figure, text) in COLUMNS { td { (over_runs(&strategy.values(figure), *text)) } }
                            td { (share_over_runs(strategy, Run::share_done)) }
                            @if repeated { td { (strategy.runs.len()) } }
                        }
                    }
                }
            }
        }
        @if repeated {
            p class="note" {
                "Means over runs; below them, 5th to 95th percentile."
                @if by_share.is_empty() { " Ranked by the geometric mean of the " (document.by.title()) "." }
            }
        }
        @if incomplete {
            p class="note" {
                "Latencies are of ops that succeeded. A strategy that did not do every op has no makespan."
            }
        }
        (super::failures::table(document))
        (side_effects(document))
    }
}

/// What those did who did not do the same work, and what that cost.
fn shares(ranked: &[Ranked<'_>], document: &Document) -> Markup {
    let limit = ranked.iter().find_map(|ranked| ranked.standing.limit.as_ref());
    let shown = |(_, figure, _): &&Column| {
        let mut runs = document.strategies.iter().flat_map(|strategy| &strategy.runs);
        runs.any(|run| figure(run).is_some_and(|value| value > 0.0))
    };
    let columns: Vec<&Column> = BY_SHARE.iter().filter(shown).collect();
    html! {
        div class="scroll" {
            table {
                thead {
                    tr {
                        th { "strategy" }
                        th { "rank" }
                        th { @match limit { None => "share of ops done", Some(limit) => { "done within " (limit) } } }
                        @for (head, ..) in &columns { th { (head) } }
                    }
                }
                tbody {
                    @for Ranked { strategy, standing } in ranked {
                        tr {
                            td { code { (strategy.label) } }
                            td { @if standing.on_front { "◆ " } @match standing.rank { None => "–", Some(rank) => (rank) } }
                            td { (share_over_runs(strategy, |run| figure(run, "done_share"))) }
                            @for (_, figure, text) in &columns { td { (of_every_run(strategy, *figure, *text)) } }
                        }
                    }
                }
            }
        }
        p class="note" {
            "Ranked by the share of ops done, then by attempts per success: makespans of unequal work are not compared. Those that did              every op are ranked by the " (document.by.title()) " among one another. ◆ Pareto front: no other gets more done and              needs fewer attempts per success."
        }
    }
}

/// A share of ops done, and how it spreads; with `≥` where a run was stopped that might have done more.
fn share_over_runs(strategy: &Strategy, share: fn(&Run) -> Option<f64>) -> Markup {
    let bound = if strategy.share_is_lower_bound() { "≥ " } else { "" };
    html! { (bound) (over_runs(&strategy.values(share), percent)) }
}

/// A figure that says something only where every run has it.
fn of_every_run(strategy: &Strategy, figure: fn(&Run) -> Option<f64>, text: fn(f64) -> String) -> Markup {
    let values = strategy.values(figure);
    if values.len() < strategy.runs.len() {
        html! { "–" }
    } else {
        over_runs(&values, text)
    }
}

/// The best first, where they can be compared.
fn in_order(document: &Document) -> Vec<&Strategy> {
    ranked(document).unwrap_or_else(|| document.strategies.iter().collect())
}

fn side_effects(document: &Document) -> Markup {
    let runs = || document.strategies.iter().flat_map(|strategy| &strategy.runs);
    let known = |(_, figure, _): &&Column| runs().any(|run| figure(run).is_some());
    let columns: Vec<&Column> = SIDE_EFFECTS.iter().filter(known).collect();
    if columns.is_empty() {
        return html! {};
    }
    let notes: Vec<&str> = columns.iter().filter_map(|(head, ..)| meaning(head)).collect();
    html! {
        h2 { "Side effects" }
        div class="scroll" {
            table {
                thead { tr { th { "strategy" } @for (head, ..) in &columns { th { (head) } } } }
                tbody {
                    @for strategy in in_order(document) {
                        tr {
                            td { code { (strategy.label) } }
                            @for (_, figure, text) in &columns { td { (over_runs(&strategy.values(figure), *text)) } }
                        }
                    }
                }
            }
        }
        p class="note" { (notes.join(" ")) }
    }
}

/// What a column says, where its head does not.
fn meaning(head: &str) -> Option<&'static str> {
    match head {
        "wasted server s" => {
            Some("Wasted: time of the server's slots spent on rejections and abandoned attempts.")
        }
        "window fits after s" => {
            Some("Fits: when the window had come within 10 % of the server's cap and stayed there.")
        }
        "window spread" => Some("Spread: standard deviation over mean."),
        "jain" => Some("Jain's index: 1 when all clients got the same."),
        _ => None,
    }
}

fn over_runs(sorted: &[f64], text: fn(f64) -> String) -> Markup {
    let Some(mean) = mean(sorted) else { return html! { "–" } };
    let [low, high] = [0.05, 0.95].map(|share| text(percentile(sorted, share).unwrap_or(mean)));
    html! {
        (text(mean))
        @if sorted.len() > 1 && low != high { small { (low.trim_end_matches(" %")) "–" (high) } }
    }
}

/// Every warning once, with the strategies that it is about.
fn warnings(document: &Document) -> Markup {
    let mut warnings: Vec<(&str, Vec<&str>)> = Vec::new();
    for strategy in &document.strategies {
        for warning in strategy.runs.iter().flat_map(|run| &run.warnings) {
            match warnings.iter_mut().find(|(there, _)| there == warning) {
                Some((_, labels)) if labels.contains(&strategy.label.as_str()) => {}
                Some((_, labels)) => labels.push(&strategy.label),
                None => warnings.push((warning, vec![&strategy.label])),
            }
        }
    }
    html! {
        @if !warnings.is_empty() || !document.incomplete.is_empty() {
            ul class="warnings" {
                @for words in &document.incomplete { li { (words) } }
                @for (warning, labels) in warnings {
                    li { (warning) " " span class="note" { "(" (labels.join(", ")) ")" } }
                }
            }
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
            td { (claim.condition) }
            td { (claim.ours) }
            td class="words" {
                @if claim.as_expected { (claim.verdict) } @else { strong { (claim.verdict) " (not as expected)" } }
            }
        }
    }
}
