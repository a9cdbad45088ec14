//! A sweep on the page: the answer, a line per strategy and point, and what is best.

use maud::{Markup, html};
use results::{Axis, ConfigRecord, Mode};

use super::joined::joined;
use super::measured::{server, work};
use crate::report::cell::{Cell, OverSeeds, Setting};
use crate::report::document::Document;
use crate::report::experiment::Scenario;
use crate::report::experiment::Sweep;
use crate::report::number::number;

/// More lines than one wants to scroll past.
const MANY: usize = 60;

/// More values than these are told by the first and the last.
const FEW: usize = 6;

/// Columns: head, path, and what a unit of the figure is in the unit of the column.
const COLUMNS: [(&str, &str, f64); 8] = [
    ("makespan s", "makespan_s", 1.0),
    ("attempts", "attempts.total", 1.0),
    ("attempts per op", "amplification", 1.0),
    ("op latency p50 s", "op_latency_ms.p50", 1e-3),
    ("p99 s", "op_latency_ms.p99", 1e-3),
    ("wasted server s", "wasted_server_s", 1.0),
    ("late", "late_share", 1.0),
    ("jain", "fairness.jain", 1.0),
];

fn sweeps(document: &Document) -> impl Iterator<Item = (&Scenario, &Sweep)> {
    document.scenarios.iter().filter_map(|scenario| Some((scenario, scenario.sweep.as_ref()?)))
}

/// Who is best, one sentence per sweep.
pub(super) fn answers(document: &Document) -> Vec<Markup> {
    sweeps(document).map(|(scenario, sweep)| answer(scenario, sweep)).collect()
}

/// What was measured: what was varied, and what else there was, a line per sweep.
pub(super) fn measured(document: &Document) -> Markup {
    html! { @for (_, sweep) in sweeps(document) { (measured_by(sweep)) } }
}

fn measured_by(sweep: &Sweep) -> Markup {
    let config = sweep.config.clone().unwrap_or_default();
    let (mode, how) = match config.server.as_str() {
        "simulated" => (Mode::Simulated, "simulated, in virtual time"),
        _ => (Mode::Http, "over HTTP"),
    };
    let begun = sweep.started_at.as_ref().map(|at| format!("; begun {at}")).unwrap_or_default();
    let mut first_point = vec![work(&config), server(mode, &config)];
    first_point.retain(|words| !words.is_empty());
    html! {
        p class="measured" {
            "Varied: " (axes(&sweep.axes)) "." br; "\nThe first point: " (first_point.join("; ")) "; " (how) ", "
            (seeds(&config)) (begun)
        }
    }
}

/// Of every strategy at every point.
fn seeds(config: &ConfigRecord) -> String {
    match (config.seed, u64::from(config.repeats)) {
        (first, 0 | 1) => format!("seed {first}"),
        (first, repeats) => format!("seeds {first}–{}", first.saturating_add(repeats - 1)),
    }
}

/// `ops 50, 100, 500; max-busy 10 to 80 (8 values)`.
fn axes(axes: &[Axis]) -> String {
    let words = |Axis { key, values }: &Axis| match values.as_slice() {
        [first, .., last] if values.len() > FEW => {
            format!("{key} {first} to {last} ({} values)", values.len())
        }
        _ => format!("{key} {}", values.join(", ")),
    };
    axes.iter().map(words).collect::<Vec<_>>().join("; ")
}

