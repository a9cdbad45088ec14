//! JSON schema of results (draft 2020-12), stored in `docs/result.schema.json`. It is generated from the Rust types alone.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};

use crate::{Baseline, Document, ProgressLine, SampleLine};

/// Returns the schema. `others` defines the documents of tools, and returns those that are not lines or parts of another file.
pub fn schema(others: fn(&mut SchemaGenerator) -> Vec<Schema>) -> Schema {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<SampleLine>();
    generator.subschema_for::<ProgressLine>();
    generator.subschema_for::<Baseline>();
    let others = others(&mut generator);
    let mut schema = generator.into_root_schema_for::<Document>();
    if let Some(serde_json::Value::Array(documents)) = schema.get_mut("anyOf") {
        documents.extend(others.into_iter().map(Schema::to_value));
    }
    schema
}
