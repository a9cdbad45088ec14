//! Plausible values of one of the server's figures that the user is unsure about, such as `350/m..500/m`.

use std::time::Duration;

use vocabulary::{Distribution, Rate, RateUnit, duration_text, split_outside, split_rate};

/// Maximum number of ranges of one command. More ranges have too many corners to try.
pub(crate) const MAX_RANGES: usize = 8;

/// Figure of the server that is not known exactly, with its nominal value and its plausible values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    /// Flag of the server without dashes, or `STAGE.PARAMETER` of the preset.
    pub key: String,
    pub nominal: String,
    pub plausible: Plausible,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plausible {
    /// All values from `low` to `high`, in the base unit of the notation.
    Between { low: f64, high: f64, notation: Notation },
    /// Separate plausible values of a figure, such as `yes` and `no`; at least two.
    Listed(Vec<String>),
}

/// Notation of a value. The base units are the number itself, seconds, and numbers per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Notation {
    Whole,
    Decimal,
    Duration,
    /// Mean of a distribution of durations. The shape of the distribution stays.
    MeanOf(Distribution),
    Rate(RateUnit),
}

impl Range {
    /// Parses the plausible values of a key: `LOW..HIGH` or `VALUE,VALUE`. A range of times for a distribution sets its mean.
    ///
    /// # Errors
    /// Fails if the text is empty, a single value, reversed, of another unit than the nominal value, or does not include it.
    pub(crate) fn parse(key: &str, text: &str, nominal: &str) -> Result<Self, String> {
        let plausible = match text.split_once("..") {
            Some((low, high)) => between(text, (low.trim(), high.trim()), nominal)?,
            None => listed(text, nominal)?,
        };
        Ok(Self { key: key.to_owned(), nominal: nominal.to_owned(), plausible })
    }

    /// Creates the range from `low` times to `high` times the nominal value. `None` if the nominal value is not above 0.
    pub(crate) fn by_factors(key: &str, nominal: &str, (low, high): (f64, f64)) -> Option<Self> {
        let (value, notation) = read(nominal)?;
        if value <= 0.0 {
            return None;
        }
        let end = |factor: f64| match notation {
            Notation::Whole => (factor * value).round().max(1.0),
            _ => factor * value,
        };
        let (low, high) = (end(low), end(high));
        let plausible = Plausible::Between { low, high, notation };
        (low < high).then(|| Self { key: key.to_owned(), nominal: nominal.to_owned(), plausible })
    }

    /// Returns the plausible values of an uncertain figure as text, such as `350/m..500/m` or `yes,no`.
    pub(crate) fn text(&self) -> String {
        match &self.plausible {
            Plausible::Between { low, high, notation } => {
                format!("{}..{}", notation.short(*low), notation.short(*high))
            }
            Plausible::Listed(values) => values.join(","),
        }
    }
}

impl Notation {
    /// Returns the value as the server's flag or parameter accepts it, rounded to three significant digits.
    pub(crate) fn write(&self, value: f64) -> String {
        match self {
            Self::MeanOf(distribution) => distribution.with_mean(seconds(rounded(value))).to_string(),
            Self::Duration => duration_text::format(seconds(rounded(value))),
            _ => self.short(value),
        }
    }

    /// Returns the value for people. For a distribution, this is the mean alone.
    pub(crate) fn short(&self, value: f64) -> String {
        match self {
            Self::Whole => format!("{:.0}", rounded(value)),
            Self::Decimal => rounded(value).to_string(),
            Self::Duration | Self::MeanOf(_) if value >= 1.0 => format!("{}s", rounded(value)),
            Self::Duration | Self::MeanOf(_) => format!("{}ms", rounded(value * 1e3)),
            Self::Rate(unit) => {
                let per_s = unit.nanos() as f64 / 1e9;
                format!("{}/{unit}", rounded(value * per_s))
            }
        }
    }

    fn unit(&self) -> &'static str {
        match self {
            Self::Whole => "whole numbers",
            Self::Decimal => "numbers",
            Self::Duration | Self::MeanOf(_) => "durations",
            Self::Rate(_) => "rates",
        }
    }
}

