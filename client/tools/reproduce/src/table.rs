//! Tables of a scenario's results, in a layout that readers of the scenario's source recognise.

use std::fmt::Write as _;

use shell::text::figures::short;
use shell::text::table::fitted;
use shell::text::wrapping::{labelled, wrapped};

use crate::scenario::{Cell, Column, Data, ExperimentSection, Judged, Scenario, over_seeds, text};

pub(super) fn experiment_table(
    scenario: &Scenario,
    name: &str,
    experiment: &ExperimentSection,
    cells: &[Cell],
    data: &Data,
) -> String {
    let own: Vec<(usize, &Cell)> = cells
        .iter()
        .enumerate()
        .filter(|(index, cell)| cell.experiment == name && data.has(*index))
        .collect();
    let Some((first, cell)) = own.first() else { return String::new() };
    if experiment.columns.is_empty() {
        return String::new();
    }
    let runs = data.values(*first, "").len();
    let title = if experiment.title.is_empty() { name } else { &experiment.title };
    let labels = scenario.labels(experiment);
    let titles =
        || experiment.columns.iter().map(|column| column.title.as_str()).collect::<Vec<_>>().join(" / ");
    let mut rows: Vec<Vec<String>> = Vec::new();
    let seeds = if runs == 1 { "1 seed".to_owned() } else { format!("{runs} seeds") };
    match cell.point.as_slice() {
        // Layout if no key is varied: one row per strategy, one column per figure.
        [] => {
            rows.push(with_head("", experiment.columns.iter().map(|column| column.title.clone())));
            for (index, cell) in &own {
                let figures = experiment.columns.iter().map(|column| with_spread(column, *index, data));
                rows.push(with_head(&cell.label, figures));
            }
            return format!("\n{}\n{}", wrapped(&format!("{title} · {seeds}"), "  ", "    "), fitted(&rows));
        }
        // Layout if one strategy runs with two varied keys: one row per value of the first key, one column per value of the second key.
        [(slow, _), (fast, _)] if labels.len() == 1 => {
            let columns = experiment.vary.get(fast).map_or(1, Vec::len);
            let head = own.iter().take(columns).map(|(_, cell)| text(&cell.point[1].1));
            rows.push(with_head(&format!("{slow} \\ {fast}"), head));
            for row in own.chunks(columns) {
                let figures = row.iter().map(|(index, _)| together(experiment, *index, data));
                rows.push(with_head(&text(&row[0].1.point[0].1), figures));
            }
        }
        // Layout for all other experiments: one row per point (combination of varied values), one column per strategy.
        point => {
            let varied: Vec<&str> = point.iter().map(|(key, _)| key.as_str()).collect();
            rows.push(with_head(&varied.join(", "), labels.iter().map(|label| (*label).to_owned())));
            for row in own.chunks(labels.len()) {
                let values: Vec<String> = row[0].1.point.iter().map(|(_, value)| text(value)).collect();
                let figures = row.iter().map(|(index, _)| together(experiment, *index, data));
                rows.push(with_head(&values.join(", "), figures));
            }
        }
    }
    let title = wrapped(&format!("{title} · {} · {seeds}", titles()), "  ", "    ");
    format!("\n{title}\n{}", fitted(&rows))
}

fn with_head(head: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(head.to_owned()).chain(cells).collect()
}

fn together(experiment: &ExperimentSection, cell: usize, data: &Data) -> String {
    let figures = experiment.columns.iter().map(|column| plain(column, cell, data));
    figures.collect::<Vec<_>>().join(" / ")
}

pub(super) fn claims_table(judged: &[Judged<'_>]) -> String {
    let mut table = String::from("\n");
    for judged in judged.iter().filter(|judged| !judged.claim.ours) {
        table.push_str(&claim(judged));
    }
    if judged.iter().any(|judged| judged.claim.ours) {
        table.push_str("\n   Claims of this project, which the source does not make:\n");
    }
    for judged in judged.iter().filter(|judged| judged.claim.ours) {
        table.push_str(&claim(judged));
    }
    table
}

pub(super) fn claim(judged: &Judged<'_>) -> String {
    let mark = if judged.as_expected() == Some(false) { '!' } else { ' ' };
    let verdict = format!(" {mark} {}", judged.verdict.words());
    let mut text = format!("{}\n", labelled(&verdict, 17, &judged.claim.says));
    let condition = &judged.condition.words;
    let mut tested = match judged.claim.published() {
        "" => format!("tested: {condition}"),
        published if judged.condition.printed => format!("published {published}"),
        published => format!("published {published}; tested: {condition}"),
    };
    if !judged.claim.means.is_empty() {
        let _ = write!(tested, " ({})", judged.claim.means);
    }
    let _ = write!(tested, "; here {}", judged.ours);
    if judged.as_expected() == Some(false) {
        let _ = write!(tested, "; expected was \"{}\"", judged.claim.expect.words());
    }
    if !judged.claim.note.is_empty() {
        let _ = write!(tested, ". {}", judged.claim.note);
    }
    let _ = writeln!(text, "{}", wrapped(&tested, &" ".repeat(19), &" ".repeat(19)));
    text
}

fn with_spread(column: &Column, cell: usize, data: &Data) -> String {
    let values: Vec<f64> =
        data.values(cell, &column.figure).into_iter().map(|value| column.scaled(value)).collect();
    match over_seeds(&values) {
        None => "–".to_owned(),
        Some(seeds) => match seeds.deviation {
            Some(deviation) => format!("{} ± {}", short(seeds.mean), short(deviation)),
            None => short(seeds.mean),
        },
    }
}

fn plain(column: &Column, cell: usize, data: &Data) -> String {
    let values: Vec<f64> =
        data.values(cell, &column.figure).into_iter().map(|value| column.scaled(value)).collect();
    over_seeds(&values).map_or_else(|| "–".to_owned(), |seeds| short(seeds.mean))
}
