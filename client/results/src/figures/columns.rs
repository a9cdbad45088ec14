//! Table of runs for other programs, with one row per run. The columns contain the identity of the run, all figures, and all other single
//! values.

use crate::{FIGURES, Figure, RunResult};

#[derive(Clone, Copy, Debug)]
pub enum Column {
    Figure(&'static Figure),
    Text(&'static str, fn(&RunResult) -> String),
}

const IDENTITY: [Column; 3] = [
    Column::Text("strategy", |run| run.strategy.clone()),
    // The seed is a text column, because figures are floats and a float cannot represent every large seed exactly.
    Column::Text("seed", |run| run.seed.to_string()),
    Column::Text("mode", |run| run.mode.name().to_owned()),
];

impl Column {
    pub fn all() -> Vec<Self> {
        let mut columns = IDENTITY.to_vec();
        for figure in FIGURES.iter().filter(|figure| figure.path != "seed") {
            if figure.path == "wall_s" {
                columns.push(Self::Text("started_at", |run| run.started_at.clone().unwrap_or_default()));
            }
            columns.push(Self::Figure(figure));
            if figure.path == "load_factor" {
                columns.push(Self::Text("load", |run| run.load.clone().unwrap_or_default()));
            }
            if figure.path == "wall_s" {
                columns.push(Self::Text("interrupted", |run| run.interrupted.clone().unwrap_or_default()));
            }
        }
        columns
    }

    /// Returns the columns in which at least one of the given runs has a value. The columns that identify a run come first. The other
    /// columns are sorted by the first run that has a value in them. Columns with the same first run are in alphabetical order.
    pub fn from_runs(runs: &[&RunResult]) -> Vec<Self> {
        let met = |column: &Self| runs.iter().position(|run| !column.cell(run).is_empty());
        let mut columns: Vec<(usize, Self)> =
            Self::all().into_iter().filter_map(|column| Some((met(&column)?, column))).collect();
        let identity = IDENTITY.len().min(columns.len());
        columns[identity..].sort_by_key(|(met, column)| (*met, column.path()));
        columns.into_iter().map(|(_, column)| column).collect()
    }

    pub fn path(&self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.path,
            Self::Text(path, _) => path,
        }
    }

    pub fn cell(&self, run: &RunResult) -> String {
        match self {
            Self::Figure(figure) => figure.cell(run),
            // Control characters in the text are escaped, because `--csv -` may print a document from an unknown author to a terminal.
            Self::Text(_, text) => vocabulary::printable(&text(run)).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run, run_leaves};

    #[test]
    fn everything_that_is_one_value_has_a_column() {
        let mut leaves: Vec<String> = run_leaves().into_iter().map(|leaf| leaf.path).collect();
        let place = |path: &String| {
            IDENTITY.iter().position(|column| column.path() == path).unwrap_or(IDENTITY.len())
        };
        leaves.sort_by_key(place);
        leaves.retain(|path| path != "op_latency_ms.histogram");
        let paths: Vec<&str> = Column::all().iter().map(Column::path).collect();
        assert_eq!(paths, leaves);
    }

    #[test]
    fn cells_equal_the_json_and_empty_columns_are_omitted() {
        let run = run("aimd", u64::MAX, 10, 12, 2.0);
        let columns = Column::from_runs(&[&run]);
        let cell =
            |path: &str| columns.iter().find(|column| column.path() == path).map(|column| column.cell(&run));
        assert_eq!(cell("seed").unwrap(), u64::MAX.to_string());
        assert_eq!(
            (cell("makespan_s").unwrap(), cell("attempts.total").unwrap()),
            ("2.0".into(), "12".into())
        );
        assert_eq!((cell("makespan_complete").unwrap(), cell("stalled_at_s")), ("true".into(), None));
    }
}
