//! Runs as rows of CSV: one row a run, one column a figure, named by its path in the result.

use std::io::{self, Write};

use serde_json::Value;

/// The columns that say which run it is; they come first.
const IDENTITY: [&str; 3] = ["strategy", "seed", "mode"];

/// Writes runs row by row. Nothing is kept, however many there are.
pub struct Rows<W: Write> {
    writer: csv::Writer<W>,
    columns: Vec<String>,
}

impl<W: Write> Rows<W> {
    /// Writes the header: the leading columns, and then one per path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(writer: W, leading: &[&str], mut columns: Vec<String>) -> io::Result<Self> {
        let place = |path: &String| IDENTITY.iter().position(|key| key == path).unwrap_or(IDENTITY.len());
        columns.sort_by_key(place);
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record(leading.iter().copied().chain(columns.iter().map(String::as_str)))?;
        Ok(Self { writer, columns })
    }

    /// Writes a run, after as many values as there are leading columns. What a run does not have stays empty.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, leading: &[String], run: &Value) -> io::Result<()> {
        for value in leading {
            self.writer.write_field(value)?;
        }
        for column in &self.columns {
            self.writer.write_field(cell(run, column))?;
        }
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }

    /// Writes what is still held back, and gives the writer back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// The paths of all figures that at least one of these runs has, in the order in which they are met.
pub(super) fn columns<'a>(runs: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for run in runs {
        walk(run, "", &mut |path| {
            if !columns.iter().any(|column| column == path) {
                columns.push(path.to_owned());
            }
        });
    }
    columns
}

/// Every value that fits a cell, by its path. How runs were set up and what they were like in time does not.
fn walk(value: &Value, path: &str, see: &mut impl FnMut(&str)) {
    match value {
        Value::Object(entries) => {
            for (key, inner) in entries.iter().filter(|(key, _)| *key != "config") {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(inner, &path, see);
            }
        }
        Value::Null | Value::Array(_) => {}
        _ => see(path),
    }
}

fn cell(run: &Value, path: &str) -> String {
    match path.split('.').try_fold(run, |value, key| value.get(key)) {
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(plain) => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_has_what_its_run_has_and_names_are_quoted() {
        let runs = [
            json!({ "ops": { "total": 3 }, "strategy": "aimd:beta=0.5,min=1", "seed": 1, "config": { "x": 1 } }),
            json!({ "strategy": "none", "series": [1], "server": { "received": 2.5 }, "stalled_at_s": null }),
        ];
        let mut rows = Rows::new(Vec::new(), &["max-busy"], columns(runs.iter())).unwrap();
        for (run, cap) in runs.iter().zip(["10", "20"]) {
            rows.write(&[cap.to_owned()], run).unwrap();
        }
        assert_eq!(
            String::from_utf8(rows.finish().unwrap()).unwrap(),
            "max-busy,strategy,seed,ops.total,server.received\n10,\"aimd:beta=0.5,min=1\",1,3,\n20,none,,,2.5\n"
        );
    }
}
