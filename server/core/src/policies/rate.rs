//! Exact rate as given in a parameter: a count per period.

use vocabulary::{RateUnit, TextField, split_rate};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Number of requests or tokens per period, from 1 to 10¹².
    pub(crate) count: u64,
    /// Period in nanoseconds, at least a millisecond. It equals `step_nanos` if the user gave a whole count. For a count with decimals it
    /// is a multiple of `step_nanos`, up to 10⁶ times as long, so that `count` is a whole number.
    pub(crate) per_nanos: u64,
    /// Period of the rate as given by the user, in nanoseconds, from a millisecond to 100 days. A bucket with stepwise refill gets tokens
    /// once in every such period.
    pub(crate) step_nanos: u64,
}

const SECOND: u64 = 1_000_000_000;

const MAX_DECIMALS: usize = 6;

const TENFOLD: u128 = 10_u128.pow(6);

impl Rate {
    pub(crate) const fn per_second(count: u64) -> Self {
        Self::whole(count, SECOND)
    }

    pub(crate) const fn whole(count: u64, per_nanos: u64) -> Self {
        Self { count, per_nanos, step_nanos: per_nanos }
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split_rate(text)?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 13 || decimals.len() > MAX_DECIMALS {
            return None;
        }
        if !is_number(whole) || !is_number(decimals) {
            return None;
        }
        let per = unit.nanos();
        if !(SECOND / 1000..=100 * 86_400 * SECOND).contains(&per) {
            return None;
        }
        // Lengthens the period until the count is a whole number: for example, 0.5/s becomes 1 in 2 s.
        let tenfold = 10_u64.pow(u32::try_from(decimals.len()).ok()?);
        let count: u64 = format!("{whole}{decimals}").parse().ok()?;
        let shared = gcd(count, tenfold);
        let (count, per_nanos) = (count.checked_div(shared)?, per.checked_mul(tenfold / shared)?);
        (1..=1_000_000_000_000).contains(&count).then_some(Self { count, per_nanos, step_nanos: per })
    }
}

/// Converts an amount from tokens × `from_nanos` to tokens × `to_nanos`, rounded down.
pub(crate) fn rescaled(amount: u128, from_nanos: u64, to_nanos: u64) -> u128 {
    let (from, to) = (u128::from(from_nanos), u128::from(to_nanos));
    // Converts whole tokens and the remainder separately, so that neither product becomes too large.
    (amount / from).saturating_mul(to).saturating_add(amount % from * to / from)
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

impl TextField for Rate {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let Some(rate) = Self::parse(text.trim()) else {
            return Err(format!("`{text}` is not a rate, such as `100/s`"));
        };
        *self = rate;
        Ok(())
    }

    fn show(&self) -> String {
        // Prints the count for the period that the user gave, `step_nanos`. The printed count therefore has no more decimals than the count
        // that the user gave.
        let steps = u128::from(self.per_nanos / self.step_nanos);
        let millionths = u128::from(self.count) * TENFOLD / steps;
        let (whole, rest) = (millionths / TENFOLD, millionths % TENFOLD);
        let decimals = format!(".{rest:0MAX_DECIMALS$}");
        let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
        format!("{whole}{decimals}/{}", RateUnit::of_nanos(self.step_nanos))
    }

    fn accepted(&self) -> &'static str {
        "a rate such as `100/s`, `0.5/s`, `5000/h` or `40/300s`: a number from 0.000001 with up to six \
         decimals, and a period from 1 ms to 100 days; without a period it is per second"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(u64, u64, String)> {
        let mut rate = Rate::per_second(1);
        rate.read(text).ok().map(|()| (rate.count, rate.per_nanos / 1_000_000, rate.show()))
    }

    #[test]
    fn rates_are_exact_and_shown_as_they_are_read() {
        for (text, count, per_ms, shown) in [
            ("100/s", 100, 1000, "100/s"),
            ("0.5/s", 1, 2000, "0.5/s"),
            ("1/2s", 1, 2000, "1/2s"),
            ("2.50/s", 5, 2000, "2.5/s"),
            ("12.345678/s", 6_172_839, 500_000_000, "12.345678/s"),
            ("0.05/min", 1, 1_200_000, "0.05/min"),
            ("1.5/300ms", 3, 600, "1.5/300ms"),
            ("5000/h", 5000, 3_600_000, "5000/h"),
            ("60/m", 60, 60_000, "60/min"),
            ("1200/300s", 1200, 300_000, "1200/5m"),
            ("20/50ms", 20, 50, "20/50ms"),
            ("0.000001/s", 1, 1_000_000_000, "0.000001/s"),
            ("10", 10, 1000, "10/s"),
            ("2.5", 5, 2000, "2.5/s"),
        ] {
            assert_eq!(read(text), Some((count, per_ms, shown.to_owned())), "{text}");
            assert_eq!(Rate::parse(shown), Rate::parse(text), "the step is the same, too");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "",
            "/s",
            "5/",
            "-1/s",
            "0/s",
            "0.0/s",
            "1e3/s",
            "1/0s",
            "1/101day",
            "1/1us",
            "0.0000001/s",
            "x/s",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(read(&format!("{}/s", "9".repeat(400))).is_none());
    }
}
