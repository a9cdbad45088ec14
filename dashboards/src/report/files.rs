//! The result files of one report, read and checked.

use serde_json::Value;
use serde_json::error::Category;

use super::document::Document;
use super::experiment::Scenario;
use super::reading::{Wrong, each, look, object, text};
use super::registry::Entry;
use super::run::{Run, known_version};
use super::score::Score;
use super::strategy::strategies;
use super::sweep;

/// Why a file is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`{place}: {what}")]
pub struct Unreadable {
    file: String,
    /// `, line 3, column 14` or ``, `runs[3].seed` ``.
    place: String,
    what: String,
}

impl Document {
    /// Reads result files, each given by its name and its text: single runs, `{"runs": …}`, with or without a
    /// comparison, and what `loadgen reproduce` and `loadgen sweep` write.
    pub fn read(files: &[(String, String)]) -> Result<Self, Unreadable> {
        let (mut runs, mut scenarios, mut comparison) = (Vec::new(), Vec::new(), Vec::new());
        let (mut by, mut started_at) = (Vec::new(), Vec::new());
        for (file, content) in files {
            // Of blanks alone, the parser would say that something breaks off.
            let content = if content.trim().is_empty() { "" } else { content };
            let value: Value = serde_json::from_str(content).map_err(|error| no_json(file, &error))?;
            let held = Held::read(&value).map_err(|wrong| Unreadable {
                file: file.clone(),
                place: if wrong.place.is_empty() { String::new() } else { format!(", `{}`", wrong.place) },
                what: wrong.what,
            })?;
            runs.extend(held.runs);
            scenarios.extend(held.scenarios);
            comparison.extend(held.comparison);
            by.extend(held.by);
            started_at.extend(held.started_at);
        }
        // What was compared by several figures is ranked as what was not compared.
        by.dedup();
        let by = if let [only] = by[..] { only } else { Score::default() };
        let started_at = started_at.into_iter().min();
        Ok(Self { strategies: strategies(runs), scenarios, comparison, by, started_at })
    }
}

/// What one file holds.
#[derive(Default)]
struct Held {
    runs: Vec<Run>,
    scenarios: Vec<Scenario>,
    comparison: Vec<String>,
    by: Option<Score>,
    started_at: Option<String>,
}

impl Held {
    fn read(value: &Value) -> Result<Self, Wrong> {
        if value.get("schema_version").is_some() {
            known_version(value)?;
        }
        if value.get("pairings").is_some() {
            return Err(Wrong::new(
                "",
                "it holds what `loadgen parity` found, of which there is nothing to draw",
            ));
        }
        if value.get("scenarios").is_some() {
            let scenarios = each(value, "scenarios", scenario)?;
            if scenarios.is_empty() {
                return Err(Wrong::new("scenarios", "is empty"));
            }
            return Ok(Self { scenarios, started_at: started_at(value), ..Self::default() });
        }
        if let Some(swept) = look(value, "sweep") {
            // The cells say what the runs come to.
            let swept = sweep::read(swept).map_err(|wrong| wrong.within("sweep"))?;
            return Ok(Self { scenarios: vec![swept], ..Self::default() });
        }
        if value.get("runs").is_some() {
            let runs = each(value, "runs", Run::read)?;
            if runs.is_empty() {
                return Err(Wrong::new("runs", "is empty: there is nothing to show"));
            }
            let by = look(value, "comparison.by").and_then(Value::as_str).and_then(Score::of_path);
            return Ok(Self { runs, comparison: words(value)?, by, ..Self::default() });
        }
        if value.get("schema_version").is_some() {
            return Ok(Self { runs: vec![Run::read(value)?], ..Self::default() });
        }
        Err(Wrong::new(
            "",
            "it holds no result (neither `schema_version`, `runs` nor `scenarios`); \
             write one with `loadgen --json FILE` or `loadgen reproduce --json FILE`",
        ))
    }
}

/// A scenario of which all that it asks for can be drawn.
fn scenario(value: &Value) -> Result<Scenario, Wrong> {
    let scenario = Scenario::read(value)?;
    for (index, exhibit) in scenario.exhibits.iter().enumerate() {
        if Entry::named(&exhibit.draws).is_none() {
            let what = format!("this program draws no `{}`", exhibit.draws);
            return Err(Wrong::new(&format!("plots[{index}].draw"), what));
        }
    }
    Ok(scenario)
}

fn started_at(value: &Value) -> Option<String> {
    look(value, "started_at")?.as_str().map(ToOwned::to_owned)
}

/// The words of a comparison's pairs.
fn words(value: &Value) -> Result<Vec<String>, Wrong> {
    object(value, "comparison")?;
    let Some(comparison) = look(value, "comparison") else { return Ok(Vec::new()) };
    let pairs =
        each(comparison, "pairs", |pair| look(pair, "words").map(|_| text(pair, "words")).transpose());
    Ok(pairs.map_err(|wrong| wrong.within("comparison"))?.into_iter().flatten().collect())
}

fn no_json(file: &str, error: &serde_json::Error) -> Unreadable {
    let place = format!(", line {}, column {}", error.line(), error.column());
    let told = error.to_string();
    let what = match error.classify() {
        Category::Eof if error.line() <= 1 && error.column() == 0 => "it is empty".to_owned(),
        Category::Eof => "it ends in the middle; the file was cut off".to_owned(),
        _ if told.starts_with("trailing characters") => {
            "another value follows; one result per file is read (`--samples` files are not results)"
                .to_owned()
        }
        _ => {
            let reason = told.split(" at line ").next().unwrap_or_default();
            format!("it is not JSON: {reason}")
        }
    };
    Unreadable { file: file.to_owned(), place, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(content: &str) -> String {
        Document::read(&[("a.json".to_owned(), content.to_owned())]).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_result_is_refused_by_file_and_place() {
        let cases = [
            ("", "`a.json`, line 1, column 0: it is empty"),
            (
                "{\"runs\": [{\"schema",
                "`a.json`, line 1, column 18: it ends in the middle; the file was cut off",
            ),
            ("hello", "`a.json`, line 1, column 1: it is not JSON: expected value"),
            ("{\"runs\": []}", "`a.json`, `runs`: is empty: there is nothing to show"),
            ("{\"runs\": 3}", "`a.json`, `runs`: `3` is no list"),
            (
                "{\"runs\": [{\"schema_version\": 2}]}",
                "`a.json`, `runs[0].schema_version`: 2 is newer than this program, which reads up to 1",
            ),
            ("{\"schema_version\": 1}", "`a.json`, `makespan_complete`: is missing"),
        ];
        for (content, told) in cases {
            assert_eq!(refusal(content), told, "{content}");
        }
        assert!(refusal("[1, 2]").contains("it holds no result"));
        assert!(refusal("{}\n{}").contains("another value follows"));
    }
}
