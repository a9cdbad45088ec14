//! Tables of a scenario's results, in a layout that readers of the scenario's source recognise.

use std::fmt::Write as _;

use shell::text::figures::short;
use shell::text::table::fitted;
use shell::text::wrapping::{labelled, wrapped};
use statistics::Summary;

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
    let titles: Vec<&str> = experiment.columns.iter().map(|column| column.title.as_str()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let seeds = if runs == 1 { "1 seed".to_owned() } else { format!("{runs} seeds") };
    // Layout if no key is varied: one row per strategy, one column per figure.
    if cell.point.is_empty() {
        rows.push(with_head("", titles.iter().copied().map(str::to_owned)));
        for (index, cell) in &own {
            let figures = experiment.columns.iter().map(|column| with_spread(column, *index, data));
            rows.push(with_head(&cell.label, figures));
        }
        return format!("\n{}\n{}", wrapped(&format!("{title} · {seeds}"), "  ", "    "), fitted(&rows));
    }
    let (corner, head, row_keys): (String, Vec<String>, usize) = match cell.point.as_slice() {
        // Layout if one strategy runs with two varied keys: one row per value of the first key, one column per value of the second key.
        [(slow, _), (fast, _)] if labels.len() == 1 => {
            let columns = experiment.vary.get(fast).map_or(1, Vec::len);
            let head = own.iter().take(columns).map(|(_, cell)| text(&cell.point[1].1));
            (format!("{slow} \\ {fast}"), head.collect(), 1)
        }
        // Layout for all other experiments: one row per point (combination of varied values), one column per strategy.
        point => {
            let varied: Vec<&str> = point.iter().map(|(key, _)| key.as_str()).collect();
            (varied.join(", "), labels.iter().copied().map(str::to_owned).collect(), point.len())
        }
    };
    let columns = head.len();
    rows.push(with_head(&corner, head.into_iter()));
    for row in own.chunks(columns) {
        let values: Vec<String> = row[0].1.point[..row_keys].iter().map(|(_, value)| text(value)).collect();
        let figures = row.iter().map(|(index, _)| together(experiment, *index, data));
        rows.push(with_head(&values.join(", "), figures));
    }
    let title = wrapped(&format!("{title} · {} · {seeds}", titles.join(" / ")), "  ", "    ");
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
    let (ours, source): (Vec<_>, Vec<_>) = judged.iter().partition(|judged| judged.claim.ours);
    let mut table = String::from("\n");
    table.extend(source.into_iter().map(claim));
    if !ours.is_empty() {
        table.push_str("\n   Claims of this project, which the source does not make:\n");
    }
    table.extend(ours.into_iter().map(claim));
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
        let _ = write!(tested, "; expected was \"{}\"", judged.claim.expect.verdict().words());
    }
    if !judged.claim.note.is_empty() {
        let _ = write!(tested, ". {}", judged.claim.note);
    }
    let _ = writeln!(text, "{}", wrapped(&tested, &" ".repeat(19), &" ".repeat(19)));
    text
}

fn with_spread(column: &Column, cell: usize, data: &Data) -> String {
    match summary(column, cell, data) {
        None => "–".to_owned(),
        Some(Summary { mean, deviation: None, .. }) => short(mean),
        Some(Summary { mean, deviation: Some(deviation), .. }) => {
            format!("{} ± {}", short(mean), short(deviation))
        }
    }
}

fn plain(column: &Column, cell: usize, data: &Data) -> String {
    summary(column, cell, data).map_or_else(|| "–".to_owned(), |seeds| short(seeds.mean))
}

fn summary(column: &Column, cell: usize, data: &Data) -> Option<Summary> {
    let values = data.values(cell, &column.figure).into_iter().map(|value| column.scaled(value));
    over_seeds(&values.collect::<Vec<f64>>())
}
