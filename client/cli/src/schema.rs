//! The JSON schema of results (draft 2020-12), `docs/result.schema.json`: of runs from their types, of the documents that
//! runs stand in by hand.

use std::process::ExitCode;

use loadgen_core::RunResult;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::files::output::to_stdout;
use crate::record::ConfigRecord;

/// Everything around runs.
const DOCUMENTS: &str = include_str!("schema/documents.json");

/// Prints the schema.
pub(crate) fn print() -> anyhow::Result<ExitCode> {
    let mut text = serde_json::to_string_pretty(&documents())?;
    text.push('\n');
    to_stdout(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What every result looks like.
fn documents() -> Value {
    let mut schema: Value =
        serde_json::from_str(DOCUMENTS).expect("it is part of the program, and a test reads it");
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<RunResult<ConfigRecord>>();
    for (name, definition) in generator.take_definitions(true) {
        schema["$defs"][name] = definition;
    }
    // A sweep says with each of its runs where it belongs.
    schema["$defs"]["RunResult"]["properties"]["at"] = json!({ "$ref": "#/$defs/At" });
    schema
}

/// The paths of everything in a run's result that is one value, such as `op_latency_ms.p99`, in the order in which it
/// is written; how the run was set up is left out.
pub(crate) fn scalar_paths() -> Vec<String> {
    let schema = documents();
    let mut paths = Vec::new();
    walk(&schema, &schema["$defs"]["RunResult"], "", &mut paths);
    paths
}

fn walk(root: &Value, schema: &Value, path: &str, paths: &mut Vec<String>) {
    let schema = resolved(root, schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    match properties {
        // Every field is required, and they stand in the order of the type.
        Some(properties) => {
            for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                if path.is_empty() && key == "config" {
                    continue;
                }
                let inner = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                walk(root, &properties[key], &inner, paths);
            }
        }
        None if schema["type"] == "array" => {}
        None => paths.push(path.to_owned()),
    }
}

/// The schema itself behind a reference and behind "or null".
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return root.pointer(reference.trim_start_matches('#')).unwrap_or(schema);
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let some = choices.into_iter().flatten().find(|choice| choice["type"] != "null");
    some.map_or(schema, |some| resolved(root, some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_result_has_a_path() {
        let paths = scalar_paths();
        assert_eq!(paths[..4], ["schema_version", "mode", "strategy", "seed"]);
        for path in ["ops.total", "op_latency_ms.p99", "server.max_busy_seen", "generator.send_lag_ms.p50"] {
            assert!(paths.iter().any(|there| there == path), "{path}: {paths:?}");
        }
        assert!(
            !paths.iter().any(|path| path.starts_with("config") || path.starts_with("series")),
            "{paths:?}"
        );
    }
}
