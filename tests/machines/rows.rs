//! Tests of `--csv`: every figure of every run is as in the JSON of the same runs.

use serde_json::Value;

use crate::support::Folder;

struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn table(text: &str) -> Table {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let fields = |record: &csv::StringRecord| record.iter().map(ToOwned::to_owned).collect();
    let columns = fields(reader.headers().unwrap());
    Table { columns, rows: reader.records().map(|record| fields(&record.unwrap())).collect() }
}

/// Returns the value at a path of a run's result, as a cell shows it.
fn cell(run: &Value, path: &str) -> String {
    match path.split('.').try_fold(run, |value, key| value.get(key)) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(Value::Array(_) | Value::Object(_)) => panic!("{path} is no single value"),
        Some(plain) => plain.to_string(),
    }
}

fn agree(table: &Table, document: &Value) {
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(table.rows.len(), runs.len());
    for (row, run) in table.rows.iter().zip(runs) {
        for (column, field) in table.columns.iter().zip(row) {
            let expected = cell(run, column);
            // Parsing a number from JSON may round its last digit.
            let close = |field: f64, expected: f64| (field - expected).abs() <= expected.abs() * 1e-15;
            let same = match (field.parse(), expected.parse()) {
                (Ok(field), Ok(expected)) => close(field, expected),
                _ => *field == expected,
            };
            assert!(same, "{column}: {field} {expected}");
        }
    }
}

#[test]
fn rows_have_every_figure_and_columns_are_always_the_same() {
    let folder = Folder::new();
    folder.done("--simulate --quiet --ops 300 --repeats 3 --strategy aimd:beta=0.5,initial=9 --csv a.csv --json a.json");
    let repeats = table(&folder.read("a.csv"));
    assert_eq!(repeats.columns[..3], ["strategy", "seed", "mode"]);
    assert_eq!(repeats.rows[1][..3], ["aimd:beta=0.5,initial=9", "2", "simulated"]);
    for path in [
        "ops.total",
        "attempts.rejected",
        "op_latency_ms.p99",
        "server.received",
        "generator.send_lag_ms.p99",
    ] {
        assert!(repeats.columns.iter().any(|column| column == path), "{path}: {:?}", repeats.columns);
    }
    agree(&repeats, &serde_json::from_str(&folder.read("a.json")).unwrap());

    folder.done("compare --simulate --quiet --ops 300 --repeats 2 --strategies aimd,none,oracle --csv b.csv --json b.json");
    let compared = table(&folder.read("b.csv"));
    assert_eq!((compared.rows.len(), &compared.columns), (6, &repeats.columns));
    agree(&compared, &serde_json::from_str(&folder.read("b.json")).unwrap());

    let real = "--quiet --ops 20 --rate 1000/s --service-time 1ms --network-delay 0 --csv - --json c.json";
    let real = table(&folder.done(real));
    assert_eq!(real.columns, repeats.columns);
    let document: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    agree(&real, &serde_json::json!({ "runs": [document] }));
}

/// Outputs that cannot be written are refused.
#[test]
fn rows_do_not_depend_on_threads_and_files_are_replaced_whole() {
    let folder = Folder::new();
    let run = "--simulate --quiet --ops 200 --repeats 8";
    let one = folder.done(&format!("{run} --threads 1 --csv -"));
    assert_eq!(one, folder.done(&format!("{run} --threads 4 --csv -")));
    folder.write("there.csv", "what was there");
    let ended = folder.loadgen("--simulate --strategy nonsense --csv there.csv");
    assert_eq!((ended.code, folder.read("there.csv").as_str()), (Some(2), "what was there"));
    for (flags, code, told) in [
        ("--csv nowhere/a.csv", 74, "`nowhere/a.csv` (--csv) cannot be written"),
        ("--csv a.csv --json a.csv", 2, "`a.csv` is named for two outputs"),
        ("--csv - --json -", 2, "two outputs are directed to stdout (`-`)"),
    ] {
        for command in ["--simulate --ops 20", "compare --simulate --ops 20 --strategies aimd,none"] {
            let ended = folder.loadgen(&format!("{command} {flags}"));
            assert!(ended.code == Some(code) && ended.stderr.contains(told), "{flags}: {ended:?}");
        }
    }
    folder.done(&format!("{run} --csv /dev/null"));
    folder.done(&format!("{run} --samples /dev/null"));
    let ended = folder.loadgen(&format!("{run} --csv /dev/full"));
    assert!(ended.code == Some(74) && ended.stderr.contains("`/dev/full` (--csv)"), "{ended:?}");
    assert_eq!(folder.files(), ["there.csv"]);
}
