//! Conversion of retry policies to the general policy `backoff`, of which they are short forms.

use tailback::find;

use crate::part::{BACKOFF, Part, Value};

/// Short forms of the retry policy `backoff`, by name. Each short form sets the listed parameters of `backoff`. A parameter that the short
/// form and `backoff` have under the same name is copied.
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

/// Converts a short form of the retry policy `backoff` to `backoff`. Other policies keep their name, and writers of settings read the
/// parameters of none of them except `backoff`. In every policy, a symmetrical `spread` is converted to `around`.
pub(crate) fn as_backoff(mut part: Part) -> Part {
    part.values.iter_mut().filter(|value| value.key == "spread").for_each(around);
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
        // `min` becomes 0, because `base` and `spread` already contain the maximum and the minimum.
        set("min", "0s", &part.name);
    }
    Part { name: BACKOFF.to_owned(), values, is_known: true }
}

/// Converts a symmetric spread of delays such as `between|0.8|1.2` to the form `around|0.2`, for which libraries have a setting.
fn around(spread: &mut Value) {
    let ends = spread.text.strip_prefix("between|").and_then(|ends| ends.split_once('|'));
    let Some((Ok(low), Ok(high))) = ends.map(|(low, high)| (low.parse::<f64>(), high.parse::<f64>())) else {
        return;
    };
    let share = libm::round((1.0 - low) * 1e6) / 1e6;
    if libm::fabs(low + high - 2.0) < 1e-9 && share >= 0.0 {
        spread.typed = Some(spread.shown());
        spread.text = format!("around|{share}");
    }
}

#[cfg(test)]
mod tests {
    use tailback::{PartKind, STRATEGIES, StrategySpec};

    use super::*;
    use crate::described::Described;

    fn read(text: &str, keys: [&str; 4]) -> String {
        let described = Described::new(text.parse::<StrategySpec>().unwrap(), None);
        keys.map(|key| described.peek(BACKOFF, key)).join(" ")
    }

    #[test]
    fn every_retry_policy_is_read_as_a_backoff() {
        for entry in STRATEGIES.iter().filter(|entry| entry.kind == PartKind::RetryPolicy) {
            assert_ne!(read(entry.name, ["base"; 4]), "   ", "{}", entry.name);
        }
        let keys = ["base", "cap", "growth", "spread"];
        assert_eq!(read("constant:delay=2s", keys), "2s none constant none");
        assert_eq!(read("exponential:jitter=0.5,cap=9s", keys), "50ms 9s exponential around|0.5");
        assert_eq!(read("uniform:min=1s,max=3s", keys), "3s none constant from|1s");
        assert_eq!(read("backoff:spread=between|0.8|1.2", keys), "50ms 30s exponential around|0.2");
        assert_eq!(read("backoff:spread=between|0.8|1.3", keys), "50ms 30s exponential between|0.8|1.3");
        assert_eq!(read("aimd", keys), "0s 30s constant none");
    }
}
