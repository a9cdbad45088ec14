//! A sweep in the HTML report: the answer, a table of results, and the best strategies. The table has one row per
//! strategy and point (combination of values of the varied settings).

use maud::{Markup, html};
use results::numbers::{percent, short};
use results::{
    Axis, Best, Cell, ConfigRecord, MIN_SEEDS, Mode, Part, PointWinner, Score, Sentence, Setting, Swept,
    Times, first_by_point,
};

use super::measured::{server, work};
use crate::report::cell::{OverSeeds, number_of};
use crate::report::{Document, Scenario, number};

const MANY: usize = 60;

/// Maximum number of values of an axis (varied setting) that are all listed. If an axis has more values, only the first
/// and the last value are shown.
const FEW: usize = 6;

/// Columns of the table, as (title, path of the figure in the result, factor). The factor converts the figure's unit to
/// the column's unit.
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

/// Number of table columns that a narrow screen shows beside the name of the strategy. On narrow screens, the other
/// columns are in a second line below the name.
const MAIN_COLUMNS: usize = 1;

pub(super) fn answers(document: &Document) -> Vec<Markup> {
    document.sweeps().map(|(scenario, sweep)| answer(scenario, sweep)).collect()
}

pub(super) fn measured(document: &Document) -> Markup {
    html! { @for (_, sweep) in document.sweeps() { (measured_by(sweep)) } }
}

fn measured_by(sweep: &Swept) -> Markup {
    let config = sweep.config.clone().unwrap_or_default();
    let (mode, how) = match config.server.as_str() {
        "simulated" => (Mode::Simulated, "simulated, in virtual time"),
        _ => (Mode::Http, "over HTTP"),
    };
    let begun = sweep.started_at.as_ref().map(|at| format!("; begun {at}")).unwrap_or_default();
    let seeds = seeds(&config);
    let held = held(config, &keys(sweep));
    let mut held = vec![work(&held), server(mode, &held)];
    held.retain(|words| !words.is_empty());
    html! {
        p class="measured" {
            "Varied: " (axes(&sweep.axes)) "." br; "\nHeld: " (held.join("; ")) "; " (how) ", " (seeds) (begun) "."
        }
    }
}

fn held(mut config: ConfigRecord, keys: &[String]) -> ConfigRecord {
    let workload = &mut config.workload;
    for key in keys {
        match key.as_str() {
            "ops" => workload.ops = None,
            "duration" => workload.duration = None,
            "rate" => (workload.rate, workload.rate_per_s) = (None, None),
            "in_flight" => workload.in_flight = None,
            "clients" => workload.clients = 0,
            "network_delay" => config.delay_noise = None,
            _ => {}
        }
        workload.more.remove(key);
        config.server_model = config.server_model.map(|model| model.without(key));
    }
    config
}

/// Formats the seeds of a sweep. Every strategy has these seeds at every point of the sweep.
fn seeds(config: &ConfigRecord) -> String {
    match (config.seed, u64::from(config.repeats)) {
        (first, 0 | 1) => format!("seed {first}"),
        (first, repeats) => format!("seeds {first}–{}", first.saturating_add(repeats - 1)),
    }
}

/// Returns the keys of the axes (varied settings), spelled as in [`Cell::at`].
fn keys(sweep: &Swept) -> Vec<String> {
    sweep.axes.iter().map(|axis| axis.key.replace('-', "_")).collect()
}

fn axes(axes: &[Axis]) -> String {
    let words = |Axis { key, values }: &Axis| match values.as_slice() {
        [first, .., last] if values.len() > FEW => {
            format!("{key} {first} to {last} ({} values)", values.len())
        }
        _ => format!("{key} {}", values.join(", ")),
    };
    axes.iter().map(words).collect::<Vec<_>>().join("; ")
}

fn answer(scenario: &Scenario, sweep: &Swept) -> Markup {
    match sweep.best.as_slice() {
        [] => html! { (labels(scenario)) " strategies at every point of " (keys(sweep).join(" and ")) "." },
        [only] if only.at.is_empty() => html! { (only.words) "." },
        best => first_sentence(best),
    }
}

