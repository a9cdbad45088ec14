//! Durations as people write them (`50ms`, `1.5s`, `2m`), the same in flags, strategies and JSON.

use std::time::Duration;

/// What was written is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no duration; write a number and a unit, such as `50ms`, `1.5s` or `2m`")]
pub struct DurationError {
    text: String,
}

/// Reads `50ms`, `1.5s`, `1m 30s` or a bare `0`. The longest accepted is 100 years.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let refuse = || DurationError { text: text.to_owned() };
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(Duration::ZERO);
    }
    let parsed = match decimal(trimmed) {
        Some(parsed) => parsed,
        None => humantime::parse_duration(trimmed).map_err(|_| refuse())?,
    };
    if parsed > Duration::from_hours(100 * 365 * 24) {
        return Err(refuse());
    }
    Ok(parsed)
}

/// Writes it so that [`parse`] reads the same back: `50ms`, `1s 500ms`, `0s`.
pub fn format(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// One decimal number with one unit; `humantime` takes whole numbers only.
fn decimal(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(split);
    if !number.contains('.') {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    let nanos_per_unit = match unit.trim_start() {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    Duration::try_from_secs_f64((number * nanos_per_unit).round() / 1e9).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_decimal_durations_are_read() {
        for (text, millis) in
            [("50ms", 50), ("1.5s", 1500), ("2m", 120_000), ("1m 30s", 90_000), ("0", 0), ("0.25 s", 250)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_an_example() {
        for text in ["", "50", "-1s", "1e99s", "soon", "1.2.3s", "999999999999h", "NaNs"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("such as `50ms`"), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for millis in [0, 1, 1500, 90_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse(&format(duration)), Ok(duration));
        }
    }
}
