//! Formatting of numbers for people: separators, units, and no more digits than are useful.

use std::time::Duration;

use ratatui::text::Span;
use vocabulary::thousands;

/// Formats a count with thousands separators. Counts of at least ten million are in millions.
pub(crate) fn count(value: u64) -> String {
    if value >= 10_000_000 {
        return format!("{:.1} M", value as f64 / 1e6);
    }
    thousands(value)
}

/// Formats a number for an axis or a legend in at most five characters: `0.5`, `48`, `1 024`, `12k`.
pub(crate) fn short(value: f64) -> String {
    match value {
        v if !v.is_finite() => "–".to_owned(),
        v if v >= 999.5e6 => format!("{:.0}G", v / 1e9),
        v if v >= 999.5e3 => format!("{:.0}M", v / 1e6),
        v if v >= 9_999.5 => format!("{:.0}k", v / 1e3),
        v if v >= 9.95 || v.fract() == 0.0 => count(whole(v)),
        v => format!("{v:.1}"),
    }
}

pub(crate) fn rate(per_s: f64) -> String {
    format!("{}/s", short(per_s))
}

/// Formats a share (0 to 1) in percent with one decimal. Only shares of exactly 0 and 1 become `0.0 %` and `100.0 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if !p.is_finite() => "–".to_owned(),
        p if p > 0.0 && p < 0.1 => "<0.1 %".to_owned(),
        p if p > 99.9 && p < 100.0 => "99.9 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

/// Formats a share (0 to 1) in whole percent. The percentage is rounded down, so that only a share of 1 is 100 %.
pub(crate) fn whole_percent(share: f64) -> String {
    format!("{:.0} %", (share * 100.0).floor())
}

pub(crate) fn duration(duration: Duration) -> String {
    seconds(duration.as_secs_f64())
}

pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "–".to_owned(),
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 0.01 => format!("{:.1} ms", s * 1e3),
        s if s < 0.999_5 => format!("{:.0} ms", s * 1e3),
        s => clock(s),
    }
}

/// Formats experiment time like [`duration`], but in units of at least a second, so that the clock counts calmly.
pub(crate) fn clock(seconds: f64) -> String {
    let whole_s = whole(seconds);
    match seconds {
        s if !s.is_finite() => "–".to_owned(),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", whole_s / 60, whole_s % 60),
        s if s < 864_000.0 => format!("{} h {:02} min", whole_s / 3600, whole_s / 60 % 60),
        _ => format!("{} d", whole_s / 86_400),
    }
}

/// Formats an estimated time. From ten seconds on it is in whole seconds, so that the text does not flicker.
pub(crate) fn estimate(seconds: f64) -> String {
    if (9.5..99.5).contains(&seconds) { format!("{seconds:.0} s") } else { clock(seconds) }
}

pub(crate) fn memory(bytes: u64) -> String {
    format!("{} MiB", short(bytes as f64 / 1_048_576.0))
}

pub(crate) fn fit(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for letter in text.chars() {
        cut.push(letter);
        if width_of(&cut) + 1 > width {
            cut.pop();
            break;
        }
    }
    if width > 0 {
        cut.push('…');
    }
    cut
}

pub(crate) fn width_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// Rounds to the nearest whole number. Negative values and NaN become zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Rounds down to an index. Negative values and NaN become zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn index(value: f64) -> usize {
    value.floor() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(["0", "999", "1 000", "1 234 567"], [0, 999, 1_000, 1_234_567].map(count));
        assert_eq!(count(12_345_678), "12.3 M");
    }

    #[test]
    fn short_numbers_stay_short() {
        let texts = [0.0, 0.53, 48.0, 48.2, 1024.0, 12_345.0, 2.3e6].map(short);
        assert_eq!(["0", "0.5", "48", "48", "1 024", "12k", "2M"], texts);
    }

    #[test]
    fn durations_have_about_three_digits() {
        let texts = [0.000_085, 0.005_25, 0.35, 12.34, 125.0, 3720.0].map(seconds);
        assert_eq!(["85 µs", "5.2 ms", "350 ms", "12.3 s", "2 min 05 s", "1 h 02 min"], texts);
    }

    #[test]
    fn an_estimate_does_not_pretend_to_be_exact() {
        assert_eq!(["2.3 s", "10 s", "24 s", "2 min 05 s"], [2.3, 9.7, 23.6, 125.0].map(estimate));
    }

    #[test]
    fn a_share_is_only_whole_when_all_is_done() {
        assert_eq!(whole_percent(0.999_9), "99 %");
        assert_eq!(percent(0.999_99), "99.9 %");
        assert_eq!(percent(f64::NAN), "–");
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!(fit("window", 6), "window");
        assert_eq!(fit("window", 4), "win…");
        assert_eq!(fit("window", 1), "…");
        assert_eq!(fit("window", 0), "");
    }
}