/// Returns the best strategy in one situation of a sweep. Returns `None` if there are enough seeds to distinguish
/// strategies, but the best strategy is not distinguishably better than the next best.
fn winner(best: &Best) -> Option<&str> {
    match &best.lead {
        Some(lead) => (lead.certain || !has_intervals(best)).then_some(lead.strategy.as_str()),
        None if has_intervals(best) => best.winner(),
        None => best.strategy.as_deref(),
    }
}

fn has_intervals(best: &Best) -> bool {
    best.fresh.as_ref().is_some_and(|fresh| fresh.count >= MIN_SEEDS as u64)
}

fn first_sentence(best: &[Best]) -> Markup {
    let point = |best: &'_ Best| best.at.values().map(value).collect::<Vec<_>>().join(", ");
    let winners: Vec<PointWinner<'_>> =
        best.iter().map(|best| PointWinner { value: point(best), winner: winner(best) }).collect();
    let is_one_key = best.iter().all(|best| best.at.len() == 1);
    let key = best[0].at.keys().next().filter(|_| is_one_key).map(|key| key.replace('_', "-"));
    sentence(&first_by_point(key.as_deref(), &winners, best.iter().all(has_intervals)))
}

fn value(setting: &Setting) -> String {
    setting.number().map_or_else(|| setting.text().unwrap_or_default().to_owned(), short)
}

fn labels(scenario: &Scenario) -> usize {
    scenario.cells.iter().map(|cell| cell.label.as_str()).collect::<std::collections::BTreeSet<_>>().len()
}

pub(super) fn tables(document: &Document) -> Markup {
    html! {
        @for (scenario, sweep) in document.sweeps() {
            @if sweep.best.iter().any(|best| !best.at.is_empty()) { (firsts(sweep)) }
            (points(scenario, sweep))
        }
    }
}

fn firsts(sweep: &Swept) -> Markup {
    let keys: Vec<String> = sweep.best[0].at.keys().map(|key| key.replace('_', "-")).collect();
    html! {
        table class="points" {
            thead {
                tr {
                    @for key in &keys { th { (key) } }
                    th class="words" { "first" } th { (sweep.by_name) } th { "ahead by" }
                }
            }
            tbody {
                @for best in &sweep.best {
                    tr {
                        @for setting in best.at.values() { td { (value(setting)) } }
                        td class="words" { @match winner(best) { Some(name) => code { (name) }, None => "–" } }
                        td { (fresh(best)) }
                        td { (lead(best)) }
                    }
                }
            }
        }
        p class="note" {
            "Figures are means over fresh seeds, which were not used to choose the best strategy. Ahead by: ratio to the next \
             strategy, paired by seed, with its interval below; all intervals hold together in 95 % of sweeps. –: no strategy is \
             distinguishably first."
        }
    }
}

fn fresh(best: &Best) -> String {
    let (path, value) = match &best.lead {
        Some(lead) => (&lead.figure, lead.value),
        None => (&best.figure, best.fresh.as_ref().map(|fresh| fresh.mean)),
    };
    match (value, Score::at(path)) {
        (Some(value), Some(score)) => score.cell(value),
        (Some(share), None) => percent(share),
        (None, _) => "–".to_owned(),
    }
}

/// Formats the lead of the best strategy over the second-best one. The lead is the ratio of their figures, and is above
/// 1 if the best strategy is ahead.
fn lead(best: &Best) -> Markup {
    let (times, is_other_figure) = match &best.lead {
        Some(lead) => (lead.ratio.map(|ratio| Times { ratio, interval: lead.low.zip(lead.high) }), false),
        None => lead_of_pair(best),
    };
    let Some(times) = times else { return html! { "–" } };
    html! {
        (times.ratio_text()) @if is_other_figure { " in attempts" }
        @if let Some(range) = times.range_text() { small { (range) } }
    }
}

