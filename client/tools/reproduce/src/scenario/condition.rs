//! Condition of a claim on a figure: either bounds or a printed number. There is no bound on a side that the sentence of the claim does not
//! limit.
//!
//! A bound in quotes is the source's own number. A bound without quotes needs a reason, because the author of the scenario chose it. An
//! exception is the bound 1 in a claim that compares two figures, because it only expresses "more", "less" or "faster than linear".
//!
//! "At least" and "at most" allow for the rounding of a bound in quotes. For example, 25.4 is at most "25". "Above" and "below" compare
//! with the exact number.

use crate::scenario::claim::{Bound, Claim};
use crate::scenario::wrong::{Wrong, refuse};

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub low: Option<Edge>,
    pub high: Option<Edge>,
    pub words: String,
    /// True if a claim's figure must equal the number printed in the source, within the precision of that number.
    pub printed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    pub value: f64,
    pub included: bool,
}

/// Relative error that is allowed at bounds, because of rounding errors. Sums of rounded milliseconds have errors smaller than 1e-9.
const ROUNDING: f64 = 1e-9;

impl Condition {
    pub(super) fn new(claim: &Claim) -> Result<Self, Wrong> {
        let sides = [
            ("above", &claim.above),
            ("at_least", &claim.at_least),
            ("below", &claim.below),
            ("at_most", &claim.at_most),
        ];
        let written: Vec<_> =
            sides.into_iter().filter_map(|(key, bound)| Some((key, bound.as_ref()?))).collect();
        let relative = claim.against.is_some() || claim.growth.is_some();
        let reasons = claim.means.trim();
        if claim.precision.is_some() && (claim.printed.is_none() || reasons.is_empty()) {
            let words = "`precision` is the accepted error of a `printed` figure; give the reason in `means`";
            return refuse("precision", words);
        }
        if let Some(printed) = &claim.printed {
            if let Some((key, _)) = written.first() {
                return refuse(key, format!("`{key}` and `printed` exclude one another"));
            }
            return Self::printed(printed, claim.precision);
        }
        if written.is_empty() {
            let words = "a claim needs a condition: `above`, `at_least`, `below` or `at_most` with a number, or `printed` with the source's figure";
            return refuse("says", words);
        }
        let mut condition = Self { low: None, high: None, words: String::new(), printed: false };
        for (key, bound) in written {
            let (lower, included) = (matches!(key, "above" | "at_least"), key.starts_with("at_"));
            let (edge, bound_text) = match bound {
                Bound::Number(number) if !number.is_finite() => {
                    return refuse(key, format!("`{key}` is {number}; a finite number is needed"));
                }
                Bound::Number(number) => {
                    // "More than", "less than" and "faster than linear" are expressed by the bound 1. The author did not choose this
                    // number, so it needs no reason.
                    let plain = relative && (number - 1.0).abs() < ROUNDING;
                    if !plain && reasons.is_empty() {
                        let words = format!(
                            "`{key} = {number}` interprets the source's words, so give the reason in `means`; write a number of the source in quotes"
                        );
                        return refuse(key, words);
                    }
                    (*number, number.to_string())
                }
                Bound::Printed(text) => {
                    let (number, half) =
                        read(text).map_err(|why| Wrong::new(key, format!("`{key}`: {why}")))?;
                    match (included, lower) {
                        (false, _) => (number, text.clone()),
                        (true, true) => (number - half, format!("{text} (rounded)")),
                        (true, false) => (number + half, format!("{text} (rounded)")),
                    }
                }
            };
            let side = if lower { &mut condition.low } else { &mut condition.high };
            if side.is_some() {
                return refuse(key, "there are two bounds on the same side");
            }
            *side = Some(Edge { value: edge, included });
            let and = if condition.words.is_empty() { "" } else { " and " };
            condition.words = format!("{}{and}{} {bound_text}", condition.words, key.replace('_', " "));
        }
        if let (Some(low), Some(high)) = (condition.low, condition.high)
            && (low.value > high.value || (low.value >= high.value && !(low.included && high.included)))
        {
            let key = if claim.above.is_some() { "above" } else { "at_least" };
            return refuse(key, format!("nothing is {}", condition.words));
        }
        Ok(condition)
    }

    fn printed(text: &str, precision: Option<f64>) -> Result<Self, Wrong> {
        let (number, half) = read(text).map_err(|why| Wrong::new("printed", format!("`printed`: {why}")))?;
        if precision.is_some_and(|precision| !(precision.is_finite() && precision >= 0.0)) {
            return refuse("precision", "`precision` must be zero or more");
        }
        let edge = |value: f64| Some(Edge { value, included: true });
        let reach = precision.unwrap_or(half);
        let words = match precision {
            Some(precision) => format!("{text} ± {precision}"),
            None => format!("rounds to {text}"),
        };
        Ok(Self { low: edge(number - reach), high: edge(number + reach), words, printed: true })
    }

