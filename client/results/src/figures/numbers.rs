//! Formatting of numbers, durations, sizes, shares and ranges for human readers.

pub use vocabulary::thousands;

/// Returns the sign of an unknown figure.
pub fn dash() -> String {
    "–".to_owned()
}

pub fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(number), if number == 1 { "" } else { "s" })
}

pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 999.5 => format!("{} ms", significant(ms)),
        ms if ms < 999_500.0 => format!("{} s", significant(ms / 1e3)),
        ms => format!("{} min", significant(ms / 60e3)),
    }
}

pub fn seconds(s: f64) -> String {
    milliseconds(s * 1e3)
}

pub fn bytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Formats a share in percent with three significant digits. A share below 100 % is never rounded up to 100 %.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if (99.95..100.0).contains(&percent) => format!("{:.2} %", (percent * 100.0).floor() / 100.0),
        percent if percent > 0.0 && percent < 99.95 => format!("{} %", significant(percent)),
        percent => format!("{} %", short(percent)),
    }
}

pub fn at_least(share: f64, is_lower_bound: bool) -> String {
    let bound = if is_lower_bound { "≥ " } else { "" };
    format!("{bound}{}", percent(share))
}

pub fn level(level: statistics::Level) -> String {
    let percent = level.coverage() * 100.0;
    let decimals = if level.error() < 0.001 { 3 } else { usize::from(level.error() < 0.01) + 1 };
    let text = format!("{percent:.decimals$}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats any number. Whole numbers are exact, with thousands grouped. Other numbers have three significant digits.
pub fn short(number: f64) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates on purpose"
    )]
    match number.abs() {
        size if size.is_infinite() => format!("{sign}∞"),
        size if size.fract() == 0.0 || size >= 999.5 => format!("{sign}{}", thousands(size.round() as u64)),
        size => format!("{sign}{}", significant(size)),
    }
}

pub fn three(number: f64) -> String {
    let grouped = |size: f64| short(size.round());
    if number.abs() >= 999.5 { grouped(number) } else { significant(number) }
}

/// Returns the number of decimals for both ends of an interval of ratios. The larger end gets three significant digits. If an end is near
/// 1, it gets one more digit, so that a small difference is not rounded to 1.
pub fn ratio_decimals(low: f64, high: f64) -> usize {
    let nearest = (low - 1.0).abs().min((high - 1.0).abs());
    match high {
        high if high >= 99.95 => 0,
        high if high >= 9.995 => 1,
        _ if nearest >= 0.01 => 2,
        _ => 3,
    }
}

/// Returns the smallest and the largest of values that are not negative.
pub fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)))
}

pub fn range(low: &str, high: &str) -> String {
    if low == high { low.to_owned() } else { span(low, high) }
}

/// Returns both ends of a range, with their unit once.
pub fn span(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other)))
            if unit == other && !unit.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!("{number}–{high}")
        }
        _ => format!("{low}–{high}"),
    }
}

fn significant(number: f64) -> String {
    match number {
        number if number >= 99.95 => format!("{number:.0}"),
        number if number >= 9.995 => format!("{number:.1}"),
        number if number >= 0.9995 => format!("{number:.2}"),
        number if number >= 0.09995 || number == 0.0 => format!("{number:.3}"),
        number => format!("{number:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_enough_digits_to_be_distinguished() {
        use statistics::Level;
        let told = |comparisons| level(Level::P95.shared_by(comparisons));
        assert_eq!(
            [1, 2, 3, 5, 6, 45, 100].map(told),
            ["95 %", "97.5 %", "98.3 %", "99 %", "99.17 %", "99.89 %", "99.95 %"]
        );
    }

    #[test]
    fn numbers_are_grouped_and_durations_have_three_digits() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_234_567), "1 234 567");
        assert_eq!(milliseconds(0.0312), "0.0312 ms");
        assert_eq!(milliseconds(12.44), "12.4 ms");
        assert_eq!(seconds(25.21), "25.2 s");
        assert_eq!(seconds(720.0), "720 s");
        assert_eq!([0.9996, 999.4, 999.6, 6000.0].map(seconds), ["1.00 s", "999 s", "16.7 min", "100 min"]);
        assert_eq!(
            [17_405.2, 2088.0, 25.204, 0.4504, -3.0, 999.6, 0.0512, 99.96, f64::NEG_INFINITY].map(short),
            ["17 405", "2 088", "25.2", "0.450", "-3", "1 000", "0.0512", "100", "-∞"]
        );
        assert_eq!(
            [1.0, 0.478_04, 0.4, 0.025, 0.0, 0.9999, 0.999_999].map(percent),
            ["100 %", "47.8 %", "40.0 %", "2.50 %", "0 %", "99.99 %", "99.99 %"]
        );
    }

    #[test]
    fn a_small_difference_does_not_look_like_none() {
        assert_eq!(ratio_decimals(1.6, 1.9), 2);
        assert_eq!(ratio_decimals(1.02, 1.9), 2);
        assert_eq!(ratio_decimals(1.003, 1.004), 3);
        assert_eq!(ratio_decimals(0.999, 1.5), 3);
        assert_eq!(ratio_decimals(8.0, 18.5), 1);
        assert_eq!(ratio_decimals(120.0, 130.0), 0);
    }
}
