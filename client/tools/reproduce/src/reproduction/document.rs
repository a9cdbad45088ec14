//! Conversion of completed reproductions of scenarios into their JSON document.

use std::collections::BTreeMap;

use results::{At, Basis, ClaimValue, DrawnColumn, FiguresOverRuns, SchemaVersion, Setting, TimeUnit};
use toml::Value;

use crate::reproduction::state::Reproduction;
use crate::reproduction::tally::Tally;
use crate::scenario::{Edge, Found, Judged, Plot, Scale, Scenario, over_seeds, wanted};

pub fn document(
    scenarios: &[(&Reproduction, Vec<Judged<'_>>)],
    tally: &Tally,
    started_at: Option<String>,
) -> results::Reproduction {
    results::Reproduction {
        schema_version: SchemaVersion::default(),
        started_at,
        scenarios: scenarios.iter().map(|(reproduction, judged)| scenario(reproduction, judged)).collect(),
        claims: tally.record(),
    }
}

fn scenario(reproduction: &Reproduction, judged: &[Judged<'_>]) -> results::Scenario {
    let Reproduction { scenario, cells, data, .. } = reproduction;
    let run = || cells.iter().enumerate().filter(|(index, _)| data.has(*index));
    let numbers = run().enumerate().map(|(number, (index, _))| (index, number)).collect();
    let cell = |(index, cell): (usize, &crate::scenario::Cell)| results::Cell {
        experiment: cell.experiment.clone(),
        label: cell.label.clone(),
        strategy: cell.settings.strategy.to_string(),
        at: at(&cell.point),
        figures: figures(reproduction, index),
    };
    let plots = scenario.plot.iter().enumerate();
    let plots = plots
        .filter_map(|(number, (name, written))| plot(reproduction, number, name, written, judged, &numbers));
    let Scenario { name, title, source, about, seed, .. } = scenario;
    results::Scenario {
        name: name.clone(),
        title: title.clone(),
        source: source.clone(),
        about: about.split_whitespace().collect::<Vec<_>>().join(" "),
        seed: Some(*seed),
        claims: judged.iter().map(claim).collect(),
        cells: run().map(cell).collect(),
        plots: plots.collect(),
    }
}

fn figures(reproduction: &Reproduction, cell: usize) -> FiguresOverRuns {
    let figure = |name: &str| {
        let seeds = over_seeds(&reproduction.data.values(cell, name))?;
        Some((name.to_owned(), (&seeds).into()))
    };
    wanted(&reproduction.scenario).into_iter().filter_map(figure).collect()
}

fn at(point: &[(String, Value)]) -> At {
    // Every TOML value has a setting, so the error case is never used.
    let setting =
        |value: &Value| value.clone().try_into().unwrap_or_else(|_| Setting::Text(value.to_string()));
    point.iter().map(|(key, value)| (key.clone(), setting(value))).collect()
}

fn claim(one: &Judged<'_>) -> results::Claim {
    let edge = |edge: Option<Edge>| edge.map(|edge| edge.value);
    results::Claim {
        says: one.claim.says.clone(),
        published: one.claim.published().to_owned(),
        ours_alone: one.claim.ours,
        figure: one.claim.figure.clone(),
        of: Some(one.claim.of.all().join(", ")),
        ours: one.ours.clone(),
        values: one.found.iter().map(value).collect(),
        accept: [edge(one.condition.low), edge(one.condition.high)],
        condition: one.condition.words.clone(),
        judged_by: one.by.to_owned(),
        means: one.claim.means.clone(),
        verdict: one.verdict,
        as_expected: one.as_expected(),
        note: one.claim.note.clone(),
    }
}

fn value(found: &Found) -> ClaimValue {
    ClaimValue {
        at: found.at.as_deref().map(Setting::from),
        value: Some(found.value).filter(|value| value.is_finite()),
        runs: found.runs as u64,
        so_in: found.so_in.map(|runs| runs as u64),
        middle: found.middle.map(<[f64; 2]>::from),
        verdict: Some(found.verdict),
    }
}

/// Converts one plot for the document. Returns `None` if none of the plot's cells was run. `numbers` maps the index of a cell among all
/// cells to the number of the cell in the document.
fn plot(
    reproduction: &Reproduction,
    number: usize,
    name: &str,
    plot: &Plot,
    judged: &[Judged<'_>],
    numbers: &BTreeMap<usize, usize>,
) -> Option<results::Plot> {
    let Reproduction { scenario, cells, kept, .. } = reproduction;
    let basis = plot.basis?;
    let own = plot.cells(scenario, cells);
    let mut written = results::Plot {
        name: name.to_owned(),
        draw: plot.draw.clone(),
        title: plot.title.clone(),
        shows: plot.shows.clone(),
        note: plot.note.clone(),
        experiment: plot.experiment(scenario).unwrap_or_default().to_owned(),
        claims: judged
            .iter()
            .enumerate()
            .filter(|(_, one)| one.claim.plot.as_deref() == Some(name))
            .map(|(index, _)| index)
            .collect(),
        logarithmic: plot.scale == Scale::Logarithmic,
        until_s: plot.until_s(),
        smooth_s: plot.smooth_s(),
        time_unit: plot.time_unit().map(|(s, name)| TimeUnit { s, name }),
        ..results::Plot::default()
    };
    if basis.is_of_cells() {
        let run: Vec<usize> = own.iter().filter_map(|cell| numbers.get(cell).copied()).collect();
        written.cells = Some(run).filter(|run| !run.is_empty());
        written.cells.as_ref()?;
    } else {
        let runs: Vec<_> = own.iter().filter_map(|cell| kept.get(&(number, *cell)).cloned()).collect();
        written.runs = Some(runs).filter(|runs| !runs.is_empty());
        written.runs.as_ref()?;
    }
    if basis == Basis::Columns || basis == Basis::Chosen && !plot.columns.is_empty() {
        let columns = plot.columns(scenario).into_iter().map(|column| DrawnColumn {
            title: column.title.clone(),
            figure: column.figure.clone(),
            minus: column.minus,
            times: column.times,
        });
        written.columns = Some(columns.collect());
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_of_lists_is_written_as_lists() {
        let point: toml::Table =
            toml::from_str("scatter = [{ ops = 10, within = \"1s\" }]\nops = 5").unwrap();
        let point: Vec<(String, Value)> = point.into_iter().collect();
        let json = serde_json::to_string(&at(&point)).unwrap();
        assert_eq!(json, r#"{"ops":5,"scatter":[{"ops":10,"within":"1s"}]}"#);
    }
}