    pub fn is_met(&self, value: f64) -> bool {
        self.overlaps(value, value)
    }

    /// Returns true if at least one value of a range meets the condition. The range includes its ends `least` and `most`.
    pub fn overlaps(&self, least: f64, most: f64) -> bool {
        let reach = |edge: Edge| edge.value.abs() * ROUNDING;
        let enough = self.low.is_none_or(|edge| {
            if edge.included { most >= edge.value - reach(edge) } else { most > edge.value }
        });
        let not_too_much = self.high.is_none_or(|edge| {
            if edge.included { least <= edge.value + reach(edge) } else { least < edge.value }
        });
        enough && not_too_much
    }
}

/// Parses a printed number. Returns the number, and half a unit of its last digit as its precision.
fn read(text: &str) -> Result<(f64, f64), String> {
    let digits: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let plain = digits.strip_prefix('-').unwrap_or(&digits);
    let sound = plain.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        && plain.starts_with(|letter: char| letter.is_ascii_digit());
    match digits.parse::<f64>() {
        Ok(number) if sound => {
            let decimals = plain.split_once('.').map_or(0, |(_, after)| after.len());
            let unit = (0..decimals).fold(1.0, |unit, _| unit / 10.0);
            Ok((number, unit / 2.0))
        }
        _ => Err(format!("`{text}` is not a number such as \"17 392\" or \"0.43\"; leave the unit out")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(keys: &str) -> Result<Condition, String> {
        let text = format!("says = \"\"\nfigure = \"attempts.total\"\nof = \"a\"\n{keys}");
        Condition::new(&toml::from_str(&text).unwrap()).map_err(|wrong| format!("{}: {wrong}", wrong.path[0]))
    }

    #[test]
    fn an_unspecified_side_of_a_condition_is_unbounded() {
        for (keys, met, unmet, words) in [
            ("against = \"b\"\nabove = 1", &[1.001, 1e9][..], &[1.0, 0.5][..], "above 1"),
            ("below = \"50\"", &[49.9, -9.0], &[50.0, 50.1], "below 50"),
            ("at_most = \"25\"", &[0.0, 25.21, 25.5], &[25.51], "at most 25 (rounded)"),
            ("at_least = \"0.20\"", &[0.195, 9.0], &[0.194], "at least 0.20 (rounded)"),
            ("printed = \"17 392\"", &[17392.4], &[17394.0, 17391.0], "rounds to 17 392"),
            ("printed = \"48\"", &[47.5, 48.5], &[47.49, 48.51], "rounds to 48"),
            ("printed = \"3498\"\nprecision = 18\nmeans = \"m\"", &[3480.0], &[3479.0], "3498 ± 18"),
            ("at_least = 2\nbelow = 3\nmeans = \"m\"", &[2.0, 2.9], &[1.9, 3.0], "at least 2 and below 3"),
        ] {
            let condition = condition(keys).unwrap();
            assert_eq!(condition.words, words);
            for value in met {
                assert!(condition.is_met(*value), "{keys}: {value}");
            }
            for value in unmet {
                assert!(!condition.is_met(*value), "{keys}: {value}");
            }
        }
    }

    #[test]
    fn a_bound_that_is_not_the_sources_needs_a_reason() {
        for (keys, why) in [
            ("", "says: a claim needs a condition"),
            ("above = 3", "above: `above = 3` interprets the source"),
            ("above = 1", "interprets the source"),
            ("above = 3\nmeans = \" \"", "interprets the source"),
            ("above = inf\nmeans = \"m\"", "finite"),
            ("printed = \"48\"\nprecision = 2", "precision: "),
            ("above = 3\nprecision = 2\nmeans = \"m\"", "precision: "),
            ("printed = \"48 s\"", "leave the unit out"),
            ("printed = \"1e9\"", "is not a number"),
            ("printed = \"48\"\nbelow = \"50\"", "below: `below` and `printed` exclude"),
            ("above = \"1\"\nat_least = \"2\"", "at_least: there are two bounds"),
            ("above = \"3\"\nbelow = \"2\"", "above: nothing is above 3 and below 2"),
            ("above = \"3\"\nbelow = \"3\"", "nothing is"),
        ] {
            let found = condition(keys).unwrap_err();
            assert!(found.contains(why), "{keys}: {found}");
        }
    }
}
