//! Parts of documents exactly as their files contain them, passed on without interpretation.
//!
//! Reports show configurations, and offer data for download, exactly as the files contain them. Serializing the parsed types again would
//! change the data. A file of an earlier version would gain keys that its writer did not know. A file of a later version would lose keys
//! that this version does not know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conditions::leaves;
use crate::{Document, Malformed, read, sorted};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Written(Value);

pub type WrittenKeys = BTreeMap<String, Written>;

#[derive(Clone, Debug, Default, Serialize)]
pub struct WrittenDocument {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<WrittenRun>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<WrittenSweep>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Written>,
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenSweep {
    pub cells: Vec<WrittenCell>,
    /// Configuration of the first strategy at the first point of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Written>,
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrittenCell {
    pub figures: Option<BTreeMap<String, Option<WrittenKeys>>>,
    #[serde(flatten)]
    pub rest: WrittenKeys,
}

impl Written {
    pub fn pretty(&self) -> String {
        format!("{:#}", self.0)
    }

    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        leaves("", &self.0, &mut found);
        found
    }
}

impl WrittenDocument {
    /// Parses the text of a document; `document` is the result of an earlier parse of the same text. The new result has as many runs,
    /// scenarios and cells as `document`, in the same order.
    ///
    /// # Errors
    /// Fails if the text is not the text of `document`.
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
        })
    }

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
    fn rewritten_files_keep_unknown_keys_and_add_no_missing_ones() {
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
