//! Wall-clock times for people and files: RFC 3339 in UTC, to the second.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn now() -> String {
    text(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn text(since: Duration) -> String {
    let seconds = since.as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// Returns the year, month and day of the date `days` days after 1970-01-01. In this computation a year begins in March, so that a leap day
/// is the last day of its year. The calendar repeats every 400 years. Source: Hinnant, "chrono-compatible low-level date algorithms",
/// `civil_from_days`.
fn date(days: u64) -> (u64, u64, u64) {
    /// Number of days from 0000-03-01 to 1970-01-01.
    const BEFORE: u64 = 719_468;
    const ERA: u64 = 146_097;
    let (era, day) = ((days + BEFORE) / ERA, (days + BEFORE) % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // The five months from March to July have 153 days together, and so have the five months from August to December.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, told) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_303_686, "2026-11-21T23:28:06Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(text(Duration::from_secs(seconds)), told);
        }
    }
}
