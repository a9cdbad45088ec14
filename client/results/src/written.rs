//! Parts of documents as their files have them, handed on whole: nothing is read out of them.
//!
//! Reports show configurations, and offer data, as files have them. Written anew out of types, a file of an earlier version would gain
//! keys that nobody wrote, and one of a later version would lose those that are not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conditions::leaves;
use crate::document::{Document, sorted};
use crate::malformed::Malformed;
use crate::reading::read;

/// JSON as a file has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Written(Value);

/// Keys of an object with what a file has under them.
pub type WrittenKeys = BTreeMap<String, Written>;

/// What reports hand on of documents. It is a document, too.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WrittenDocument {
    /// Of one or several runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<WrittenRun>,
    /// Of a reproduction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Written>,
    /// Of a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<WrittenSweep>,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenRun {
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Written>,
    /// All else.
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

/// What was varied, and what came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenSweep {
    /// Every strategy at every point.
    pub cells: Vec<WrittenCell>,
    /// Of the first strategy at the first point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Written>,
    /// All else.
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

/// One strategy at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenCell {
    /// Over seeds, each with its mean, its spread and so on.
    pub figures: Option<BTreeMap<String, Option<WrittenKeys>>>,
    /// All else.
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

impl Written {
    /// With a line for every key.
    pub fn pretty(&self) -> String {
        format!("{:#}", self.0)
    }

    /// Returns all values except those that are null, empty or false, by their paths, such as `workload.ops`.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        leaves("", &self.0, &mut found);
        found
    }
}

impl WrittenDocument {
    /// Out of the text that a document was read from: as many runs, scenarios and cells as it has, in the same order.
    ///
    /// # Errors
    /// When the text is not the document's.
    pub fn read(text: &str, document: &Document) -> Result<Self, Malformed> {
        #[derive(Deserialize)]
        struct Runs {
            runs: Vec<WrittenRun>,
        }
        #[derive(Deserialize)]
        struct Scenarios {
            scenarios: Vec<Written>,
        }
        #[derive(Deserialize)]
        struct Sweep {
            sweep: WrittenSweep,
        }
        let none = Self::default();
        Ok(match document {
            Document::Run(_) => Self { runs: vec![read(text)?], ..none },
            Document::Repeats(_) | Document::Comparison(_) => Self { runs: read::<Runs>(text)?.runs, ..none },
            Document::Sweep(_) => Self { sweep: Some(read::<Sweep>(text)?.sweep), ..none },
            Document::Reproduction(_) => Self { scenarios: read::<Scenarios>(text)?.scenarios, ..none },
            Document::Parity(_) => none,
        })
    }

    /// As JSON on one line, with its keys in the order of the alphabet.
    pub fn to_json(&self) -> String {
        sorted(self).map(|value| value.to_string()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        WrittenDocument::read(text, &Document::read(text).unwrap()).unwrap().to_json()
    }

    #[test]
    fn what_a_file_has_is_handed_on_with_keys_that_are_not_known_and_without_those_that_are_missing() {
        let run = concat!(
            r#"{"attempts":{"total":1},"config":{"seed":1,"think_time":"5s"},"makespan_complete":true,"mode":"http","#,
            r#""novel":[1,2.5],"ops":{"given_up":0,"succeeded":1,"total":1},"schema_version":1,"seed":1,"strategy":"none"}"#
        );
        assert_eq!(again(run), format!(r#"{{"runs":[{run}]}}"#));
        assert_eq!(again(&format!(r#"{{"runs":[{run}],"summary":{{}}}}"#)), format!(r#"{{"runs":[{run}]}}"#));
        let cell = r#"{"experiment":"sweep","figures":{"makespan_s":{"mean":1.0,"novel":2}},"label":"a","strategy":"a","why":1}"#;
        let sweep = format!(r#"{{"sweep":{{"cells":[{cell}],"config":{{"novel":1}},"later":null}}}}"#);
        assert_eq!(again(&sweep), sweep);
        let scenarios = r#"{"scenarios":[{"name":"a","novel":1}]}"#;
        assert_eq!(again(scenarios), scenarios);
    }
}
