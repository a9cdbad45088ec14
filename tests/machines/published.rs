//! Published schema of results, and validation of documents by it.

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../docs/result.schema.json");

pub(crate) fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("it is JSON")
}

pub(crate) fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("it is a schema")
}

pub(crate) fn violations(validator: &Validator, document: &Value) -> Vec<String> {
    let told = |error: jsonschema::ValidationError<'_>| {
        let told: String = error.to_string().chars().take(300).collect();
        format!("{}: {told}", error.instance_path())
    };
    validator.iter_errors(document).map(told).collect()
}

/// Returns a validator for one definition alone, whose messages are more specific than those of a choice of several. It
/// rejects keys that the schema does not describe, so that none is forgotten.
pub(crate) fn strict(definition: &str) -> Validator {
    let mut definitions = schema()["$defs"].take();
    closed(&mut definitions);
    validator(&json!({ "$ref": format!("#/$defs/{definition}"), "$defs": definitions }))
}

fn closed(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            for value in entries.values_mut() {
                closed(value);
            }
            // A key of a result could be called `properties`, but none is.
            if entries.get("properties").is_some_and(Value::is_object) {
                entries.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// Checks a document against the whole schema, and strictly against its own definition.
pub(crate) fn assert_valid(definition: &str, document: &Value) {
    let wrong = violations(&strict(definition), document);
    assert!(
        wrong.is_empty(),
        "not as docs/result.schema.json says, which comes from the types of the documents: {wrong:#?}"
    );
    assert_eq!(violations(&validator(&schema()), document), Vec::<String>::new());
}
