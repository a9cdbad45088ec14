//! Check whether the best value of a varied parameter lies at an end of the parameter's range. A better value may then lie beyond that end.

use results::Axis;
use vocabulary::duration_text;

const MIN_VALUES: usize = 3;

/// Returns a sentence that suggests larger or smaller values if `value` is the first or last of a range. A range is a list of at least
/// three numbers or durations in ascending or descending order. Returns `None` for any other value, and if the values are not a range.
pub(super) fn range_end(axis: &Axis, value: &str) -> Option<String> {
    let numbers: Vec<f64> = axis.values.iter().map(|value| number(value)).collect::<Option<_>>()?;
    let rises = numbers.is_sorted();
    let falls = numbers.iter().rev().is_sorted();
    if numbers.len() < MIN_VALUES || !(rises || falls) {
        return None;
    }
    let (end, is_last) = match axis.values.as_slice() {
        [first, ..] if first == value => ("first", false),
        [.., last] if last == value => ("last", true),
        _ => return None,
    };
    let beyond = if is_last == rises { "more" } else { "less" };
    Some(format!("{}={value} is the {end} of the range: try {beyond}", axis.key))
}

fn number(text: &str) -> Option<f64> {
    let duration = || duration_text::parse(text).ok().map(|duration| duration.as_secs_f64());
    text.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(values: &[&str], value: &str) -> Option<String> {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        range_end(&Axis { key: "aimd.beta".to_owned(), values }, value)
    }

    #[test]
    fn the_first_and_the_last_of_a_range_are_its_ends() {
        let says = |end: &str, beyond: &str| Some(format!("aimd.beta={end} of the range: try {beyond}"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.95"), says("0.95 is the last", "more"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.5"), says("0.5 is the first", "less"));
        assert_eq!(end(&["2s", "1s", "500ms"], "500ms"), says("500ms is the last", "less"));
        assert_eq!(end(&["2s", "1s", "500ms"], "2s"), says("2s is the first", "more"));
        assert_eq!(end(&["0.5", "0.7", "0.95"], "0.7"), None);
    }

    #[test]
    fn two_values_words_and_values_without_an_order_are_no_range() {
        assert_eq!(end(&["1", "2"], "2"), None);
        assert_eq!(end(&["reno", "tahoe", "other"], "other"), None);
        assert_eq!(end(&["1", "3", "2"], "2"), None);
    }
}
