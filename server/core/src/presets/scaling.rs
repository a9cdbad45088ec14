//! Scaling of presets. Rates, bursts, limits and caps are multiplied; windows and other times are not.

use vocabulary::ParameterInfo;

use super::use_error::ServerPresetUseError;
use crate::schedule::Quantity;

/// Keys of parameters whose values are numbers of requests. Scaling a preset multiplies these numbers.
const COUNTS: &[&str] =
    &["burst", "limit", "cap", "queue", "delay", "knee", "ban-after", "start", "by", "most"];

/// Parameters that scaling leaves unchanged, although their keys are in `COUNTS`, because their values are not numbers of requests. Each is
/// given as policy and key.
const FACTORS: &[(&str, &str)] = &[("slow-down", "most")];

/// Keys of rate parameters (`count/period`). Scaling a preset multiplies the count.
const RATES: &[&str] = &["rate"];

const RANGE: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

pub(super) fn checked(scale: f64) -> Result<f64, ServerPresetUseError> {
    if RANGE.contains(&scale) { Ok(scale) } else { Err(ServerPresetUseError::Scale(scale.to_string())) }
}

/// Returns the scaled value of a policy's parameter. `None` if scaling does not change it.
pub(super) fn scaled(policy: &str, parameter: &ParameterInfo, scale: f64) -> Option<String> {
    let value = &parameter.value;
    if FACTORS.contains(&(policy, parameter.key)) {
        return None;
    }
    if COUNTS.contains(&parameter.key) {
        // Scaling does not change the values `unlimited` and 0 of a parameter.
        return value.parse().ok().filter(|count| *count > 0).map(|count| times(count, scale).to_string());
    }
    if !RATES.contains(&parameter.key) {
        return None;
    }
    let (count, per) = value.split_once('/')?;
    let Ok(count) = count.parse() else {
        let number = Quantity::read(count)?;
        let millionths = times(u64::try_from(number.millionths).ok()?, scale);
        let number = Quantity { millionths: i64::try_from(millionths).unwrap_or(i64::MAX), ..number };
        return Some(format!("{number}/{per}"));
    };
    Some(format!("{}/{per}", times(count, scale)))
}

/// Multiplies a count by the scale, and rounds the product to the nearest whole number, at least 1.
fn times(count: u64, scale: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers are exact up to 2^52, and what is larger than a parameter can be is refused there"
    )]
    let nearest = (count as f64 * scale + 0.5) as u64;
    nearest.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &'static str, value: &str, scale: f64) -> Option<String> {
        let (about, accepted) = ("", String::new());
        scaled("", &ParameterInfo { key, about, value: value.to_owned(), accepted }, scale)
    }

    #[test]
    fn request_counts_are_scaled_and_rounded_but_times_are_not() {
        for (key, value, scale, wanted) in [
            ("limit", "5000", 0.02, Some("100")),
            ("limit", "40", 0.02, Some("1")),
            ("cap", "5", 0.5, Some("3")),
            ("cap", "unlimited", 0.5, None),
            ("queue", "0", 0.5, None),
            ("burst", "1", 0.000_001, Some("1")),
            ("burst", "1000", 12.5, Some("12500")),
            ("rate", "10000/s", 0.02, Some("200/s")),
            ("rate", "900/min", 0.01, Some("9/min")),
            ("rate", "2/s", 0.02, Some("1/s")),
            ("rate", "0.5/s", 0.02, Some("0.01/s")),
            ("rate", "1.5/300s", 3.0, Some("4.5/300s")),
            ("window", "1h", 0.02, None),
            ("lock", "5m", 0.02, None),
            ("p", "0.5", 0.02, None),
        ] {
            assert_eq!(of(key, value, scale).as_deref(), wanted, "{key}={value} × {scale}");
        }
        for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(checked(nonsense).is_err());
        }
    }
}
