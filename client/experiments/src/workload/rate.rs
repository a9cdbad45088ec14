//! How often ops arrive, as people write it.

use std::str::FromStr;

/// Arrivals per second, written `1000/s`, `60/m`, `10/h` or as a bare number per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(f64);

impl Rate {
    /// Arrivals per second of an open loop of which nothing else is said.
    pub const DEFAULT: Self = Self(1000.0);

    /// Arrivals per second.
    pub const fn per_s(self) -> f64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit.trim() {
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(format!("`{unit}` is no unit; write for example `1000/s`, `60/m` or `10/h`")),
        };
        number
            .trim()
            .parse::<f64>()
            .ok()
            .map(|number| number / seconds)
            .filter(|rate| *rate >= 1e-6 && *rate <= 1e7)
            .map(Self)
            .ok_or_else(|| "it must be a number above 0, at most 10000000/s, such as `1000/s`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second_minute_or_hour() {
        for (text, rate) in [("1000/s", 1000.0), ("60/m", 1.0), ("7200/h", 2.0), ("5", 5.0), ("0.5/s", 0.5)] {
            assert_eq!(text.parse(), Ok(Rate(rate)));
        }
        for text in ["0", "-1/s", "1000/d", "fast", "NaN", "inf/s", "1e9/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
