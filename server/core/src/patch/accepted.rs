//! What keys of a change take, for values of another type.

use serde_json::Value;

use crate::caps::MOST_SLOTS;

/// What this key takes, where the value is nothing of that kind; `None` where its own reader says what is wrong.
pub(super) fn instead_of(key: &str, value: &Value) -> Option<String> {
    let example = match key {
        "max_busy" => return Some(format!("it takes a whole number from 1 to {MOST_SLOTS}")),
        "reject_status" => return took("an error status from 400 to 599, such as 503 or 429"),
        "seed" | "reject_first" => return took("a whole number from 0"),
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
    (!value.is_string()).then(|| format!("it takes a text, such as `{example}`"))
}

#[expect(clippy::unnecessary_wraps, reason = "it reads as what it is in the table above")]
fn took(words: &str) -> Option<String> {
    Some(format!("it takes {words}"))
}
