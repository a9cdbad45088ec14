//! Documents that contain results, and their parser.

pub(crate) mod comparison;
pub(crate) mod config;
pub(crate) mod countable;
mod fields;
pub(crate) mod malformed;
pub(crate) mod merged;
pub(crate) mod op_latencies;
pub(crate) mod probe;
pub(crate) mod progress_line;
pub(crate) mod reading;
pub(crate) mod recorded;
pub(crate) mod reproduction;
pub(crate) mod run;
pub(crate) mod sample;
#[cfg(feature = "schema")]
pub(crate) mod schema;
pub(crate) mod setting;
pub(crate) mod sweep;
pub(crate) mod version;
pub(crate) mod written;

use std::io;

use serde::{Deserialize, Serialize, Serializer, ser};

use crate::document::probe::DocumentProbe;
use crate::{
    Compared, Comparison, Malformed, Repeats, Reproduction, RunResult, SchemaVersion, ShardRecord, Sweep,
    Swept, read,
};

/// Output of loadgen with --json: a run, runs with --repeats, a comparison, a sweep, or a reproduction. docs/figures.md
/// explains the figures. More keys may be added without a new `schema_version`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "schema", schemars(title = "Results of loadgen"))]
pub enum Document {
    Run(Box<RunResult>),
    Repeats(Repeats),
    Comparison(Comparison),
    Sweep(Box<Sweep>),
    Reproduction(Reproduction),
}

impl Document {
    /// Parses a document of this version or an earlier one. Unknown keys are skipped. A number above 2⁶⁴ is an error, even in an unknown
    /// key. The runs of a sweep are not parsed, because the cells of the sweep contain their figures.
    ///
    /// # Errors
    /// Fails if the text is not JSON, is not a result, or is of a later version.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        // Blank text is replaced by empty text, because the parser would report blank text as a truncated file.
        let text = if text.trim().is_empty() { "" } else { text };
        let outline: DocumentProbe = read(text)?;
        if outline.has("schema_version") {
            // The version is checked first, because a later version may have changed everything else.
            read::<Versioned>(text)?;
        }
        if outline.has("shard") {
            let words = if outline.has("plan") {
                FORMER_SHARD
            } else {
                "the document is one shard of a result; combine all shards with `loadgen merge`"
            };
            return Err(Malformed::at("", words));
        }
        let document = match () {
            () if outline.has("scenarios") => Self::Reproduction(read(text)?),
            () if outline.says("sweep") => {
                let SweepAlone { sweep } = read(text)?;
                Self::Sweep(Box::new(Sweep { runs: Vec::new(), sweep, shard: None }))
            }
            () if outline.says("comparison") && outline.has("runs") => Self::Comparison(read(text)?),
            () if outline.has("runs") => Self::Repeats(read(text)?),
            () if outline.has("schema_version") => Self::Run(Box::new(read(text)?)),
            () => {
                return Err(Malformed::at(
                    "",
                    "it holds no result (neither `schema_version`, `runs` nor `scenarios`); \
                     write one with `loadgen --json FILE` or `loadgen reproduce --json FILE`",
                ));
            }
        };
        document.checked()
    }

    pub fn runs(&self) -> &[RunResult] {
        match self {
            Self::Run(run) => std::slice::from_ref(run),
            Self::Repeats(Repeats { runs, .. }) | Self::Comparison(Comparison { runs, .. }) => runs,
            Self::Sweep(swept) => &swept.runs,
            Self::Reproduction(_) => &[],
        }
    }

    fn checked(self) -> Result<Self, Malformed> {
        let empty = |key: &str, words: &str| Err(Malformed::at(key, words));
        match &self {
            Self::Run(run) => run.possible("")?,
            Self::Repeats(Repeats { runs, .. }) | Self::Comparison(Comparison { runs, .. }) => {
                if runs.is_empty() {
                    return empty("runs", "is empty: there is nothing to show");
                }
                for (index, run) in runs.iter().enumerate() {
                    run.possible(&format!("runs[{index}]."))?;
                }
            }
            Self::Reproduction(reproduction) if reproduction.scenarios.is_empty() => {
                return empty("scenarios", "is empty");
            }
            Self::Sweep(swept) if swept.sweep.cells.is_empty() => {
                return empty("sweep.cells", "is empty: no point was complete");
            }
            Self::Sweep(_) | Self::Reproduction(_) => {}
        }
        Ok(self)
    }
}

/// Error for a shard that a former version wrote.
pub(crate) const FORMER_SHARD: &str = "the document is a shard of a former version; merge it with the version that wrote it, or run its command again";

#[derive(Deserialize)]
pub(crate) struct Versioned {
    #[serde(rename = "schema_version")]
    _version: SchemaVersion,
}

#[derive(Deserialize)]
struct SweepAlone {
    sweep: Swept,
}

/// Converts a document to JSON with all keys in alphabetical order. Its file therefore does not depend on the order of fields in types.
///
/// # Errors
/// Fails if the document does not serialize to JSON, which does not happen for documents of this crate.
pub fn sorted(document: &impl Serialize) -> serde_json::Result<serde_json::Value> {
    // Conversion to `serde_json::Value` sorts the keys, because its objects are ordered maps.
    serde_json::to_value(document)
}

