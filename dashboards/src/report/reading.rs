//! What pages show of a document as it is written, by the place of the key.

use serde_json::Value;

/// The value at a path of keys; nothing when it is missing or null.
pub(super) fn look<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let found = path.split('.').try_fold(value, |value, key| value.get(key))?;
    (!found.is_null()).then_some(found)
}
