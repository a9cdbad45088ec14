//! JSON schema of results (draft 2020-12), stored in `docs/result.schema.json`. It is generated from the Rust types alone.

use schemars::Schema;
use schemars::generate::SchemaSettings;

use crate::baseline::Baseline;
use crate::document::Document;
use crate::document::judgement::Judgement;
use crate::document::progress_line::ProgressLine;
use crate::document::recommendation::Recommendation;
use crate::document::recordings::RecordingsCheck;
use crate::document::sample::SampleLine;

pub fn schema() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SampleLine>();
    generator.subschema_for::<ProgressLine>();
    generator.subschema_for::<Baseline>();
    generator.subschema_for::<RecordingsCheck>();
    // The documents of these commands are not results of runs, so `loadgen report` does not read them.
    let others = [generator.subschema_for::<Recommendation>(), generator.subschema_for::<Judgement>()];
    let mut schema = generator.into_root_schema_for::<Document>();
    if let Some(serde_json::Value::Array(documents)) = schema.get_mut("anyOf") {
        documents.extend(others.into_iter().map(Schema::to_value));
    }
    schema
}

#[cfg(test)]
pub(crate) struct Leaf {
    pub(crate) path: String,
    pub(crate) is_number: bool,
}

/// Returns the single values of a run's result, in the order in which they are written. Truth values count as numbers. Lists, the
/// configuration and the place in a sweep are left out.
#[cfg(test)]
pub(crate) fn run_leaves() -> Vec<Leaf> {
    use serde_json::Value;

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
            return resolved(root, root.pointer(reference.trim_start_matches('#')).unwrap());
        }
        let choices = schema["anyOf"].as_array();
        let some = choices.into_iter().flatten().find(|choice| choice["type"] != "null");
        some.map_or(schema, |some| resolved(root, some))
    }

    let root = schema().to_value();
    let mut leaves = Vec::new();
    walk(&root, &root["$defs"]["RunResult"], "", &mut leaves);
    leaves
}