/// Returns the lead of the best candidate over the second-best one, in a sweep over strategy parameters. The boolean is
/// true if the lead is in another figure than the one that determines the ranks.
fn lead_of_pair(best: &Best) -> (Option<Times>, bool) {
    let Some((pair, ratio)) = best.pairs.first().and_then(|pair| Some((pair, pair.ratio?))) else {
        return (None, false);
    };
    let times = Times { ratio, interval: pair.low.zip(pair.high) };
    // For the share of ops done, a larger value is better. For every other figure, a smaller value is better, so the
    // ratio is inverted.
    let is_share = pair.figure == Score::done_share().path();
    (Some(if is_share { times } else { times.inverse() }), pair.figure != best.figure)
}

fn points(scenario: &Scenario, sweep: &Swept) -> Markup {
    let lines = scenario.cells.len();
    let points = html! {
        (table(scenario, sweep))
        p class="note" {
            "Means over seeds; below them, 5th to 95th percentile. Strategies that left ops undone have no makespan."
        }
    };
    html! {
        @if lines > MANY {
            details { summary { "all " (lines) " lines" } (points) }
        } @else {
            h2 { "Every point, on the seeds of the sweep" }
            (points)
        }
    }
}

fn table(scenario: &Scenario, sweep: &Swept) -> Markup {
    let known = |(_, path, _): &&(&str, &str, f64)| {
        scenario.cells.iter().any(|cell| cell.figures.contains_key(*path))
    };
    let columns: Vec<_> = COLUMNS.iter().filter(known).collect();
    let (main, others) = columns.split_at(MAIN_COLUMNS.min(columns.len()));
    let keys = keys(sweep);
    html! {
        div class="scroll" {
            table class="points" {
                thead {
                    tr {
                        @for key in &keys { th { (key) } }
                        th class="words" { "strategy" }
                        @for (head, ..) in main { th { (head) } }
                        @for (head, ..) in others { th class="wide" { (head) } }
                    }
                }
                tbody {
                    @for cell in &scenario.cells {
                        tr {
                            @for key in &keys { td { (at(cell, key)) } }
                            td class="words" {
                                code { (cell.label) }
                                small class="narrow" {
                                    @for (number, (head, path, times)) in others.iter().enumerate() {
                                        @if number > 0 { " · " }
                                        span { (head) " " (mean(cell, path, *times)) }
                                    }
                                }
                            }
                            @for (_, path, times) in main { td { (over_seeds(cell, path, *times)) } }
                            @for (_, path, times) in others {
                                td class="wide" { (over_seeds(cell, path, *times)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn mean(cell: &Cell, path: &str, times: f64) -> String {
    OverSeeds::new(cell, path, 0.0, times).map_or_else(|| "–".to_owned(), |seeds| number(seeds.mean))
}

fn over_seeds(cell: &Cell, path: &str, times: f64) -> Markup {
    let Some(seeds) = OverSeeds::new(cell, path, 0.0, times) else { return html! { "–" } };
    let [mean, low, high] = [seeds.mean, seeds.p5, seeds.p95].map(number);
    html! { (mean) @if low != high { small { (low) "–" (high) } } }
}

fn at(cell: &Cell, key: &str) -> String {
    let Some(setting) = cell.at.get(key) else { return "–".to_owned() };
    number_of(setting).map_or_else(|| setting.to_string(), number)
}

/// Sentences of an answer as HTML, with the names of strategies as code.
pub(super) fn sentence(sentence: &Sentence) -> Markup {
    html! {
        @for part in &sentence.parts {
            @match part {
                Part::Words(words) => (words),
                Part::Name(name) => code { (name) },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_named_for_any_number_of_repeats() {
        let of = |repeats| seeds(&ConfigRecord { seed: 3, repeats, ..ConfigRecord::default() });
        assert_eq!([0, 1, 4].map(of), ["seed 3", "seed 3", "seeds 3–6"]);
    }
}