/// Returns the value in the base unit of its notation, and the notation.
pub(super) fn read(text: &str) -> Option<(f64, Notation)> {
    if let Ok(whole) = text.parse::<u64>() {
        return Some((whole as f64, Notation::Whole));
    }
    if let Some(number) = decimal(text) {
        return Some((number, Notation::Decimal));
    }
    if let Ok(duration) = duration_text::parse(text) {
        return Some((duration.as_secs_f64(), Notation::Duration));
    }
    if let Ok(distribution) = text.parse::<Distribution>() {
        return Some((distribution.mean().as_secs_f64(), Notation::MeanOf(distribution)));
    }
    let (_, unit) = split_rate(text)?;
    Some((Rate::parse(text)?.per_s(), Notation::Rate(unit)))
}

fn decimal(text: &str) -> Option<f64> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

fn between(text: &str, (low, high): (&str, &str), nominal: &str) -> Result<Plausible, String> {
    if low.is_empty() || high.is_empty() {
        return Err(lacks_a_value(text));
    }
    let Some((value, of_nominal)) = read(nominal) else {
        return Err(format!(
            "the nominal value `{nominal}` is not a number, a rate or a duration; write a list `VALUE,VALUE`"
        ));
    };
    let ends = read(low).zip(read(high));
    let notation = ends.and_then(|((_, of_low), (_, of_high))| match (of_nominal, of_low, of_high) {
        (Notation::MeanOf(_) | Notation::Duration, Notation::Duration, Notation::Duration)
        | (Notation::Whole, Notation::Whole, Notation::Whole) => Some(of_nominal),
        (Notation::Rate(_), rate @ Notation::Rate(_), Notation::Rate(_)) => Some(rate),
        (
            Notation::Decimal | Notation::Whole,
            Notation::Decimal | Notation::Whole,
            Notation::Decimal | Notation::Whole,
        ) => Some(Notation::Decimal),
        _ => None,
    });
    let Some((((from, _), (to, _)), notation)) = ends.zip(notation) else {
        let wanted = of_nominal.unit();
        return Err(format!("`{text}`: both ends must be {wanted}, like the nominal value `{nominal}`"));
    };
    if from <= 0.0 {
        return Err(format!(
            "`{text}` must begin above 0, because values are drawn with equal factors; write a list `VALUE,VALUE` to include 0"
        ));
    }
    if from >= to {
        return Err(format!(
            "`{text}` goes from {low} to {high}; write the lower end first, and a higher one after it"
        ));
    }
    let (slightly_less, slightly_more) = (from * (1.0 - 1e-9), to * (1.0 + 1e-9));
    if !(slightly_less..=slightly_more).contains(&value) {
        return Err(nominal_outside(nominal, text));
    }
    Ok(Plausible::Between { low: from, high: to, notation })
}

fn listed(text: &str, nominal: &str) -> Result<Plausible, String> {
    let mut values: Vec<String> = split_outside(text, ',').map(|value| value.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(lacks_a_value(text));
    }
    if let [single] = values.as_slice() {
        let example = Range::by_factors("", single, (0.5, 2.0)).map(|range| range.text());
        let example = example.unwrap_or_else(|| format!("{nominal},{single}"));
        return Err(format!(
            "`{single}` is a single value; write a range such as `{example}`, or leave the key out"
        ));
    }
    // The nominal value may be spelled differently, such as `5%` for `0.05`.
    for value in values.iter_mut().filter(|value| is_same_number(value, nominal)) {
        nominal.clone_into(value);
    }
    if !values.iter().any(|value| value == nominal) {
        return Err(nominal_outside(nominal, text));
    }
    let mut repeated = values.iter().enumerate().filter(|(index, value)| values[..*index].contains(value));
    if let Some((_, value)) = repeated.next() {
        return Err(format!("value `{value}` is repeated"));
    }
    Ok(Plausible::Listed(values))
}

fn lacks_a_value(text: &str) -> String {
    format!("`{text}` lacks a value; write a range `LOW..HIGH` or a list `VALUE,VALUE`")
}

fn nominal_outside(nominal: &str, text: &str) -> String {
    format!("the nominal value `{nominal}` is not within `{text}`; include it, or change the nominal server")
}

fn is_same_number(one: &str, other: &str) -> bool {
    let is_number = |notation| !matches!(notation, Notation::MeanOf(_));
    let (Some((one, of_one)), Some((other, of_other))) = (read(one), read(other)) else { return false };
    is_number(of_one) && is_number(of_other) && (one - other).abs() <= 1e-9 * one.abs()
}

