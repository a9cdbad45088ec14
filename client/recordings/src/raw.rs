//! File format of recordings: one JSON file per library. The README in the folder of recordings documents it.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use mockserver_core::{Script, WrittenStep};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawFile {
    pub library: String,
    pub version: String,
    pub language: String,
    pub interception: String,
    #[serde(default)]
    pub series: SeriesScripts,
    /// Scenarios of a recording. They are parsed one by one, so that an invalid scenario does not prevent the other scenarios from being
    /// parsed.
    pub scenarios: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawScenario {
    pub id: String,
    pub config: String,
    pub kind: Option<RawKind>,
    pub method: Option<String>,
    pub steps: Option<Vec<WrittenStep>>,
    pub n: Option<usize>,
    pub samples: Option<Vec<Vec<f64>>>,
    pub attempts: Option<OneOrMany<u32>>,
    pub outcome: Option<RawOutcome>,
    pub outcomes: Option<RawOutcomes>,
    pub sleep_before_first: Option<OneOrMany<f64>>,
    pub sleep_after_last: Option<OneOrMany<f64>>,
    pub ops: Option<usize>,
    pub attempts_per_op: Option<Vec<u32>>,
    pub waits_per_op: Option<Vec<Vec<f64>>>,
    pub outcomes_per_op: Option<Vec<(String, usize)>>,
    pub retries_granted_after_each_100: Option<Vec<u64>>,
}

/// Kind of a scenario. A scenario without a kind consists of independent ops.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawKind {
    Series,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or a list of numbers")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Each(Vec<T>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct RawOutcome {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: Option<u16>,
    pub code: Option<RawCode>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a name or a number")]
pub(crate) enum RawCode {
    Exit(i64),
    Name(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "an object of counts, or a list")]
pub(crate) enum RawOutcomes {
    /// Number of ops for each outcome. The key is the outcome as JSON text.
    Counted(BTreeMap<String, usize>),
    /// Names of the result types or exception types with which recorded ops ended.
    Named(Vec<String>),
}

/// Scripts of series: the server's response to each request of an op. A recording may contain the scripts of its series. If it does not, a
/// built-in script with the id of the series is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `ops`")]
pub(crate) struct RawSeries {
    ops: Vec<OpGroup>,
    /// True if the sequence of groups is repeated from the beginning after the last group. False if the last group applies to all further
    /// ops.
    #[serde(default)]
    repeat: bool,
    /// Pause of the recorded client between two ops, in seconds.
    #[serde(default)]
    pause_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `steps`")]
struct OpGroup {
    /// Number of ops in the group. If the number is missing, the group contains all remaining ops.
    count: Option<usize>,
    steps: Vec<WrittenStep>,
}

pub(crate) type SeriesScripts = BTreeMap<String, RawSeries>;

/// Built-in scripts for the series in this project's own recordings. They have the format of the field `series` of a recording.
static KNOWN: LazyLock<SeriesScripts> = LazyLock::new(|| {
    serde_json::from_str(include_str!("series.json")).expect("a test checks that `series.json` is valid")
});

pub(crate) fn find<'a>(own: &'a SeriesScripts, id: &str) -> Option<&'a RawSeries> {
    own.get(id).or_else(|| KNOWN.get(id))
}

impl RawSeries {
    pub(crate) fn script(&self, ops: usize) -> Result<Script, String> {
        let mut steps: Vec<Vec<WrittenStep>> = Vec::with_capacity(ops);
        while steps.len() < ops {
            let before = steps.len();
            for group in &self.ops {
                let left = ops - steps.len();
                let count = group.count.unwrap_or(left).min(left);
                steps.extend(std::iter::repeat_n(group.steps.clone(), count));
            }
            if steps.len() == before {
                return Err("describes no op".to_owned());
            }
            if !self.repeat {
                let last = steps.last().cloned().unwrap_or_default();
                steps.resize(ops, last);
            }
        }
        Script::from_steps(steps).map_err(|error| format!("is not a script: {error}"))
    }

    pub(crate) fn pause(&self) -> Result<Duration, String> {
        const MAX_S: f64 = 1e6;
        if (0.0..=MAX_S).contains(&self.pause_s) {
            return Ok(Duration::from_secs_f64(self.pause_s));
        }
        Err(format!("has `pause_s` = {}; it must be from 0 to {MAX_S}", self.pause_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> RawSeries {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_known_series_has_a_script_for_each_of_its_ops() {
        assert_eq!(KNOWN.len(), 20);
        for (id, series) in KNOWN.iter() {
            let text = series.script(1000).unwrap_or_else(|error| panic!("{id}: {error}")).to_string();
            assert_eq!(text.split(';').count(), 1000, "{id}");
            assert!(series.pause().is_ok(), "{id}");
        }
        assert!(find(&SeriesScripts::new(), "series-of-its-own").is_none());
    }

    #[test]
    fn known_series_match_their_names() {
        for (id, failing, fine) in [
            ("series-503-then-20-ok-then-503", [39, 60], [40, 59]),
            ("series-ok-with-SlowDown-each-10th", [9, 19], [8, 10]),
            ("series-10-fail-then-60-ok-then-fail", [9, 70], [10, 69]),
            ("series-every-5th-fails", [4, 9], [0, 5]),
            ("series-503-then-200-then-503", [0, 2], [1, 3]),
        ] {
            let script = KNOWN[id].script(100).unwrap().to_string();
            let ops: Vec<&str> = script.split(';').collect();
            let is_fine = |op: &usize| ["200", "200 grpc-status:0"].contains(&ops[*op]);
            assert!(fine.iter().all(is_fine) && !failing.iter().any(is_fine), "{id}: {script}");
        }
    }

    #[test]
    fn a_file_describes_its_series_by_groups_of_ops() {
        for (text, script) in [
            (r#"{"ops": [{"steps": [{"status": 503}, {"status": 200}]}]}"#, "503|200;503|200;503|200"),
            (
                r#"{"ops": [{"count": 1, "steps": [{"status": 429}]}, {"steps": [{"status": 200}]}]}"#,
                "429;200;200",
            ),
            (
                r#"{"ops": [{"count": 2, "steps": [{"close": true}]}, {"count": 2, "steps": [{"status": 200}]}]}"#,
                "close;close;200",
            ),
            (
                r#"{"ops": [{"count": 1, "steps": [{"status": 503}]}, {"count": 1, "steps": [{"status": 200}]}], "repeat": true}"#,
                "503;200;503",
            ),
            (r#"{"ops": [{"count": 1, "steps": [{"status": 503}]}]}"#, "503;503;503"),
        ] {
            assert_eq!(described(text).script(3).unwrap().to_string(), script, "{text}");
        }
        for (text, words) in [
            (r#"{"ops": []}"#, "describes no op"),
            (r#"{"ops": [{"count": 0, "steps": [{"status": 503}]}], "repeat": true}"#, "describes no op"),
            (r#"{"ops": [{"steps": []}]}"#, "is not a script: "),
            (r#"{"ops": [{"steps": [{"status": 1}]}]}"#, "is not a script: step 1 of op 1"),
        ] {
            let error = described(text).script(3).unwrap_err();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        let pause = |text: &str| described(text).pause();
        assert_eq!(pause(r#"{"ops": [], "pause_s": 0.05}"#), Ok(Duration::from_millis(50)));
        assert!(pause(r#"{"ops": [], "pause_s": -1}"#).is_err());
    }
}
