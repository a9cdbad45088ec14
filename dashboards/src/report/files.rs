//! Reads and checks the result files from which one report is made.

use results::{Comparison, Incomplete, Malformed, Repeats, RunResult, Score, WrittenDocument, WrittenRun};

use super::strategy::strategies;
use super::{Document, Entry, Ranking, Run, Scenario, sweep};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`{place}: {what}")]
pub struct Unreadable {
    file: String,
    /// Position of the error in the file: `, line 3, column 14` or ``, `runs[3].seed` ``.
    place: String,
    what: String,
}

impl Document {
    /// Reads result files, each given as name and text. Accepts single runs, `{"runs": …}` with or without a
    /// comparison, and the output of `loadgen reproduce` and `loadgen sweep`.
    pub fn read(files: &[(String, String)]) -> Result<Self, Unreadable> {
        let mut all = Content::default();
        for (file, text) in files {
            let read = results::Document::read(text).and_then(|document| {
                let written = WrittenDocument::read(text, &document)?;
                all.add(document, written)
            });
            read.map_err(|wrong| Unreadable {
                file: file.clone(),
                place: if wrong.place.is_empty() { String::new() } else { format!(", {}", wrong.place) },
                what: wrong.what,
            })?;
        }
        // If comparisons are ranked by different figures, no single figure is right for all of them. The default score
        // is then used, as for runs without a comparison.
        all.by.dedup();
        let by = if let [only] = all.by[..] { only } else { Score::default() };
        let mut strategies = strategies(all.runs);
        let ranking = Ranking::new(&strategies, by);
        if let Some(ranking) = &ranking {
            let place = |label: &str| ranking.answer.rows.iter().position(|row| row.strategy == label);
            strategies.sort_by_key(|strategy| place(&strategy.label));
        }
        Ok(Self {
            strategies,
            ranking,
            sensitivity: if let [_] = all.sensitivity[..] { all.sensitivity.remove(0) } else { Vec::new() },
            ..all.document
        })
    }
}

#[derive(Default)]
struct Content {
    runs: Vec<Run>,
    /// Document with all content but the runs and what is computed from them.
    document: Document,
    by: Vec<Score>,
    sensitivity: Vec<Vec<results::Variation>>,
}

impl Content {
    fn add(&mut self, document: results::Document, written: WrittenDocument) -> Result<(), Malformed> {
        match document {
            results::Document::Run(run) => self.add_runs(vec![*run], written.runs),
            results::Document::Repeats(Repeats { runs, incomplete, .. }) => {
                self.add_runs(runs, written.runs);
                self.add_missing(incomplete);
            }
            results::Document::Comparison(Comparison { runs, comparison, .. }) => {
                self.add_runs(runs, written.runs);
                self.add_missing(comparison.incomplete);
                self.by.extend(Score::at(&comparison.by));
                self.sensitivity.push(comparison.sensitivity);
            }
            // Only the cells of a sweep are read. The single runs are not needed, because the cells contain their
            // results.
            results::Document::Sweep(mut swept) => {
                self.add_missing(swept.sweep.incomplete.take());
                self.document.scenarios.push(sweep::scenario(swept.sweep, written.sweep.unwrap_or_default()));
            }
            results::Document::Reproduction(reproduction) => {
                let scenarios = reproduction.scenarios.into_iter().zip(written.scenarios);
                for (number, (scenario, written)) in scenarios.enumerate() {
                    refuse_undrawable(number, &scenario)?;
                    self.document.scenarios.push(Scenario::new(scenario, written));
                }
                let begun = [self.document.started_at.take(), reproduction.started_at];
                self.document.started_at = begun.into_iter().flatten().min();
            }
        }
        Ok(())
    }

    fn add_missing(&mut self, incomplete: Option<Incomplete>) {
        self.document.incomplete.extend(incomplete.map(
            |Incomplete { tasks, missing_tasks, missing_shards, .. }| {
                let why =
                    if missing_shards.is_empty() { "" } else { ", of shards that were missing in the merge" };
                format!("Incomplete: {missing_tasks} of {tasks} runs are missing{why}.")
            },
        ));
    }

    fn add_runs(&mut self, runs: Vec<RunResult>, written: Vec<WrittenRun>) {
        self.runs.extend(runs.into_iter().zip(written).map(|(run, written)| Run::new(run, written)));
    }
}

fn refuse_undrawable(number: usize, scenario: &results::Scenario) -> Result<(), Malformed> {
    for (index, plot) in scenario.plots.iter().enumerate() {
        if Entry::named(&plot.draw).is_none() {
            let place = format!("scenarios[{number}].plots[{index}].draw");
            return Err(Malformed::at(&place, format!("this program has no plot `{}`", plot.draw)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(content: &str) -> String {
        Document::read(&[("a.json".to_owned(), content.to_owned())]).unwrap_err().to_string()
    }

    #[test]
    fn invalid_results_are_refused_with_file_and_place() {
        let cases = [
            ("", "`a.json`, line 1, column 0: it is empty"),
            (
                "{\"runs\": [{\"schema",
                "`a.json`, line 1, column 18: the document is incomplete, because the file was cut off",
            ),
            ("hello", "`a.json`, line 1, column 1: it is not JSON: expected value"),
            ("{\"runs\": []}", "`a.json`, `runs`: is empty: there is nothing to show"),
            ("{\"runs\": 3}", "`a.json`, `runs`: integer `3` is not a list"),
            (
                "{\"runs\": [{\"schema_version\": 2}]}",
                "`a.json`, `runs[0].schema_version`: 2 is newer than this program, which reads up to 1",
            ),
            ("{\"schema_version\": 1}", "`a.json`, `mode`: is missing"),
        ];
        for (content, expected) in cases {
            assert_eq!(refusal(content), expected, "{content}");
        }
        assert!(refusal("[1, 2]").contains("it holds no result"));
        assert!(refusal("{}\n{}").contains("the file contains a second value"));
    }
}
