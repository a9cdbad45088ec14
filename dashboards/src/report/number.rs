//! Formatting of numbers and percentages in reports, with about three significant digits.

use crate::text;

pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    match size {
        _ if !value.is_finite() => "–".to_owned(),
        0.0 => "0".to_owned(),
        s if s >= 999.5 => format!("{sign}{}", text::count(text::whole(s))),
        s if s >= 99.95 => format!("{value:.0}"),
        s if s >= 9.995 => trimmed(format!("{value:.1}")),
        s if s >= 0.9995 => trimmed(format!("{value:.2}")),
        s if s >= 0.001 => trimmed(format!("{value:.3}")),
        _ => format!("{value:.1e}"),
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_about_three_digits() {
        let texts = [0.0, 2088.0, 25.2019, 0.957_85, 600.0, 1.0, 0.000_06].map(number);
        assert_eq!(texts, ["0", "2 088", "25.2", "0.958", "600", "1", "6.0e-5"]);
        assert_eq!(percent(0.334), "33.4 %");
    }
}
