//! Calendar times on the command line: RFC 3339, or seconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn read(text: &str) -> Result<SystemTime, String> {
    let refuse = || {
        format!(
            "`{text}` is not a valid time; write `2026-11-23T04:00:00Z` (RFC 3339) or seconds since 1970, such as `1795406400`"
        )
    };
    if let Ok(seconds) = text.parse::<f64>() {
        let since = Duration::try_from_secs_f64(seconds).map_err(|_| refuse())?;
        return UNIX_EPOCH.checked_add(since).filter(|_| seconds < LATEST_S).ok_or_else(refuse);
    }
    let (time, east_minutes) = split_offset(text).ok_or_else(refuse)?;
    let time = humantime::parse_rfc3339(&format!("{time}Z")).map_err(|_| refuse())?;
    let minutes = Duration::from_mins(east_minutes.unsigned_abs());
    let utc = if east_minutes > 0 { time.checked_sub(minutes) } else { time.checked_add(minutes) };
    utc.ok_or_else(refuse)
}

/// End of the year 9999, the last year in RFC 3339, in seconds since 1970.
const LATEST_S: f64 = 253_402_300_800.0;

/// Splits a time into the part before its UTC offset and the offset itself. The offset is in minutes and positive east of Greenwich.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let (time, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (sign, hours_minutes) = offset.split_at_checked(1)?;
    let (hours, minutes) = hours_minutes.split_once(':')?;
    let number =
        |text: &str| text.parse::<i64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let (hours, minutes) =
        (number(hours).filter(|hours| *hours < 24)?, number(minutes).filter(|minutes| *minutes < 60)?);
    let east = hours * 60 + minutes;
    match sign {
        "+" => Some((time, east)),
        "-" => Some((time, -east)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_any_offset_and_as_seconds() {
        for (text, millis) in [
            ("1970-01-01T00:00:01Z", 1_000),
            ("1970-01-01T01:00:01.250+01:00", 1_250),
            ("1970-01-01T00:15:00-00:45", 3_600_000),
            ("0", 0),
            ("1795406400.5", 1_795_406_400_500),
            ("2026-11-23T04:00:00Z", 1_795_406_400_000),
        ] {
            assert_eq!(read(text), Ok(UNIX_EPOCH + Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "now",
            "-1",
            "nan",
            "inf",
            "1e300",
            "2026-11-23",
            "2026-11-23T04:00:00",
            "2026-11-23T04:00:00+24:00",
            "Z",
            "é+01:00",
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("`{text}` is not a valid time; write `2026")), "{error}");
        }
    }
}
