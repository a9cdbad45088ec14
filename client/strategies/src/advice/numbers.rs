//! Parsers for waits that are numbers without a unit.
//!
//! A parser returns `None` for a text in another notation. Both `0` and `-0` are parsed as a wait of zero.

use super::header::Unit;
use super::{Advice, LONGEST, MAX_READ};

/// Parses a text of digits with an optional minus sign. Clients parse such texts with `int()` of Python,
/// `strconv.ParseInt` of Go, or the regular expression `/^\d+$/`.
pub(super) fn whole(text: &str, unit: Unit) -> Option<Advice> {
    let (sign, digits) = signed(text);
    (digits.len() + sign.len() == text.len()).then(|| advice(sign, digits, unit))?
}

/// Parses the digits at the beginning of a text and ignores the rest, like `strtol` of C. So curl reads `1.5` as 1.
pub(super) fn leading(text: &str, unit: Unit) -> Option<Advice> {
    let (sign, digits) = signed(text);
    advice(sign, digits, unit)
}

/// Parses a decimal number, optionally with an exponent. Returns `None` if the number is not finite, or too large for a
/// [`Duration`](std::time::Duration).
pub(super) fn decimal(text: &str, unit: Unit) -> Option<Advice> {
    let number: f64 = text.parse().ok()?;
    if number < 0.0 {
        return number.is_finite().then_some(Advice::Negative);
    }
    let seconds = std::time::Duration::try_from_secs_f64(number).ok()?;
    Some(Advice::After(unit.of_seconds(seconds).min(MAX_READ)))
}

/// Parses the words for infinity that `float()` of Python accepts. The result is the longest wait that any client
/// supports.
pub(super) fn infinite(text: &str) -> Option<Advice> {
    let word = text.strip_prefix('+').unwrap_or(text);
    let known = ["inf", "infinity"].iter().any(|known| word.eq_ignore_ascii_case(known));
    known.then_some(Advice::After(LONGEST))
}

fn signed(text: &str) -> (&str, &str) {
    let (sign, rest) = text.split_at(usize::from(text.starts_with('-')));
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (sign, &rest[..end])
}

fn advice(sign: &str, digits: &str, unit: Unit) -> Option<Advice> {
    let number = number(digits)?;
    if !sign.is_empty() && number > 0 {
        return Some(Advice::Negative);
    }
    Some(Advice::After(unit.times(number).min(MAX_READ)))
}

pub(super) fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const fn ms(millis: u64) -> Advice {
        Advice::After(Duration::from_millis(millis))
    }

    #[test]
    fn whole_numbers_are_digits() {
        for (text, read) in [
            ("2", Some(ms(2000))),
            ("-0", Some(ms(0))),
            ("007", Some(ms(7000))),
            ("-1", Some(Advice::Negative)),
            ("99999999999999999999999999999999999", Some(Advice::After(MAX_READ))),
            ("1.5", None),
            ("+2", None),
            ("", None),
            ("-", None),
            ("1e3", None),
            ("٣", None),
        ] {
            assert_eq!(whole(text, Unit::Seconds), read, "{text}");
        }
        assert_eq!(whole("1500", Unit::Millis), Some(ms(1500)));
    }

    #[test]
    fn leading_digits_are_enough_for_c() {
        for (text, read) in [
            ("1.5", Some(ms(1000))),
            ("2 apples", Some(ms(2000))),
            ("-1", Some(Advice::Negative)),
            ("soon", None),
        ] {
            assert_eq!(leading(text, Unit::Seconds), read, "{text}");
        }
    }

    #[test]
    fn decimals_are_finite_and_hold() {
        for (text, read) in [
            ("1.5", Some(ms(1500))),
            ("1e3", Some(ms(1_000_000))),
            ("-0.0", Some(ms(0))),
            ("-0.5", Some(Advice::Negative)),
            ("1e9", Some(Advice::After(Duration::from_secs(1_000_000_000)))),
            ("1e30", None),
            ("inf", None),
            ("-inf", None),
            ("nan", None),
            ("0x10", None),
        ] {
            assert_eq!(decimal(text, Unit::Seconds), read, "{text}");
        }
        assert_eq!(decimal("1.5", Unit::Millis), Some(Advice::After(Duration::from_micros(1500))));
    }

    #[test]
    fn infinity_is_as_long_as_can_be() {
        assert_eq!(infinite("Infinity"), Some(Advice::After(LONGEST)));
        assert_eq!(infinite("+inf"), Some(Advice::After(LONGEST)));
        assert_eq!((infinite("-inf"), infinite("nan"), infinite("")), (None, None, None));
    }
}
