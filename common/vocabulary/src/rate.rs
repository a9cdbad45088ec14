//! Text form of rates: `8/s`, `10/min`, `420/m`, `40/300s`, and `8` for eight per second.

use std::fmt;
use std::time::Duration;

use crate::duration_text;

const SECOND: u64 = 1_000_000_000;

/// Named units of time, with their lengths in nanoseconds. If several names have the same length, the most usual name
/// comes first.
const NAMED: &[(&str, u64)] = &[
    ("s", SECOND),
    ("min", 60 * SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
    ("day", 86_400 * SECOND),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateUnit {
    /// Name of the rate's unit of time as given by the user, such as `min`. Empty if the unit was given as a duration
    /// such as `300s`.
    name: &'static str,
    nanos: u64,
}

impl RateUnit {
    pub const SECOND: Self = Self { name: "s", nanos: SECOND };

    pub fn parse(text: &str) -> Option<Self> {
        if let Some((name, nanos)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Some(Self { name, nanos: *nanos });
        }
        let nanos = u64::try_from(duration_text::parse(text).ok()?.as_nanos()).ok()?;
        (nanos > 0).then_some(Self { name: "", nanos })
    }

    pub fn of_nanos(nanos: u64) -> Self {
        let named = NAMED.iter().find(|(_, length)| *length == nanos);
        Self { name: named.map_or("", |(name, _)| name), nanos }
    }

    /// Returns the length of the unit in nanoseconds, above zero.
    pub fn nanos(self) -> u64 {
        self.nanos
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "" => f.write_str(&duration_text::format(Duration::from_nanos(self.nanos))),
            name => f.write_str(name),
        }
    }
}

pub fn split_rate(text: &str) -> Option<(&str, RateUnit)> {
    match text.split_once('/') {
        Some((number, unit)) => Some((number.trim(), RateUnit::parse(unit.trim())?)),
        None => Some((text.trim(), RateUnit::SECOND)),
    }
}

/// Rate (a number per unit of time) that keeps the unit in which it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    number: f64,
    unit: RateUnit,
}

impl Rate {
    pub const fn per_second(number: f64) -> Self {
        Self { number, unit: RateUnit::SECOND }
    }

    /// Parses a rate such as `10/min`. The caller checks whether the rate is in the accepted range.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_rate(text)?;
        let number = number.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(Self { number, unit })
    }

    pub fn per_s(self) -> f64 {
        self.number / (self.unit.nanos as f64 / SECOND as f64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_printed_in_the_unit_in_which_they_were_given() {
        for (text, per_s, shown) in [
            ("8", 8.0, "8/s"),
            ("8/s", 8.0, "8/s"),
            ("10/min", 1.0 / 6.0, "10/min"),
            ("420/m", 7.0, "420/m"),
            ("7200/h", 2.0, "7200/h"),
            ("86400/day", 1.0, "86400/day"),
            ("600/300s", 2.0, "600/5m"),
            ("0.50/s", 0.5, "0.5/s"),
            (" 3 / s ", 3.0, "3/s"),
        ] {
            let rate = Rate::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert!((rate.per_s() - per_s).abs() < 1e-12, "{text}: {}", rate.per_s());
            assert_eq!(rate.to_string(), shown);
            assert_eq!(Rate::parse(shown), Some(rate), "{shown} is read back");
        }
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        for text in ["", "/s", "fast", "8/", "8/0s", "8/d", "NaN/s", "inf", "8/s/s"] {
            assert_eq!(Rate::parse(text), None, "{text}");
        }
    }
}
