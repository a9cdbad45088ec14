//! Notations of header values that advise a wait: numbers without a unit, durations of Go, and calendar times. A client that
//! receives a calendar time as advice waits until then.
//!
//! A parser returns `None` for a text in another notation. Both `0` and `-0` are parsed as a wait of zero. A time before 1970 is
//! parsed as 1970, because the client only needs to know that the time has passed.

use std::time::{Duration, SystemTime};

use vocabulary::{WallTime, choices};

use super::{Advice, LONGEST, MAX_READ};

choices! {
    pub(super) enum Form {
        Whole = "whole",
        Leading = "leading",
        Decimal = "decimal",
        Infinite = "inf",
        Date = "date",
        Epoch = "epoch",
        RecentEpoch = "recent-epoch",
        Rfc3339 = "rfc3339",
        Go = "go",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
}

impl Unit {
    const fn times(self, count: u64) -> Duration {
        match self {
            Self::Seconds => Duration::from_secs(count),
            Self::Millis => Duration::from_millis(count),
        }
    }

    /// Replaces the unit of a duration given in seconds, and keeps the number. If the new unit is milliseconds, 5 s
    /// become 5 ms.
    fn of_seconds(self, seconds: Duration) -> Duration {
        match self {
            Self::Seconds => seconds,
            Self::Millis => seconds / 1000,
        }
    }
}

impl Form {
    /// Parses a header value in this notation. Returns `None` if the value is in another notation.
    pub(super) fn read(self, text: &str, unit: Unit, now: WallTime) -> Option<Advice> {
        let moment = match self {
            Self::Whole => return whole(text, unit),
            Self::Leading => return leading(text, unit),
            Self::Decimal => return decimal(text, unit),
            Self::Infinite => return infinite(text),
            Self::Go => return go_duration(text),
            Self::Date => date(text),
            Self::Epoch => epoch(text, unit),
            Self::RecentEpoch => epoch(text, unit).filter(|moment| moment.since_unix() >= RECENT),
            Self::Rfc3339 => rfc3339(text),
        };
        moment.map(|moment| until(moment, now))
    }
}

/// Parses a text of digits with an optional minus sign. Clients parse such texts with `int()` of Python,
/// `strconv.ParseInt` of Go, or the regular expression `/^\d+$/`.
fn whole(text: &str, unit: Unit) -> Option<Advice> {
    let (advice, rest) = signed(text, unit)?;
    rest.is_empty().then_some(advice)
}

/// Parses the digits at the beginning of a text and ignores the rest, like `strtol` of C. So curl reads `1.5` as 1.
fn leading(text: &str, unit: Unit) -> Option<Advice> {
    signed(text, unit).map(|(advice, _)| advice)
}

/// Parses a decimal number, optionally with an exponent. Returns `None` if the number is not finite, or too large for a
/// [`Duration`].
fn decimal(text: &str, unit: Unit) -> Option<Advice> {
    // Fast path: most servers send whole numbers.
    if let Ok(number) = text.parse::<u32>() {
        return Some(Advice::After(unit.times(number.into()).min(MAX_READ)));
    }
    let number: f64 = text.parse().ok()?;
    if number < 0.0 {
        return number.is_finite().then_some(Advice::Negative);
    }
    let seconds = Duration::try_from_secs_f64(number).ok()?;
    Some(Advice::After(unit.of_seconds(seconds).min(MAX_READ)))
}

/// Parses the words for infinity that `float()` of Python accepts. The result is the longest wait that any client
/// supports.
fn infinite(text: &str) -> Option<Advice> {
    let word = text.strip_prefix('+').unwrap_or(text);
    let known = ["inf", "infinity"].iter().any(|known| word.eq_ignore_ascii_case(known));
    known.then_some(Advice::After(LONGEST))
}

/// Parses an optional minus sign and digits. Returns the text after them as well.
fn signed(text: &str, unit: Unit) -> Option<(Advice, &str)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (digits, rest) = digits(unsigned);
    let number = number(digits)?;
    let is_negative = unsigned.len() < text.len() && number > 0;
    let advice = if is_negative { Advice::Negative } else { Advice::After(unit.times(number).min(MAX_READ)) };
    Some((advice, rest))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

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
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, nanos) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
    // Digits beyond the 18th decimal place are ignored. Even in hours, the largest unit, such digits add less than a
    // nanosecond.
    let fine = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fine.len()).ok()?);
    let nanos = u128::from(*nanos);
    let total = u128::from(number(whole).unwrap_or(0)) * nanos
        + u128::from(number(fine).unwrap_or(0)) * nanos / scale;
    let total = Duration::from_nanos(u64::try_from(total).unwrap_or(u64::MAX));
    Some((total, &after[unit.len()..]))
}

/// 2024-01-01, as the time since 1970. The HTTP client ky interprets numbers from this value on as calendar times, and
/// smaller numbers as waits (sindresorhus/ky, `source/core/retry-timing.ts`).
pub(super) const RECENT: Duration = Duration::from_hours(473_352);

fn until(moment: WallTime, now: WallTime) -> Advice {
    now.until(moment).map_or(Advice::Past, |wait| Advice::After(wait.min(MAX_READ)))
}