fn answer(scenario: &Scenario, sweep: &Sweep) -> Markup {
    let code = |strategy: &str| html! { code { (strategy) } };
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for winner in &sweep.winners {
        match counted.iter_mut().find(|(there, _)| there == winner) {
            Some((_, count)) => *count += 1,
            None => counted.push((winner, 1)),
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let most = &sweep.most;
    let all = sweep.winners.len() + sweep.undecided;
    if sweep.undecided > 0 {
        let winners = counted.iter().map(|(strategy, count)| html! { (code(strategy)) " has in " (count) });
        return match sweep.undecided {
            1 if counted.is_empty() => html! { "Nobody has " (most) " by more than chance." },
            undecided if counted.is_empty() => html! {
                "In none of " (undecided) " situations has anybody " (most) " by more than chance."
            },
            undecided => html! {
                "In " (undecided) " of " (all) " situations nobody has " (most) " by more than chance; "
                (joined(winners, ", ")) "."
            },
        };
    }
    match counted.as_slice() {
        [] => html! { (labels(scenario)) " strategies at every point of " (sweep.keys.join(" and ")) "." },
        [(winner, 1)] => html! { (code(winner)) " has " (most) "." },
        [(winner, count)] => {
            html! { (code(winner)) " has " (most) " in all " (count) " situations." }
        }
        [(first, count), others @ ..] => {
            let others = others.iter().map(|(strategy, count)| html! { (code(strategy)) " in " (count) });
            html! {
                (code(first)) " has " (most) " in " (count) " of " (sweep.winners.len()) " situations, "
                (joined(others, ", ")) "."
            }
        }
    }
}

fn labels(scenario: &Scenario) -> usize {
    scenario.cells.iter().map(|cell| cell.label.as_str()).collect::<std::collections::BTreeSet<_>>().len()
}

/// What is best, and the table of all cells.
pub(super) fn tables(document: &Document) -> Markup {
    html! {
        @for (scenario, sweep) in sweeps(document) {
            @if !sweep.best.is_empty() {
                h2 { "The best, estimated again on fresh seeds" }
                ul { @for words in &sweep.best { li { (words) } } }
            }
            (points(scenario, sweep))
        }
    }
}

/// The table of all cells; folded up when it is long.
fn points(scenario: &Scenario, sweep: &Sweep) -> Markup {
    let lines = scenario.cells.len();
    let points = html! {
        (table(scenario, sweep))
        p class="note" {
            "Means over seeds; below them, 5th to 95th percentile. Who left ops undone has no makespan."
        }
    };
    html! {
        @if lines > MANY {
            details { summary { "all " (lines) " lines" } (points) }
        } @else {
            h2 { "Every point" }
            (points)
        }
    }
}

fn table(scenario: &Scenario, sweep: &Sweep) -> Markup {
    let known = |(_, path, _): &&(&str, &str, f64)| {
        scenario.cells.iter().any(|cell| cell.figures.contains_key(*path))
    };
    let columns: Vec<_> = COLUMNS.iter().filter(known).collect();
    html! {
        div class="scroll" {
            table class="points" {
                thead {
                    tr {
                        @for key in &sweep.keys { th { (key) } }
                        th class="words" { "strategy" }
                        @for (head, ..) in &columns { th { (head) } }
                    }
                }
                tbody {
                    @for cell in &scenario.cells {
                        tr {
                            @for key in &sweep.keys { td { (at(cell, key)) } }
                            td class="words" { code { (cell.label) } }
                            @for (_, path, times) in &columns { td { (over_seeds(cell.figures.get(*path), *times)) } }
                        }
                    }
                }
            }
        }
    }
}

/// The mean, and in small letters where nearly all seeds lie.
fn over_seeds(figure: Option<&OverSeeds>, times: f64) -> Markup {
    let Some(seeds) = figure else { return html! { "–" } };
    let [mean, low, high] = [seeds.mean, seeds.p5, seeds.p95].map(|value| number(value * times));
    html! { (mean) @if low != high { small { (low) "–" (high) } } }
}

fn at(cell: &Cell, key: &str) -> String {
    match cell.at.get(key) {
        Some(Setting::Number(value)) => number(*value),
        Some(Setting::Text(text)) => text.clone(),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_named_whatever_a_file_says_of_repeats() {
        let of = |repeats| seeds(&ConfigRecord { seed: 3, repeats, ..ConfigRecord::default() });
        assert_eq!([0, 1, 4].map(of), ["seed 3", "seed 3", "seeds 3–6"]);
    }
}
