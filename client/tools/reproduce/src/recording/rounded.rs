//! Rounding of numbers to the digits that a plot shows.

pub(super) fn rounded(value: f64) -> f64 {
    let digits = |digits: f64| (value * digits).round() / digits;
    if value.abs() >= 1000.0 { digits(1e3) } else { digits(1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.123_456_78, 1_234.567_89].map(|value| rounded(value).to_string()),
            ["0.123457", "1234.568"]
        );
    }
}
