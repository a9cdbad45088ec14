//! Formatting of durations and their ranges, for messages about differences from a recording.

/// Formats seconds, rounded to 10 µs.
pub(crate) fn seconds(value: f64) -> String {
    let rounded = (value * 1e5).round() / 1e5;
    format!("{rounded} s")
}

pub(crate) fn range(values: &[f64]) -> String {
    let (low, high) = ends(values);
    if high - low < 1e-9 { seconds(low) } else { format!("{} to {}", seconds(low), seconds(high)) }
}

pub(crate) fn ends(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_short() {
        assert_eq!(range(&[0.5, 0.5]), "0.5 s");
        assert_eq!(range(&[1.0, 0.123_456_7]), "0.12346 s to 1 s");
    }
}
