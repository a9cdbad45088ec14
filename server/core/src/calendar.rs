//! Calendar times in answers: HTTP dates and RFC 3339.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

/// Last second that both HTTP dates and RFC 3339 can express: 9999-12-31, 23:59:59 UTC. In seconds since 1970.
const LAST_DATE: u64 = 253_402_300_799;

/// Returns the HTTP date (RFC 9110, section 5.6.7) of a time in seconds since 1970: `Sun, 09 Sep 2001 01:46:40 GMT`. Times after the year
/// 9999 are replaced by the last second of that year.
pub(crate) fn http_date(seconds: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_DATE)))
}

/// Writes a time in RFC 3339 notation: `2001-09-09T01:46:40.5Z`. `seconds` is counted from 1970. `fraction` contains the digits after the
/// decimal point as a number, and how many digits there are. Times after the year 9999 are replaced by the last second of that year.
pub(crate) fn write_rfc3339(seconds: u64, fraction: Option<(u64, usize)>, out: &mut String) {
    let fraction = if seconds > LAST_DATE { fraction.map(|(_, places)| (0, places)) } else { fraction };
    let seconds = seconds.min(LAST_DATE);
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if let Some((digits, places)) = fraction.filter(|(_, places)| *places > 0) {
        let _ = write!(out, ".{digits:0places$}");
    }
    out.push('Z');
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar. Internally, a year starts in March, so that the leap
/// day is its last day (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc3339(seconds: u64, fraction: Option<(u64, usize)>) -> String {
        let mut out = String::new();
        write_rfc3339(seconds, fraction, &mut out);
        out
    }

    #[test]
    fn moments_are_written_as_the_rfcs_have_it() {
        for (seconds, http, rfc) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00Z"),
            (1_000_000_000, "Sun, 09 Sep 2001 01:46:40 GMT", "2001-09-09T01:46:40Z"),
            (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT", "2025-12-31T23:59:59Z"),
            (LAST_DATE, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!((http_date(seconds).as_str(), rfc3339(seconds, None).as_str()), (http, rfc));
        }
        assert_eq!(rfc3339(1, Some((50, 3))), "1970-01-01T00:00:01.050Z");
        assert_eq!(rfc3339(1, Some((0, 0))), "1970-01-01T00:00:01Z");
        assert_eq!(rfc3339(u64::MAX, Some((7, 1))), "9999-12-31T23:59:59.0Z");
    }

    #[test]
    fn both_forms_name_the_same_day() {
        for day in (0..2_932_896).step_by(97) {
            let (http, rfc) = (http_date(day * 86_400), rfc3339(day * 86_400, None));
            assert_eq!((&http[5..7], &http[12..16]), (&rfc[8..10], &rfc[..4]), "{http} {rfc}");
        }
    }
}
