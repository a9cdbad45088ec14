//! Value of a figure in a schedule: a constant, a ramp or a wave.

use std::fmt;
use std::time::Duration;

use vocabulary::duration_text;

use super::quantity::Quantity;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Constant value: a number or word, written as the policy's parameter accepts it.
    Constant(String),
    Ramp(Quantity, Quantity),
    Sine(Sine),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sine {
    pub(super) base: Quantity,
    /// Amplitude of the sine wave, in the unit of `base`.
    pub(super) amplitude: Quantity,
    pub(super) falls_first: bool,
    pub(super) period: Duration,
}

/// Minimum period of a wave. With a shorter period, the wave would have too few steps to be a wave.
const MIN_PERIOD: Duration = Duration::from_millis(100);

const MAX_PERIOD: Duration = Duration::from_hours(100 * 24);

impl Value {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a value is missing after `=`".to_owned());
        }
        if text.contains(',') {
            return Err(format!(
                "`{text}` has more than one value; write a separate entry for each parameter"
            ));
        }
        if let Some((wave, period)) = text.split_once("sin(")
            && let Some(wave) = wave.trim_end().strip_suffix('*')
        {
            return Sine::read(text, wave, period).map(Self::Sine);
        }
        let Some((from, to)) = text.split_once("..") else { return Ok(Self::Constant(text.to_owned())) };
        let (Some(from), Some(to)) = (Quantity::read(from), Quantity::read(to)) else {
            return Err(format!("`{text}` is not a ramp; write for example `20..80`"));
        };
        let from = from.in_unit_of(&to);
        let to = to.in_unit_of(&from);
        if from.unit != to.unit {
            return Err(format!("the two ends of `{text}` have different units; use the same unit for both"));
        }
        Ok(Self::Ramp(from, to))
    }
}

impl Sine {
    fn read(text: &str, wave: &str, period: &str) -> Result<Self, String> {
        let malformed = || format!("`{text}` is not a wave; write for example `50+30*sin(20s)`");
        let period = period.trim().strip_suffix(')').ok_or_else(malformed)?;
        let period = duration_text::parse(period).map_err(|error| error.to_string())?;
        if !(MIN_PERIOD..=MAX_PERIOD).contains(&period) {
            return Err(format!("the period in `{text}` must be from 100ms to 100days"));
        }
        let sign = wave.rfind(['+', '-']).ok_or_else(malformed)?;
        let base = Quantity::read(&wave[..sign]).ok_or_else(malformed)?;
        let amplitude = Quantity::read(&wave[sign + 1..]).ok_or_else(malformed)?;
        let amplitude = amplitude.in_unit_of(&base);
        let base = base.in_unit_of(&amplitude);
        if base.unit != amplitude.unit {
            return Err(format!(
                "the two numbers of `{text}` have different units; use the same unit for both"
            ));
        }
        if base.millionths < amplitude.millionths {
            return Err(format!("the values of `{text}` would fall below 0"));
        }
        Ok(Self { base, amplitude, falls_first: wave[sign..].starts_with('-'), period })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(text) => f.write_str(text),
            Self::Ramp(from, to) => write!(f, "{from}..{to}"),
            Self::Sine(Sine { base, amplitude, falls_first, period }) => {
                let sign = if *falls_first { '-' } else { '+' };
                write!(f, "{base}{sign}{amplitude}*sin({})", duration_text::format(*period))
            }
        }
    }
}
