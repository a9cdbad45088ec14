//! Parsers for calendar times. A client that receives such a time as advice waits until then.
//!
//! A parser returns `None` for a text in another notation. A time before 1970 is parsed as 1970, because the client
//! only needs to know that the time has passed.

use std::time::{Duration, SystemTime};

use vocabulary::WallTime;

use super::header::Unit;
use super::numbers::number;
use super::{Advice, MAX_READ};

/// 2024-01-01, as the time since 1970. The HTTP client ky interprets numbers from this value on as calendar times, and
/// smaller numbers as waits (sindresorhus/ky, `source/core/retry-timing.ts`).
const RECENT: Duration = Duration::from_hours(473_352);

pub(super) fn until(moment: WallTime, now: WallTime) -> Advice {
    now.until(moment).map_or(Advice::Past, |wait| Advice::After(wait.min(MAX_READ)))
}

/// Parses an HTTP date (RFC 9110, section 5.6.7). The day of the week must be correct.
pub(super) fn date(text: &str) -> Option<WallTime> {
    let date = httpdate::parse_http_date(text).ok()?;
    date.duration_since(SystemTime::UNIX_EPOCH).ok().map(WallTime::from_unix)
}

pub(super) fn epoch(text: &str, unit: Unit) -> Option<WallTime> {
    number(text).map(|count| WallTime::from_unix(unit.times(count)))
}

pub(super) fn recent_epoch(text: &str, unit: Unit) -> Option<WallTime> {
    epoch(text, unit).filter(|moment| moment.since_unix() >= RECENT)
}

pub(super) fn rfc3339(text: &str) -> Option<WallTime> {
    let bytes = text.as_bytes();
    let two = |at: usize| digits(bytes, at, 2);
    let is = |at: usize, any_of: &[u8]| bytes.get(at).is_some_and(|byte| any_of.contains(byte));
    let apart = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (digits(bytes, 0, 4)?, two(5)?, two(8)?);
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

fn digits(bytes: &[u8], at: usize, count: usize) -> Option<i64> {
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
        assert_eq!(read(recent_epoch("1704067199", Unit::Seconds)), None);
        assert_eq!(read(recent_epoch("1704067200", Unit::Seconds)), Some(after(8_062_403)));
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
