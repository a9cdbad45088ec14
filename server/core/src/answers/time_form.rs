//! Format of a time in an answer: unit, precision and rounding.
//!
//! Units of durations are `s`, `ms`, and `go` (as Go's `time.Duration.String` writes them: `6m0s`, `12ms`). Units of moments are `epoch`
//! (seconds since 1970), `epoch_ms`, `date` (the HTTP-date of RFC 9110) and `rfc3339`.

use std::fmt::{self, Write as _};
use std::time::Duration;

use vocabulary::{Choice as _, ChoiceField, WallTime, choices, did_you_mean};

use crate::calendar;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeForm {
    pub(super) unit: Unit,
    pub(super) places: u8,
    pub(super) rounding: Rounding,
}

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Unit {
        Seconds = "s",
        Millis = "ms",
        Go = "go",
        Epoch = "epoch",
        EpochMillis = "epoch_ms",
        Date = "date",
        Rfc3339 = "rfc3339",
    }
}

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) enum Rounding {
        /// Rounds up, so that the advised time is never too early.
        #[default]
        Up = "up",
        Down = "down",
        /// Rounds to the nearest value. Halves are rounded up.
        Nearest = "nearest",
    }
}

impl Unit {
    pub(super) const fn is_moment(self) -> bool {
        matches!(self, Self::Epoch | Self::EpochMillis | Self::Date | Self::Rfc3339)
    }

    /// Returns the maximum number of digits after the decimal point for times in this unit. The last allowed digit represents one
    /// nanosecond or more.
    pub(super) const fn max_decimals(self) -> u8 {
        match self {
            Self::Date => 0,
            Self::Millis | Self::EpochMillis => 6,
            _ => 9,
        }
    }

    const fn nanos(self) -> u128 {
        match self {
            Self::Millis | Self::EpochMillis => 1_000_000,
            _ => 1_000_000_000,
        }
    }
}

impl TimeForm {
    /// Returns the default format of times in this unit. The format rounds up to whole units, or to whole milliseconds for the unit `go`.
    pub(super) const fn new(unit: Unit) -> Self {
        let places = if matches!(unit, Unit::Go) { 3 } else { 0 };
        Self { unit, places, rounding: Rounding::Up }
    }

    /// Parses the optional format words of a time: `decimal(2)` for the number of decimals, then `up`, `down` or `nearest` for the
    /// rounding. In the template, each word follows the unit after a colon.
    pub(super) fn take<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let (mut has_decimals, mut has_rounding) = (false, false);
        for word in words {
            let twice = |is_there: bool| {
                if is_there {
                    Err(format!(
                        "`{word}` is in the wrong place or given twice; the order is `decimal(3)`, then a rounding mode"
                    ))
                } else {
                    Ok(())
                }
            };
            if let Some(places) = word.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')) {
                twice(has_decimals || has_rounding)?;
                let most = self.unit.max_decimals();
                let places = places.parse().ok().filter(|places| *places <= most);
                self.places = places.ok_or_else(|| {
                    format!(
                        "`{word}`: the number of digits after the decimal point must be from 0 to {most} here"
                    )
                })?;
                has_decimals = true;
            } else if let Some(rounding) = Rounding::CHOICES.iter().find(|(known, _)| *known == word) {
                twice(has_rounding)?;
                self.rounding = rounding.1;
                has_rounding = true;
            } else {
                let known = Rounding::CHOICES.iter().map(|(word, _)| *word).chain(["decimal(3)"]);
                return Err(format!(
                    "`{word}` is not a rounding mode{}; write `up`, `down` or `nearest`, and before it, if \
                     wanted, `decimal(3)`",
                    did_you_mean(word, known)
                ));
            }
        }
        Ok(())
    }

    pub(super) fn write_duration(self, duration: Duration, out: &mut String) {
        let count = self.rounded(duration);
        match self.unit {
            Unit::Go => write_go(count, self.places.into(), out),
            _ => self.write_decimal(count, out),
        }
    }

    pub(super) fn write_moment(self, moment: WallTime, out: &mut String) {
        let count = self.rounded(moment.since_unix());
        let per_second = 10_u64.pow(self.places.into());
        let (whole, fraction) = (count / per_second, count % per_second);
        match self.unit {
            Unit::Date => out.push_str(&calendar::http_date(whole)),
            Unit::Rfc3339 => calendar::write_rfc3339(whole, Some((fraction, self.places.into())), out),
            _ => self.write_decimal(count, out),
        }
    }

    /// Converts a duration to a count of the smallest unit that is printed, and rounds it. For example, a time with two decimals is
    /// converted to hundredths of its unit. A count that exceeds 64 bits becomes `u64::MAX`.
    pub(super) fn rounded(self, duration: Duration) -> u64 {
        let step = self.unit.nanos() / 10_u128.pow(self.places.into());
        let nanos = duration.as_nanos();
        let count = match self.rounding {
            Rounding::Up => nanos.div_ceil(step),
            Rounding::Down => nanos / step,
            Rounding::Nearest => (nanos + step / 2) / step,
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    fn write_decimal(self, count: u64, out: &mut String) {
        let one = 10_u64.pow(self.places.into());
        let _ = write!(out, "{}", count / one);
        if self.places > 0 {
            let _ = write!(out, ".{:0places$}", count % one, places = usize::from(self.places));
        }
    }
}

impl fmt::Display for TimeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Self::new(self.unit);
        write!(f, "_{}", self.unit.word())?;
        if self.places != plain.places {
            write!(f, ":decimal({})", self.places)?;
        }
        if self.rounding != plain.rounding {
            write!(f, ":{}", self.rounding.word())?;
        }
        Ok(())
    }
}

