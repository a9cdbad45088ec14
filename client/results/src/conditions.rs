//! Conditions: settings that must be equal in two runs before the runs can be compared. Baselines, comparisons, and reports made from
//! several files all use these conditions.
//!
//! The conditions contain nothing about how a run was requested (program, version, command line). They do not contain the strategy either,
//! because strategies are compared with each other. A mockserver is represented only by its configuration. Its address does not matter, and
//! neither does whether this program started it or found it running.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::{ConfigRecord, Mode, RequestRecord, RunResult, ServerModel, Setting, WorkloadRecord};

/// Settings, including the seeds, that must be equal in two runs for a comparison of the runs to be meaningful. The fields are in
/// alphabetical order, because baseline files contain them in this order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    pub deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_noise: Option<String>,
    pub mode: Option<Mode>,
    pub repeats: Option<u32>,
    pub request: RequestRecord,
    pub retry_failed: Option<bool>,
    pub seed: Option<u64>,
    pub server_model: Option<ServerModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub time_scale: Option<f64>,
    pub timeout: Option<String>,
    pub warm_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    pub workload: WorkloadRecord,
    /// Settings in files of later versions of the program that have no field in this version.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub more: BTreeMap<String, Setting>,
}

impl Conditions {
    pub fn new(config: &ConfigRecord, mode: Mode) -> Self {
        // The pattern lists every field, without `..`. A new field is therefore a compile error here until its author decides whether the
        // field is a condition.
        let ConfigRecord {
            program: _,
            version: _,
            command_line: _,
            server: _,
            target,
            strategy: _,
            max_attempts: _,
            retry_after: _,
            mut workload,
            timeout,
            deadline,
            within,
            warm_up,
            retry_failed,
            seed,
            repeats,
            time_scale,
            delay_noise,
            request,
            // The transport (the HTTP client library) is not a condition. The requests are the same with every transport, including HTTP/2.
            // A transport changes only the load of the load generator itself.
            transport: _,
            server_model,
            merged: _,
            more,
        } = config.clone();
        // The rate is compared as a number if it is steady, and its text is dropped, because `60/m` and `1/s` are the same load.
        workload.rate = workload.rate.filter(|_| workload.rate_per_s.is_none());
        Self {
            deadline,
            delay_noise: delay_noise.filter(|noise| noise != "0s"),
            mode: Some(mode),
            repeats: Some(repeats),
            request,
            retry_failed: Some(retry_failed),
            seed: Some(seed),
            target: target.filter(|_| server_model.is_none()),
            server_model,
            time_scale: Some(time_scale),
            timeout: Some(timeout),
            warm_up: Some(warm_up),
            within,
            workload,
            more,
        }
    }

    pub fn from_run(run: &RunResult) -> Self {
        Self::new(&run.config.record(), run.mode)
    }

    /// Removes the seeds and the number of repeats from the conditions, because the runs of one strategy differ in their seeds.
    #[must_use]
    pub fn of_any_seed(self) -> Self {
        Self {
            seed: None,
            repeats: None,
            server_model: self.server_model.map(|model| model.without("seed")),
            ..self
        }
    }

    /// Clears the setting that all clients share one instance of the strategy. The oracle always uses one shared instance, whatever was
    /// requested, so this setting must not prevent a comparison.
    #[must_use]
    pub fn of_any_strategy(mut self) -> Self {
        self.workload.share_strategy = false;
        self
    }

    /// Returns the conditions as a baseline file contains them.
    pub fn written(&self) -> Value {
        // Serialization cannot fail, because the record contains only plain values.
        serde_json::to_value(self).unwrap_or_default()
    }

    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        leaves("", &self.written(), &mut found);
        found
    }

    /// Compares these conditions with those of a file, which keep all keys of the program version that wrote the file. A key that only one
    /// side contains is a difference, unless its value is null.
    pub fn differences(&self, there: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        differ("", &self.written(), there, &mut differences);
        differences
    }
}

