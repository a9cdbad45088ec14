//! Rule that decides which runs are repeats of one another.

use crate::{Conditions, RunResult};

/// Key that all repeats of a run share: the strategy with all its flags, and the conditions except seeds. Reports show runs with the same
/// key as one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatKey {
    strategy: String,
    /// The settings `max_attempts` and `retry_after` are kept separately, because they change the strategy but are not part of its text.
    max_attempts: String,
    retry_after: String,
    /// Kind of server, such as `embedded` or `found`. Reports label the kinds differently, although comparisons treat all kinds alike.
    server: String,
    conditions: Conditions,
}

impl RepeatKey {
    pub fn from_run(run: &RunResult) -> Self {
        Self {
            strategy: run.strategy.clone(),
            max_attempts: run.config.max_attempts.clone(),
            retry_after: run.config.retry_after.clone(),
            server: run.config.server.clone(),
            conditions: Conditions::from_run(run).of_any_seed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;
    use crate::document::config::{ConfigRecord, SharedConfig};
    use crate::testing::run;

    /// Keys that do not separate repeats: how runs were requested, their seeds, and parameters that follow from the strategy.
    const IRRELEVANT: [&str; 7] =
        ["program", "version", "command_line", "strategy", "seed", "repeats", "server_model.seed"];

    fn key(config: &Value) -> RepeatKey {
        let config: SharedConfig = serde_json::from_value(config.clone()).unwrap();
        RepeatKey::from_run(&RunResult { config, ..run("aimd", 1, 10, 10, 1.0) })
    }

    fn paths(object: &Map<String, Value>, place: &str) -> Vec<String> {
        let paths = |(key, value): (&String, &Value)| match value.as_object() {
            Some(inner) => paths(inner, &format!("{place}{key}.")),
            None => vec![format!("{place}{key}")],
        };
        object.iter().flat_map(paths).collect()
    }

    /// Returns other values of the same type. The type of null is unknown, so a text and a number are tried.
    fn others(value: &Value) -> Vec<Value> {
        match value {
            Value::Null => vec!["7s".into(), 7.into()],
            Value::Bool(truth) => vec![(!truth).into()],
            Value::Number(number) if number.is_u64() => vec![7.into()],
            Value::Number(_) => vec![7.5.into()],
            Value::String(text) => vec![format!("{text}x").into()],
            Value::Array(_) => {
                vec![Value::Array(vec!["x".into()]), Value::Array(vec![Value::Object(Map::new())])]
            }
            Value::Object(_) => Vec::new(),
        }
    }

    /// Another value of any key makes two runs differ, except for the keys in `IRRELEVANT` and the address of a mockserver.
    #[test]
    fn every_relevant_key_separates_runs() {
        let mut config = serde_json::to_value(ConfigRecord::default()).unwrap();
        config["server_model"] = serde_json::from_str(r#"{"max_busy": 5, "seed": 1}"#).unwrap();
        let all = paths(config.as_object().unwrap(), "");
        assert!(
            all.len() > 25 && IRRELEVANT.iter().all(|path| all.iter().any(|there| there == path)),
            "{all:?}"
        );
        for path in all {
            let pointer = format!("/{}", path.replace('.', "/"));
            let changed = others(&config.pointer(&pointer).unwrap().clone()).into_iter().find_map(|other| {
                let mut changed = config.clone();
                *changed.pointer_mut(&pointer).unwrap() = other;
                serde_json::from_value::<ConfigRecord>(changed.clone()).is_ok().then_some(changed)
            });
            let changed = changed.unwrap_or_else(|| panic!("no other value of {path} is known here"));
            // A mockserver is identified by its model, not by its address.
            let is_irrelevant = IRRELEVANT.contains(&path.as_str()) || path == "target";
            assert_eq!(key(&changed) == key(&config), is_irrelevant, "{path}");
        }
    }

    #[test]
    fn unknown_keys_separate_runs_at_every_level() {
        let config = serde_json::to_value(ConfigRecord::default()).unwrap();
        for place in ["", "/workload", "/request"] {
            let mut changed = config.clone();
            changed.pointer_mut(place).unwrap()["novel"] = 7.into();
            assert_ne!(key(&changed), key(&config), "{place}");
            assert_eq!(key(&changed), key(&changed));
        }
    }

    #[test]
    fn seeds_do_not_set_runs_apart_and_strategies_do() {
        let key = |strategy, seed| RepeatKey::from_run(&run(strategy, seed, 10, 10, 1.0));
        assert_eq!(key("aimd", 1), key("aimd", 2));
        assert_ne!(key("aimd", 1), key("none", 1));
    }
}
