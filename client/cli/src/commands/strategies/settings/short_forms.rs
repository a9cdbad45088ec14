//! Retry policies read as the `backoff` that each is a short form of.

use tailback::find;

use super::part::{BACKOFF, Part, Value};

/// What a short form sets of `backoff`, beside the parameters that are called the same.
const SHORT_FORMS: &[(&str, &[(&str, &str)])] = &[
    ("immediate", &[("base", "0s"), ("growth", "constant")]),
    ("none", &[("base", "0s"), ("growth", "constant")]),
    ("constant", &[("growth", "constant"), ("cap", "none")]),
    ("linear", &[("growth", "linear")]),
    ("exponential", &[]),
    ("full-jitter", &[("spread", "full")]),
    ("equal-jitter", &[("spread", "equal")]),
    ("decorrelated-jitter", &[("growth", "decorrelated")]),
    ("uniform", &[("growth", "constant"), ("cap", "none")]),
    ("thain", &[("spread", "above|1"), ("cap-applies", "after-spread")]),
];

/// The same wait as a `backoff`; one that is none of these keeps its name, and nothing of it is understood.
pub(super) fn as_backoff(part: Part) -> Part {
    let short = SHORT_FORMS.iter().find(|(name, _)| *name == part.name);
    let (Some((_, sets)), Some(backoff)) = (short, find(BACKOFF)) else { return part };
    let own = |key: &str| part.values.iter().find(|value| value.key == key);
    let mut values: Vec<Value> = backoff
        .parameters()
        .iter()
        .map(|parameter| {
            let value = own(parameter.key).map_or(&parameter.value, |own| &own.text);
            Value::new(parameter.key, value, &parameter.value)
        })
        .collect();
    let mut set = |key: &str, value: &str, typed: &str| {
        if let Some(there) = values.iter_mut().find(|there| there.key == key) {
            value.clone_into(&mut there.text);
            there.typed = Some(typed.to_owned());
        }
    };
    for (key, value) in *sets {
        set(key, value, &part.name);
    }
    if let Some(delay) = own("delay") {
        set("base", &delay.text, &format!("delay={}", delay.text));
    }
    if let Some(jitter) = own("jitter").filter(|jitter| jitter.text != "0") {
        set("spread", &format!("around|{}", jitter.text), &format!("jitter={}", jitter.text));
    }
    if let (Some(max), Some(min)) = (own("max"), own("min")) {
        set("base", &max.text, &format!("max={}", max.text));
        set("spread", &format!("from|{}", min.text), &part.name);
        // Both ends are in the spread.
        set("min", "0s", &part.name);
    }
    Part { name: BACKOFF.to_owned(), values, is_known: true }
}
