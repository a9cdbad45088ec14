//! `--csv FILE`: writes runs as rows of a CSV file, with one column per figure of the result. If a run lacks a figure, the cell of this
//! figure is empty.

use dashboards::report::Rows;
use results::{Column, Document};

use crate::files::exporter::{Format, Results};

pub(super) const FORMAT: Format = Format {
    flag: "--csv",
    help: |results| match results {
        Results::Run | Results::Comparison | Results::Merged => {
            Some("Write every figure of every run as CSV, one row a run, to a file or to stdout (`-`)")
        }
        Results::Sweep => Some(
            "Write every figure of every run as CSV, one row a run, varied keys first, to a file or to stdout (`-`)",
        ),
        Results::Reproduction | Results::Recordings => None,
    },
    write: Some(|exported, to| {
        let axes = match &exported.document {
            Document::Sweep(swept) => swept.sweep.axes.as_slice(),
            _ => &[],
        };
        let varied: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
        let mut rows = Rows::new(to, &varied, Column::all())?;
        for run in exported.document.runs() {
            let at: Vec<&str> = axes.iter().map(|axis| axis.value_at(run)).collect();
            rows.write(&at, run)?;
        }
        rows.finish().map(drop)
    }),
};
