//! Number with a unit, as used in ramps and waves. It is exact to a millionth.

use std::fmt;

/// Non-negative number and its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub(crate) millionths: i64,
    /// Unit of the number as given by the user, such as `/s` or `ms`. Usually empty.
    pub(crate) unit: String,
}

pub(super) const ONE: i64 = Quantity::ONE;

/// Maximum number of digits that a number may have before the decimal point.
const MAX_DIGITS: usize = 12;

const MAX_DECIMALS: usize = 6;

impl Quantity {
    pub(crate) const ONE: i64 = 1_000_000;

    /// Parses a non-negative number with an optional unit, such as `50`, `0.25`, `100/s` or `500ms`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_unit = unit.chars().all(|c| c.is_ascii_alphanumeric() || c == '/' || c == 'µ');
        if whole.is_empty() || whole.len() > MAX_DIGITS || decimals.len() > MAX_DECIMALS || !is_unit {
            return None;
        }
        let millionths = format!("{whole}{decimals:0<MAX_DECIMALS$}").parse().ok()?;
        Some(Self { millionths, unit: unit.to_owned() })
    }

    pub(super) fn in_unit_of(self, other: &Self) -> Self {
        if self.unit.is_empty() { Self { unit: other.unit.clone(), ..self } } else { self }
    }
}

pub(super) fn number_text(millionths: i64) -> String {
    let (whole, rest) = (millionths / ONE, (millionths % ONE).unsigned_abs());
    if rest == 0 {
        return whole.to_string();
    }
    let decimals = format!("{rest:06}");
    format!("{whole}.{}", decimals.trim_end_matches('0'))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", number_text(self.millionths), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_keep_their_unit() {
        for (text, millionths, unit) in [
            ("50", 50_000_000, ""),
            ("0.25/s", 250_000, "/s"),
            ("1.000001ms", 1_000_001, "ms"),
            ("40/300s", 40_000_000, "/300s"),
        ] {
            let quantity = Quantity::read(text).unwrap();
            assert_eq!((quantity.millionths, quantity.unit.as_str()), (millionths, unit), "{text}");
            assert_eq!(quantity.to_string(), text);
        }
        for text in ["", "s", "-5", "1e3.", ".5", "1.0000001", "1 s", "1234567890123", "1.2.3"] {
            assert_eq!(Quantity::read(text), None, "{text}");
        }
    }
}
