//! Error texts for configuration values of the wrong type. The texts name the values that a key accepts.

use serde_json::Value;

use crate::caps::MAX_SLOTS;

/// Returns an error text with the values that a configuration key accepts. Returns `None` if the error of the value's own parser is
/// clearer. An example is a value that is a text, as required, but malformed.
pub(super) fn instead_of(key: &str, value: &Value) -> Option<String> {
    let example = match key {
        "max_busy" => return Some(format!("the value must be a whole number from 1 to {MAX_SLOTS}")),
        "reject_status" => return took("an error status from 400 to 599, such as 503 or 429"),
        "seed" | "reject_first" => return took("a whole number, 0 or greater"),
        "loss" => return took("a probability from 0 to 1"),
        "scale" => return took("a number from 0.000001 to 1000000, such as 0.02"),
        "rejects_occupy" => return took("true or false"),
        "answers" => return None,
        "policy" => "concurrency-cap",
        "preset" => "github",
        "outages" => "10s..40s",
        "caps" => "10s=25,20s=80",
        "fault" => "reset:1%",
        "schedule" => "10s max-busy=20",
        _ => "500ms",
    };
    (!value.is_string()).then(|| format!("the value must be text, such as `{example}`"))
}

#[expect(clippy::unnecessary_wraps, reason = "it reads as what it is in the table above")]
fn took(words: &str) -> Option<String> {
    Some(format!("the value must be {words}"))
}
