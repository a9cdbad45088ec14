//! Text form of durations (`50ms`, `1.5s`, `2m`). Flags, strategies and JSON use the same form.

use std::time::Duration;

const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("`{text}` is not a duration; write a number and a unit, such as `50ms`, `1.5s` or `2m`")]
    Malformed { text: String },
    #[error(
        "`{text}` is longer than 100 years, the longest duration; write a shorter one, such as `90d`, `12h` \
         or `2m`"
    )]
    TooLong { text: String },
}

/// Parses a duration such as `50ms`, `1.5s`, `1m 30s` or a bare `0`. The longest accepted duration is 100 years.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(Duration::ZERO);
    }
    let malformed = || DurationError::Malformed { text: text.to_owned() };
    let too_long = || DurationError::TooLong { text: text.to_owned() };
    let mut sum = Duration::ZERO;
    // Each addend of a sum such as `1m 30s` is parsed separately, because `humantime` panics when a sum slightly
    // exceeds its range.
    let addends: &mut dyn Iterator<Item = _> = match decimal(trimmed) {
        Some(parsed) => &mut std::iter::once(Ok(parsed)),
        None => &mut addends(trimmed).map(|addend| match humantime::parse_duration(addend) {
            // A `0` needs no unit if it is the whole text. As a later part of a sum, as in `1m 0`, it needs one.
            Ok(_) if addend == "0" => Err(malformed()),
            // `humantime` reports an overflow in two cases: the number is too large, or its fraction has too many
            // digits. Only the first case is reported as a duration that is too long.
            Err(humantime::DurationError::NumberOverflow) if !addend.contains('.') => Err(too_long()),
            read => read.map_err(|_| malformed()),
        }),
    };
    for addend in addends {
        sum = sum.checked_add(addend?).filter(|sum| *sum <= LONGEST).ok_or_else(too_long)?;
    }
    Ok(sum)
}

/// Formats a duration so that [`parse`] returns the same duration: `50ms`, `1s 500ms`, `0s`.
pub fn format(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// Splits a text such as `1m 30s` before each number that follows a unit. If the text is invalid, at least one of the
/// pieces is invalid, too.
fn addends(text: &str) -> impl Iterator<Item = &str> {
    let (mut rest, mut begun) = (text, false);
    std::iter::from_fn(move || {
        if begun && rest.is_empty() {
            return None;
        }
        begun = true;
        let mut after_unit = false;
        let cut = rest.char_indices().find_map(|(at, c)| {
            let number_follows = after_unit && c.is_ascii_digit();
            after_unit = if c.is_whitespace() { after_unit } else { c.is_alphabetic() };
            number_follows.then_some(at)
        });
        let (addend, others) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = others;
        Some(addend)
    })
}

/// Parses a decimal number with one unit, and accepts finer fractions than `humantime` does. Returns [`Duration::MAX`] on overflow.
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
    Some(Duration::try_from_secs_f64((number * nanos_per_unit).round() / 1e9).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

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
        for text in ["", "50", "-1s", "1e99s", "soon", "1.2.3s", "NaNs", "1m s", "1 m 5", "1h 0.5ns", "1s0"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("such as `50ms`"), "{text}: {error}");
        }
    }

    #[test]
    fn durations_beyond_100_years_are_rejected_as_too_long() {
        let many = "9".repeat(400);
        for text in [
            "1000000h",
            "999999999999h",
            "18446744073709551615s0.5s0.5s",
            "18446744073709551616s",
            "50y 50y 1ns",
            &format!("{many}s"),
            &format!("{many}.5s"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains("longer than 100 years"), "{text}: {error}");
        }
        assert_eq!(parse("36500d"), Ok(LONGEST));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for millis in [0, 1, 1500, 90_000] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse(&format(duration)), Ok(duration));
        }
    }

    /// Texts of valid components, of numbers near overflow and of arbitrary characters.
    fn texts() -> impl Strategy<Value = String> {
        let whole = prop_oneof![
            (0_u64..100).prop_map(|number| number.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            Just(u64::MAX.to_string()),
            (0_u64..5).prop_map(|less| ((u64::MAX - less) / 60).to_string()),
            "[0-9 ]{0,24}",
        ];
        let fraction =
            prop_oneof![4 => Just(String::new()), 1 => r"\.[0-9 ]{0,24}", 1 => Just(".5".to_owned())];
        let unit = prop_oneof![
            4 => select(vec!["s", "ms", "ns", "us", "µs", "m", "min", "h", "d", "w", "month", "y", "years", "hr"])
                .prop_map(str::to_owned),
            1 => r"[a-zA-Zµ. \-\u{2003}]{0,3}",
        ];
        let space = select(vec!["", "", " ", "\u{2003}"]);
        let addend = (whole, fraction, space.clone(), unit, space).prop_map(
            |(whole, fraction, space, unit, after)| format!("{whole}{fraction}{space}{unit}{after}"),
        );
        prop_oneof![
            8 => proptest::collection::vec(addend, 0..5).prop_map(|addends| addends.concat()),
            1 => any::<String>(),
        ]
    }

    /// Reference parser without the split into addends. A panic of `humantime` counts as an error.
    fn as_before(text: &str) -> Option<Duration> {
        let trimmed = text.trim();
        let read = match (trimmed, decimal(trimmed)) {
            ("0", _) => Some(Duration::ZERO),
            (_, Some(parsed)) => Some(parsed),
            _ => std::panic::catch_unwind(|| humantime::parse_duration(trimmed)).ok()?.ok(),
        };
        read.filter(|read| *read <= LONGEST)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn no_text_panics_and_what_humantime_reads_has_the_same_value(text in texts()) {
            prop_assert_eq!(parse(&text).ok(), as_before(&text), "{:?}", text);
        }
    }
}
