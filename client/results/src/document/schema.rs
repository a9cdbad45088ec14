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