pub(crate) fn times(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (decimal(low.trim())?, decimal(high.trim())?);
    (0.0 < low && low < high).then_some((low, high))
}

/// Rounds to three significant digits. Larger whole numbers keep all their digits, so that an end of a range stays as it was given.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || (value.fract().abs() < 1e-9 && value.abs() < 1e15) {
        return value.round();
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of at most a few hundred")]
    let exponent = libm::floor(libm::log10(value.abs())) as i32;
    // Decimal text gives the nearest representable number, which multiplication by a power of ten does not.
    let digits = usize::try_from(2 - exponent).unwrap_or(0);
    format!("{value:.digits$}").parse().unwrap_or(value)
}

fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s).map_or(Duration::ZERO, |duration| {
        #[expect(clippy::cast_possible_truncation, reason = "rounded to microseconds, below 100 years")]
        let micros = (duration.as_nanos().saturating_add(500) / 1_000) as u64;
        Duration::from_micros(micros)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, nominal: &str) -> Range {
        Range::parse("key", text, nominal).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn refused(text: &str, nominal: &str) -> String {
        Range::parse("key", text, nominal).unwrap_err()
    }

    #[test]
    fn ranges_keep_the_notation_of_their_ends() {
        for (text, nominal, middle) in [
            ("350/m..500/m", "500/m", "418/m"),
            ("350/min..10/s", "500/m", "458/min"),
            ("8..500", "500", "63"),
            ("0.5..0.8", "0.6", "0.632"),
            ("700ms..6s", "lognormal(2s,0.5)", "lognormal(2s 50ms,0.5)"),
            ("100ms..400ms", "exp(200ms)", "exp(200ms)"),
            ("1s..4s", "3s", "2s"),
            ("1%..4%", "0.02", "0.02"),
        ] {
            let Plausible::Between { low, high, notation } = parsed(text, nominal).plausible else {
                panic!()
            };
            assert_eq!(notation.write((low * high).sqrt()), middle, "{text}");
        }
    }

    #[test]
    fn lists_have_each_value_once_and_the_nominal_one() {
        assert_eq!(parsed("yes, no", "yes").plausible, Plausible::Listed(vec!["yes".into(), "no".into()]));
        assert_eq!(parsed("exp(1s),lognormal(1s,0.5)", "exp(1s)").text(), "exp(1s),lognormal(1s,0.5)");
        assert!(refused("yes,maybe", "no").contains("`no` is not within `yes,maybe`"));
        assert!(refused("yes,yes", "yes").contains("repeated"));
        assert_eq!(parsed("1%,5%", "0.05").text(), "1%,0.05");
    }

    #[test]
    fn contradictory_ranges_are_refused() {
        assert!(refused("500", "500").contains("single value; write a range such as `250..1000`"));
        assert!(refused("500..8", "100").contains("write the lower end first"));
        assert!(refused("8..8", "8").contains("write the lower end first"));
        assert!(refused("8..", "8").contains("lacks a value"));
        assert!(refused("", "8").contains("lacks a value"));
        assert!(refused("1s..2s", "8").contains("must be whole numbers"));
        assert!(refused("0..10", "8").contains("must begin above 0"));
        assert!(refused("9..10", "8").contains("`8` is not within `9..10`"));
        assert!(refused("1..2", "yes").contains("write a list"));
    }

    #[test]
    fn factors_apply_to_every_notation() {
        let text = |nominal, factors| Range::by_factors("key", nominal, factors).map(|range| range.text());
        assert_eq!(text("500/m", (0.7, 1.0)).as_deref(), Some("350/m..500/m"));
        assert_eq!(text("lognormal(2s,0.5)", (0.5, 2.0)).as_deref(), Some("1s..4s"));
        assert_eq!(text("50", (0.5, 2.0)).as_deref(), Some("25..100"));
        assert_eq!(text("0", (0.5, 2.0)), None);
        assert_eq!(text("1", (0.7, 1.0)), None);
        assert_eq!(times("0.7..1"), Some((0.7, 1.0)));
        assert_eq!(times("1..0.5"), None);
    }
}
