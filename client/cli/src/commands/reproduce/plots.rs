//! The plots that scenarios ask for, as they are written.

use std::collections::BTreeMap;

use experiments::scenario::{Basis, Column, Judged, Plot, Scale};
use serde_json::{Map, Value, json};

use super::reproduction::Reproduction;
use crate::scenario::basis_of;

impl Reproduction {
    /// Every plot as JSON. `numbers` are those of the cells in the document.
    pub(super) fn plots(&self, judged: &[Judged<'_>], numbers: &BTreeMap<usize, usize>) -> Vec<Value> {
        let plots = self.scenario.plot.iter().enumerate();
        plots.filter_map(|(number, (name, plot))| self.plot(number, name, plot, judged, numbers)).collect()
    }

    /// One; nothing when nothing that it is drawn from was run.
    fn plot(
        &self,
        number: usize,
        name: &str,
        plot: &Plot,
        judged: &[Judged<'_>],
        numbers: &BTreeMap<usize, usize>,
    ) -> Option<Value> {
        let basis = basis_of(plot)?;
        let cells = plot.cells(&self.scenario, &self.cells);
        let claims: Vec<usize> = judged
            .iter()
            .enumerate()
            .filter(|(_, one)| one.claim.plot.as_deref() == Some(name))
            .map(|(index, _)| index)
            .collect();
        let mut written = Map::new();
        for (key, value) in [
            ("name", json!(name)),
            ("draw", json!(plot.draw)),
            ("title", json!(plot.title)),
            ("shows", json!(plot.shows)),
            ("experiment", json!(plot.experiment(&self.scenario))),
            ("claims", json!(claims)),
            ("logarithmic", json!(plot.scale == Scale::Logarithmic)),
            ("note", json!(plot.note)),
            ("until_s", json!(plot.until_s())),
            ("smooth_s", json!(plot.smooth_s())),
            ("time_unit", json!(plot.time_unit().map(|(s, name)| json!({ "s": s, "name": name })))),
        ] {
            written.insert(key.to_owned(), value);
        }
        if basis.is_of_cells() {
            let there: Vec<usize> = cells.iter().filter_map(|cell| numbers.get(cell).copied()).collect();
            if there.is_empty() {
                return None;
            }
            written.insert("cells".to_owned(), json!(there));
        } else {
            let runs: Vec<&Value> = cells.iter().filter_map(|cell| self.kept.get(&(number, *cell))).collect();
            if runs.is_empty() {
                return None;
            }
            written.insert("runs".to_owned(), json!(runs));
        }
        if basis == Basis::Columns || basis == Basis::Chosen && !plot.columns.is_empty() {
            let column = |column: &Column| json!({ "title": column.title, "figure": column.figure, "minus": column.minus, "times": column.times });
            let columns: Vec<Value> = plot.columns(&self.scenario).into_iter().map(column).collect();
            written.insert("columns".to_owned(), json!(columns));
        }
        Some(Value::Object(written))
    }
}