/// Parses an HTTP date (RFC 9110, section 5.6.7). The day of the week must be correct.
pub(super) fn date(text: &str) -> Option<WallTime> {
    let date = httpdate::parse_http_date(text).ok()?;
    date.duration_since(SystemTime::UNIX_EPOCH).ok().map(WallTime::from_unix)
}

fn epoch(text: &str, unit: Unit) -> Option<WallTime> {
    number(text).map(|count| WallTime::from_unix(unit.times(count)))
}

pub(super) fn rfc3339(text: &str) -> Option<WallTime> {
    let bytes = text.as_bytes();
    let two = |at: usize| number_at(bytes, at, 2);
    let is = |at: usize, any_of: &[u8]| bytes.get(at).is_some_and(|byte| any_of.contains(byte));
    let apart = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number_at(bytes, 0, 4)?, two(5)?, two(8)?);
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let in_range = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !apart || !in_range {
        return None;
    }
    let (fraction, zone) = if is(19, b".") {
        let end = (20..bytes.len()).find(|at| !bytes[*at].is_ascii_digit())?;
        (fraction(&bytes[20..end])?, end)
    } else {
        (Duration::ZERO, 19)
    };
    let offset = match bytes.get(zone)? {
        b'Z' | b'z' if bytes.len() == zone + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == zone + 6 && is(zone + 3, b":") => {
            let (hours, minutes) = (two(zone + 1)?, two(zone + 4)?);
            if hours >= 24 || minutes >= 60 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if *sign == b'+' { 1 } else { -1 }
        }
        _ => return None,
    };
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some(WallTime::from_unix(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)) + fraction))
}

fn number_at(bytes: &[u8], at: usize, count: usize) -> Option<i64> {
    let text = std::str::from_utf8(bytes.get(at..at + count)?).ok()?;
    number(text).and_then(|number| i64::try_from(number).ok())
}

fn fraction(digits: &[u8]) -> Option<Duration> {
    let mut nanos = 0;
    for place in 0..9 {
        nanos = nanos * 10 + u64::from(digits.get(place).map_or(0, |digit| digit - b'0'));
    }
    (!digits.is_empty()).then_some(Duration::from_nanos(nanos))
}

const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days since 1970-01-01 in the Gregorian calendar. The computation uses years that begin in
/// March (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
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
    fn nothing_else_is_a_duration_of_go() {
        for text in ["", "-", "1", "s", ".s", "1 s", "1s ", "1d", "1s1", "1e3s", "soon"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }

    /// 2023-09-29 16:26:37 UTC.
    const NOW: WallTime = WallTime::from_unix(Duration::from_secs(1_696_004_797));

    const fn after(seconds: u64) -> Advice {
        Advice::After(Duration::from_secs(seconds))
    }

    /// Vectors of openai/openai-python, `tests/test_client.py`, at the time used by those tests.
    #[test]
    fn dates_are_those_of_http() {
        let read = |text| date(text).map(|moment| until(moment, NOW));
        assert_eq!(read("Fri, 29 Sep 2023 16:26:57 GMT"), Some(after(20)));
        assert_eq!(read("Fri, 29 Sep 2023 16:26:37 GMT"), Some(after(0)));
        assert_eq!(read("Fri, 29 Sep 2023 16:26:27 GMT"), Some(Advice::Past));
        assert_eq!(read("Zun, 29 Sep 2023 16:26:27 GMT"), None);
        assert_eq!(read("Fri, 31 Dec 9999 23:59:59 GMT"), Some(Advice::After(MAX_READ)));
    }

    #[test]
    fn epochs_are_whole_and_may_have_to_look_like_one() {
        let read = |moment: Option<WallTime>| moment.map(|moment| until(moment, NOW));
        assert_eq!(read(epoch("1696004802", Unit::Seconds)), Some(after(5)));
        assert_eq!(read(epoch("1696004802000", Unit::Millis)), Some(after(5)));
        assert_eq!(read(epoch("5", Unit::Seconds)), Some(Advice::Past));
        assert_eq!(read(epoch("-5", Unit::Seconds)), None);
        let recent = |text| Form::RecentEpoch.read(text, Unit::Seconds, NOW);
        assert_eq!(recent("1704067199"), None);
        assert_eq!(recent("1704067200"), Some(after(8_062_403)));
    }

    #[test]
    fn rfc_3339_has_zones_and_fractions() {
        let seconds = |text| rfc3339(text).map(|moment| moment.since_unix().as_secs_f64());
        for (text, wanted) in [
            ("2023-09-29T16:26:37Z", 1_696_004_797.0),
            ("2023-09-29T18:26:37.25+02:00", 1_696_004_797.25),
            ("2023-09-29 16:26:37z", 1_696_004_797.0),
            ("2024-02-29T00:00:00Z", 1_709_164_800.0),
            ("1969-12-31T23:59:59Z", 0.0),
            ("1970-01-01T00:00:00Z", 0.0),
        ] {
            assert_eq!(seconds(text), Some(wanted), "{text}");
        }
        for text in [
            "",
            "2023-09-29",
            "2023-09-29T16:26:37",
            "2023-02-29T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "2023-09-29T24:00:00Z",
            "2023-09-29T16:26:37.Z",
            "2023-09-29T16:26:37.5",
            "2023-09-29T16:26:37+0200",
            "2023-09-29T16:26:37Zulu",
            "+023-09-29T16:26:37Z",
            "2023-09-29T16:26:37+é2:00",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