/// Writes a duration in the same way as Go (golang/go, `src/time/time.go`, `Duration.String`). The only difference is the unit `us` for
/// microseconds, because `µ` is not ASCII. Go parses `us`, too.
fn write_go(count: u64, places: u32, out: &mut String) {
    let nanos = count.saturating_mul(10_u64.pow(9 - places));
    let (per_unit, digits, name) = match nanos {
        0 => {
            out.push_str("0s");
            return;
        }
        1..1_000 => (1, 0, "ns"),
        1_000..1_000_000 => (1_000, 3, "us"),
        1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
        _ => (1_000_000_000, 9, "s"),
    };
    let (mut whole, fraction) = (nanos / per_unit, nanos % per_unit);
    if name == "s" && whole >= 60 {
        let minutes = whole / 60;
        whole %= 60;
        if minutes >= 60 {
            let _ = write!(out, "{}h", minutes / 60);
        }
        let _ = write!(out, "{}m", minutes % 60);
    }
    let _ = write!(out, "{whole}");
    if fraction > 0 {
        let fraction = format!(".{fraction:0digits$}");
        out.push_str(fraction.trim_end_matches('0'));
    }
    out.push_str(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(unit: &str, words: &[&str]) -> TimeForm {
        let unit = Unit::CHOICES.iter().find(|(word, _)| *word == unit).unwrap().1;
        let mut form = TimeForm::new(unit);
        form.take(words.iter().copied()).unwrap();
        form
    }

    #[test]
    fn durations_are_written_in_every_unit() {
        for (unit, words, nanos, text) in [
            ("s", &[][..], 1_000_000_001, "2"),
            ("s", &["down"], 999_999_999, "0"),
            ("s", &["nearest"], 1_500_000_000, "2"),
            ("s", &["nearest"], 1_499_999_999, "1"),
            ("s", &["decimal(1)"], 2_000_000_000, "2.0"),
            ("s", &["decimal(2)", "down"], 659_999_999, "0.65"),
            ("s", &["decimal(9)"], 1, "0.000000001"),
            ("ms", &[], 1, "1"),
            ("ms", &["decimal(3)"], 1_234_500, "1.235"),
            ("go", &[], 360_000_000_000, "6m0s"),
            ("go", &[], 12_000_000, "12ms"),
            ("go", &[], 0, "0s"),
            ("go", &[], 5_400_250_000_000, "1h30m0.25s"),
            ("go", &["decimal(0)"], 11_000_000, "1s"),
            ("go", &["decimal(9)"], 1_500, "1.5us"),
            ("go", &["decimal(9)"], 100_000_000, "100ms"),
            ("go", &["decimal(9)"], 7, "7ns"),
        ] {
            let mut out = String::new();
            form(unit, words).write_duration(Duration::from_nanos(nanos), &mut out);
            assert_eq!(out, text, "{nanos} ns in {unit} {words:?}");
        }
        let mut longest = String::new();
        for unit in ["s", "ms", "go"] {
            form(unit, &["nearest"]).write_duration(Duration::MAX, &mut longest);
        }
    }

    #[test]
    fn moments_are_written_in_every_unit() {
        let moment = WallTime::from_unix(Duration::new(1_000_000_000, 250_000_000));
        for (unit, words, text) in [
            ("epoch", &[][..], "1000000001"),
            ("epoch", &["decimal(3)"], "1000000000.250"),
            ("epoch", &["down"], "1000000000"),
            ("epoch_ms", &[], "1000000000250"),
            ("date", &[], "Sun, 09 Sep 2001 01:46:41 GMT"),
            ("date", &["down"], "Sun, 09 Sep 2001 01:46:40 GMT"),
            ("rfc3339", &[], "2001-09-09T01:46:41Z"),
            ("rfc3339", &["decimal(2)"], "2001-09-09T01:46:40.25Z"),
        ] {
            let mut out = String::new();
            form(unit, words).write_moment(moment, &mut out);
            assert_eq!(out, text, "{unit} {words:?}");
        }
        for (unit, text) in [("date", "Fri, 31 Dec 9999 23:59:59 GMT"), ("rfc3339", "9999-12-31T23:59:59Z")] {
            let mut out = String::new();
            form(unit, &[]).write_moment(WallTime::from_unix(Duration::MAX), &mut out);
            assert_eq!(out, text);
        }
    }
}