/// Collects the single values of nested JSON objects. The key of a value is its path, with dots between the keys of nested objects. A value
/// is left out if it is null, false, an empty text or an empty list.
pub(crate) fn leaves(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(&path, value, found);
            }
            return;
        }
        Value::Null | Value::Bool(false) => return,
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => return,
        other => other.to_string(),
    };
    if !text.is_empty() {
        found.insert(path.to_owned(), text);
    }
}

/// Compares conditions as JSON, because users see this form and it contains every key. A missing key counts as null.
fn differ(path: &str, here: &Value, there: &Value, differences: &mut Vec<String>) {
    match (here, there) {
        (Value::Object(here), Value::Object(there)) => {
            for key in here.keys().chain(there.keys()).collect::<BTreeSet<_>>() {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let [here, there] = [here, there].map(|entries| entries.get(key).unwrap_or(&Value::Null));
                differ(&path, here, there, differences);
            }
        }
        (here, there) if here == there => {}
        (here, there) => differences.push(format!("{path} is {here}, there {there}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(ops: u64, seed: u64) -> ConfigRecord {
        let model = format!("{{\"max_busy\": 5, \"seed\": {seed}}}");
        ConfigRecord {
            workload: WorkloadRecord { ops: Some(ops), ..WorkloadRecord::default() },
            seed,
            target: Some(format!("http://127.0.0.1:{}", 4000 + seed)),
            server_model: Some(serde_json::from_str(&model).unwrap()),
            ..ConfigRecord::default()
        }
    }

    /// Different seeds are a difference unless the conditions are those of any seed.
    #[test]
    fn a_mockserver_is_identified_by_model_not_by_address() {
        let (here, there) =
            (Conditions::new(&config(10, 1), Mode::Http), Conditions::new(&config(10, 2), Mode::Http));
        assert_eq!(
            here.differences(&there.written()),
            ["seed is 1, there 2", "server_model.seed is 1, there 2"]
        );
        assert_eq!(here.of_any_seed(), there.of_any_seed());
    }

    #[test]
    fn differences_are_listed_by_key() {
        let here = Conditions::new(&config(10, 1), Mode::Http);
        let there = Conditions::new(&config(20, 1), Mode::Simulated);
        assert_eq!(
            here.differences(&there.written()),
            ["mode is \"http\", there \"simulated\"", "workload.ops is 10, there 20"]
        );
    }

    #[test]
    fn a_document_without_delay_noise_had_exact_delays() {
        let conditions = |noise: Option<&str>| {
            let config = ConfigRecord { delay_noise: noise.map(ToOwned::to_owned), ..config(10, 1) };
            Conditions::new(&config, Mode::Simulated)
        };
        let before = conditions(None);
        assert!(conditions(Some("0s")).differences(&before.written()).is_empty());
        let noisy = conditions(Some("200us"));
        assert_eq!(noisy.differences(&before.written()), ["delay_noise is \"200us\", there null"]);
    }

    #[test]
    fn settings_are_listed_by_path_without_those_that_are_off() {
        let mut config = config(10, 1);
        config.workload.more.insert("mix".to_owned(), Setting::Text("GET /a; POST /b".to_owned()));
        let settings = Conditions::new(&config, Mode::Http).settings();
        assert_eq!(settings["workload.mix"], "GET /a; POST /b");
        assert_eq!(settings["server_model.max_busy"], "5");
        assert!(!settings.contains_key("deadline") && !settings.contains_key("workload.share_strategy"));
    }

    #[test]
    fn a_key_on_one_side_only_makes_another_experiment() {
        let here = Conditions::new(&config(10, 1), Mode::Http);
        let mut written = serde_json::to_value(&here).unwrap();
        assert!(here.differences(&written).is_empty());
        written["novel"] = 5.into();
        written["workload"]["think_time"] = "5s".into();
        written["workload"].as_object_mut().unwrap().remove("share_strategy");
        written["server_model"] = Value::Null;
        assert_eq!(
            here.differences(&serde_json::from_value(written).unwrap()),
            [
                "novel is null, there 5",
                "server_model is {\"max_busy\":5,\"seed\":1}, there null",
                "workload.share_strategy is false, there null",
                "workload.think_time is null, there \"5s\"",
            ]
        );
    }
}
