//! Runs as CSV: one row per run, and one column per figure, named by the figure's path in the result.

use std::io::{self, Write};

use results::{Column, RunResult};

/// Streaming CSV writer of runs, which keeps no rows in memory.
pub struct Rows<W: Write> {
    writer: csv::Writer<W>,
    columns: Vec<Column>,
}

impl<W: Write> Rows<W> {
    pub fn new(writer: W, leading: &[&str], columns: Vec<Column>) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(writer);
        let mut heads = leading.to_vec();
        heads.extend(columns.iter().map(|column| -> &str { column.path() }));
        writer.write_record(heads)?;
        Ok(Self { writer, columns })
    }

    /// Writes the row of a run. The row starts with the values in `leading`, one per leading column, and the figures
    /// follow. A missing figure is an empty field. Fails if the underlying writer fails.
    pub fn write(&mut self, leading: &[&str], run: &RunResult) -> io::Result<()> {
        for value in leading {
            self.writer.write_field(value)?;
        }
        for column in &self.columns {
            self.writer.write_field(column.cell(run))?;
        }
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }

    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_what_its_run_has_and_names_are_quoted() {
        let run = |strategy: &str, stalled_at_s: &str| -> RunResult {
            let text = format!(
                r#"{{ "schema_version": 1, "mode": "http", "strategy": "{strategy}", "seed": 1, "makespan_complete": true,
                     "ops": {{ "total": 3, "succeeded": 3, "given_up": 0 }}, "attempts": {{ "total": 4 }},
                     "stalled_at_s": {stalled_at_s} }}"#
            );
            results::read(&text).unwrap()
        };
        let runs = [run("aimd:beta=0.5,min=1", "null"), run("none", "2.5")];
        let mut columns = Column::from_runs(&runs.iter().collect::<Vec<_>>());
        columns.retain(|column| ["strategy", "seed", "ops.total", "stalled_at_s"].contains(&column.path()));
        let mut rows = Rows::new(Vec::new(), &["max-busy"], columns).unwrap();
        for (run, cap) in runs.iter().zip(["10", "20"]) {
            rows.write(&[cap], run).unwrap();
        }
        assert_eq!(
            String::from_utf8(rows.finish().unwrap()).unwrap(),
            "max-busy,strategy,seed,ops.total,stalled_at_s\n10,\"aimd:beta=0.5,min=1\",1,3,\n20,none,1,3,2.5\n"
        );
    }
}