/// Writing of documents as JSON.
impl Document {
    /// Writes the document as JSON in one line. A single run and the runs of `--repeats` keep the order of the fields of their types, which
    /// is also the order in the documentation. Other documents have all keys in alphabetical order.
    ///
    /// # Errors
    /// Fails if the text cannot be written.
    pub fn write(&self, to: &mut dyn io::Write) -> io::Result<()> {
        fn each(runs: &[RunResult]) -> Vec<Sorted<'_, RunResult>> {
            runs.iter().map(Sorted).collect()
        }
        match self {
            Self::Run(_) | Self::Repeats(_) => serde_json::to_writer(&mut *to, self)?,
            Self::Reproduction(reproduction) => serde_json::to_writer(&mut *to, &Sorted(reproduction))?,
            Self::Comparison(Comparison { runs, comparison, shard }) => {
                let comparison = Some(Sorted(comparison));
                let shard = shard.as_ref().map(Sorted);
                serde_json::to_writer(
                    &mut *to,
                    &InOrder { comparison, runs: each(runs), shard, sweep: None },
                )?;
            }
            Self::Sweep(swept) => {
                let (sweep, shard) = (Some(Sorted(&swept.sweep)), swept.shard.as_ref().map(Sorted));
                let runs = each(&swept.runs);
                serde_json::to_writer(&mut *to, &InOrder { comparison: None, runs, shard, sweep })?;
            }
        }
        to.write_all(b"\n")
    }
}

/// Document whose keys are in alphabetical order. Its runs are sorted one by one, because there may be many.
#[derive(Serialize)]
struct InOrder<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Sorted<'a, Compared>>,
    runs: Vec<Sorted<'a, RunResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Sorted<'a, ShardRecord>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep: Option<Sorted<'a, Swept>>,
}

struct Sorted<'a, T>(&'a T);

impl<T: Serialize> Serialize for Sorted<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sorted(self.0).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_results_are_refused_with_their_place() {
        let refusal = |text: &str| Document::read(text).unwrap_err().to_string();
        for (text, told) in [
            ("", "line 1, column 0: it is empty"),
            (" \n\n ", "line 1, column 0: it is empty"),
            (
                "{\"runs\": [{\"schema",
                "line 1, column 18: the document is incomplete, because the file was cut off",
            ),
            ("hello", "line 1, column 1: it is not JSON: expected value"),
            ("{\"runs\": []}", "`runs`: is empty: there is nothing to show"),
            ("{\"runs\": 3}", "`runs`: integer `3` is not a list"),
            (
                "{\"runs\": [{\"schema_version\": 2}]}",
                "`runs[0].schema_version`: 2 is newer than this program, which reads up to 1",
            ),
            (
                "{\"schema_version\": 2, \"scenarios\": []}",
                "`schema_version`: 2 is newer than this program, which reads up to 1",
            ),
            ("{\"schema_version\": 1}", "`mode`: is missing"),
            ("{\"scenarios\": []}", "`scenarios`: is empty"),
        ] {
            assert_eq!(refusal(text), told, "{text}");
        }
        for text in ["[1, 2]", "{\"name\": \"left-pad\"}", "null", "7"] {
            assert!(refusal(text).starts_with("it holds no result"), "{text}: {}", refusal(text));
        }
    }

    const RUN: &str = r#""schema_version": 1, "mode": "http", "strategy": "none", "seed": 1, "makespan_complete": true,
        "ops": {"total": 1, "succeeded": 1, "given_up": 0}, "attempts": {"total": 1}"#;

    #[test]
    fn null_stands_for_a_key_that_may_be_missing() {
        for key in
            ["config", "failures", "op_latency_ms", "op_latency_curve", "series", "warnings", "generator"]
        {
            Document::read(&format!("{{{RUN}, \"{key}\": null}}")).unwrap();
        }
        for more in [
            r#""summary": null"#,
            r#""summary": {"makespan_s": null}"#,
            r#""comparison": null"#,
            r#""sweep": null"#,
            r#""comparison": {"strategies": [{"figures": {"makespan_s": null}}]}"#,
        ] {
            Document::read(&format!("{{\"runs\": [{{{RUN}}}], {more}}}")).unwrap();
        }
        let cell = r#"{"experiment": "sweep", "label": "none", "strategy": "none", "figures": {"makespan_s": null}}"#;
        Document::read(&format!("{{\"sweep\": {{\"cells\": [{cell}], \"best\": null}}}}")).unwrap();
        let claim = r#"{"says": "so", "verdict": "holds", "accept": null}"#;
        Document::read(&format!("{{\"scenarios\": [{{\"name\": \"a\", \"claims\": [{claim}]}}]}}")).unwrap();
    }

    #[test]
    fn an_error_kind_of_a_later_version_is_one_of_the_others() {
        let failures = r#"[{"status": null, "kind": "novel", "attempts": 3}, {"status": 404, "kind": null, "attempts": 1}]"#;
        let Document::Run(run) = Document::read(&format!("{{{RUN}, \"failures\": {failures}}}")).unwrap()
        else {
            panic!("it is a run");
        };
        assert_eq!(run.failures.iter().map(|failure| failure.attempts).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(run.failures[0].kind, Some(loadgen_core::ErrorKind::Other));
    }
}
