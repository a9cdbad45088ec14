//! Times as text in findings: milliseconds below 0.1 s, otherwise seconds.

use std::time::Duration;

/// Formats an advised time or a limit, without zeros at the end of its fraction.
pub(super) fn time(time: Duration) -> String {
    let text = delay(time);
    let Some((number, unit)) = text.split_once(' ') else { return text };
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}")
}

pub(super) fn delay(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        0.0..0.0995 => format!("{:.0} ms", seconds * 1e3),
        0.0995..9.995 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.1} s"),
    }
}

/// Formats a time that is longer than anybody waits for, such as `a day`, `11 days` or `56 years`.
pub(super) fn long_time(time: Duration) -> String {
    let days = time.as_secs() / 86_400;
    match days {
        0 => format!("{:.0} h", time.as_secs_f64() / 3600.0),
        1 => "a day".to_owned(),
        2..730 => format!("{days} days"),
        _ => format!("{} years", days / 365),
    }
}

/// Formats the time by which a retry came too early: whole milliseconds below 10 s, otherwise seconds with two decimals.
pub(super) fn excess(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 10.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Returns the shortest and the longest of the times.
pub(super) fn extremes(times: &[Duration]) -> Option<(Duration, Duration)> {
    Some((*times.iter().min()?, *times.iter().max()?))
}

/// Formats a range of delays, such as `0.41–0.50 s`. Equal ends are shown once.
pub(super) fn range(times: &[Duration]) -> String {
    let Some((low, high)) = extremes(times) else { return "none".to_owned() };
    let (low, high) = (delay(low), delay(high));
    if low == high {
        return low;
    }
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

pub(super) fn attempts(count: u64) -> String {
    if count == 1 { "1 attempt".to_owned() } else { format!("{count} attempts") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_their_size() {
        let millis = Duration::from_millis;
        assert_eq!([time(millis(5)), time(millis(412)), time(millis(3000))], ["5 ms", "0.41 s", "3 s"]);
        assert_eq!(
            [delay(millis(5)), delay(millis(500)), delay(millis(70_000))],
            ["5 ms", "0.50 s", "70.0 s"]
        );
        assert_eq!(range(&[millis(400), millis(970)]), "0.40–0.97 s");
        assert_eq!(range(&[millis(5), millis(970)]), "5 ms–0.97 s");
        assert_eq!(range(&[millis(5), millis(5)]), "5 ms");
        let days = |days: u64| long_time(Duration::from_secs(days * 86_400));
        assert_eq!([days(1), days(11), days(20_700)], ["a day", "11 days", "56 years"]);
        assert_eq!([excess(millis(2995)), excess(millis(69_929))], ["2995 ms", "69.93 s"]);
    }
}
