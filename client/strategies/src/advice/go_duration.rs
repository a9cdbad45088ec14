//! Waits in the notation of Go: `1m30.5s` (Go, `time.ParseDuration`).

use std::time::Duration;

use super::numbers::number;
use super::{Advice, MAX_READ};

/// Units of Go durations with their length in nanoseconds. If one unit is the beginning of another, the longer one
/// comes first.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

pub(super) fn go_duration(text: &str) -> Option<Advice> {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut sum = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    if rest == "0" {
        return Some(Advice::After(Duration::ZERO));
    }
    while !rest.is_empty() {
        let (addend, after) = addend(rest)?;
        sum = sum.saturating_add(addend);
        rest = after;
    }
    let below_zero = negative && !sum.is_zero();
    Some(if below_zero { Advice::Negative } else { Advice::After(sum.min(MAX_READ)) })
}

fn addend(text: &str) -> Option<(Duration, &str)> {
    let (whole, after) = digits(text);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", after),
    };
    let number_of = |digits: &str| if digits.is_empty() { Some(0) } else { number(digits) };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, nanos) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
    // Digits beyond the 18th decimal place are ignored. Even in hours, the largest unit, such digits add less than a
    // nanosecond.
    let fine = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fine.len()).ok()?);
    let nanos = u128::from(*nanos);
    let total = u128::from(number_of(whole)?) * nanos + u128::from(number_of(fine)?) * nanos / scale;
    let total = Duration::from_nanos(u64::try_from(total).unwrap_or(u64::MAX));
    Some((total, &after[unit.len()..]))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go_are_read() {
        let after = |millis| Some(Advice::After(Duration::from_millis(millis)));
        for (text, read) in [
            ("1m30.5s", after(90_500)),
            ("6m0s", after(360_000)),
            ("20ms", after(20)),
            ("1h", after(3_600_000)),
            (".5s", after(500)),
            ("1.s", after(1000)),
            ("0", after(0)),
            ("-0s", after(0)),
            ("+1s", after(1000)),
            ("1000µs", after(1)),
            ("-1s", Some(Advice::Negative)),
            ("99999999999999999999h", Some(Advice::After(MAX_READ))),
            ("0.1234567890123456789012s", Some(Advice::After(Duration::from_nanos(123_456_789)))),
        ] {
            assert_eq!(go_duration(text), read, "{text}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in ["", "-", "1", "s", ".s", "1 s", "1s ", "1d", "1s1", "1e3s", "soon"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
