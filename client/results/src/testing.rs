//! Results for tests.

use serde_json::Value;

use crate::RunResult;

/// Returns a run of ten ops, of which `succeeded` succeeded.
pub(crate) fn run(strategy: &str, seed: u64, succeeded: u64, attempts: u64, makespan_s: f64) -> RunResult {
    let complete = succeeded == 10;
    let text = format!(
        r#"{{"schema_version": 1, "mode": "simulated", "strategy": "{strategy}", "seed": {seed},
             "ops": {{"total": 10, "succeeded": {succeeded}, "given_up": {}}}, "attempts": {{"total": {attempts}}},
             "makespan_s": {makespan_s}, "makespan_complete": {complete}}}"#,
        10 - succeeded
    );
    serde_json::from_str(&text).expect("it is a run")
}

pub(crate) struct Leaf {
    pub(crate) path: String,
    pub(crate) is_number: bool,
}

/// Returns the single values of a run's result, in the order in which they are written. Truth values count as numbers. Lists, the
/// configuration and the place in a sweep are left out.
pub(crate) fn run_leaves() -> Vec<Leaf> {
    fn walk(root: &Value, schema: &Value, path: &str, leaves: &mut Vec<Leaf>) {
        let schema = resolved(root, schema);
        if let Some(properties) = schema["properties"].as_object() {
            // Required keys, which every result has, are in the order of the type. Optional keys follow.
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let besides = properties.keys().map(String::as_str).filter(|key| !required.contains(key));
            for key in required.iter().copied().chain(besides) {
                if path.is_empty() && ["config", "at"].contains(&key) {
                    continue;
                }
                let inner = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                walk(root, &properties[key], &inner, leaves);
            }
            return;
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        if !types.contains(&"array") {
            let is_number = schema.get("const").is_some()
                || types.iter().any(|name| ["integer", "number", "boolean"].contains(name));
            leaves.push(Leaf { path: path.to_owned(), is_number });
        }
    }

    fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
        if let Some(reference) = schema["$ref"].as_str() {
            return resolved(root, root.pointer(reference.trim_start_matches('#')).expect("it is defined"));
        }
        let choices = schema["anyOf"].as_array();
        let some = choices.into_iter().flatten().find(|choice| choice["type"] != "null");
        some.map_or(schema, |some| resolved(root, some))
    }

    let root: Value =
        serde_json::from_str(include_str!("../../../docs/result.schema.json")).expect("it is JSON");
    let mut leaves = Vec::new();
    walk(&root, &root["$defs"]["RunResult"], "", &mut leaves);
    leaves
}
