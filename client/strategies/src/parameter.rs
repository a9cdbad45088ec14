//! A part's parameters as a table: key, meaning, accepted values, and the field of the config they set.

use std::time::Duration;

use vocabulary::duration_text;

/// One parameter of a part configured by `C`.
pub(crate) struct Parameter<C: 'static> {
    /// As typed, kebab-case.
    pub(crate) key: &'static str,
    /// What it does, in half a line.
    pub(crate) about: &'static str,
    /// What it sets.
    pub(crate) field: Field<C>,
}

/// The field that a parameter sets, and what it accepts (bounds included).
pub(crate) enum Field<C: 'static> {
    /// A duration in this range.
    Duration { at: fn(&mut C) -> &mut Duration, min: Duration, max: Duration },
    /// A number in this range.
    Number { at: fn(&mut C) -> &mut f64, min: f64, max: f64 },
    /// A whole number in this range.
    Count { at: fn(&mut C) -> &mut u32, min: u32, max: u32 },
    /// One of a few words.
    Choice { words: &'static [&'static str], index: fn(&C) -> usize, choose: fn(&mut C, usize) },
}

/// The longest duration that a parameter accepts: a day.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);

impl<C> Parameter<C> {
    /// A duration from zero to a day.
    pub(crate) const fn duration(
        key: &'static str,
        about: &'static str,
        at: fn(&mut C) -> &mut Duration,
    ) -> Self {
        let (min, max) = (Duration::ZERO, LONGEST);
        Self { key, about, field: Field::Duration { at, min, max } }
    }

    /// A number from `min` to `max`.
    pub(crate) const fn number(
        key: &'static str,
        about: &'static str,
        (min, max): (f64, f64),
        at: fn(&mut C) -> &mut f64,
    ) -> Self {
        Self { key, about, field: Field::Number { at, min, max } }
    }

    /// A whole number from `min` to `max`.
    pub(crate) const fn count(
        key: &'static str,
        about: &'static str,
        (min, max): (u32, u32),
        at: fn(&mut C) -> &mut u32,
    ) -> Self {
        Self { key, about, field: Field::Count { at, min, max } }
    }

    /// One of `words`; the config holds an enum that `index` and `choose` map to their positions.
    pub(crate) const fn choice(
        key: &'static str,
        about: &'static str,
        words: &'static [&'static str],
        index: fn(&C) -> usize,
        choose: fn(&mut C, usize),
    ) -> Self {
        Self { key, about, field: Field::Choice { words, index, choose } }
    }

    /// Sets the config's field from text.
    pub(crate) fn set(&self, config: &mut C, text: &str) -> Result<(), ParameterError> {
        let refuse = || ParameterError { key: self.key, value: text.to_owned(), accepted: self.accepted() };
        match &self.field {
            Field::Duration { at, min, max } => {
                let value = duration_text::parse(text).map_err(|_| refuse())?;
                if value < *min || value > *max {
                    return Err(refuse());
                }
                *at(config) = value;
            }
            Field::Number { at, min, max } => {
                let value: f64 = text.parse().map_err(|_| refuse())?;
                if !(*min..=*max).contains(&value) {
                    return Err(refuse());
                }
                *at(config) = value;
            }
            Field::Count { at, min, max } => {
                let value: u32 = text.parse().map_err(|_| refuse())?;
                if !(*min..=*max).contains(&value) {
                    return Err(refuse());
                }
                *at(config) = value;
            }
            Field::Choice { words, choose, .. } => {
                let position = words.iter().position(|word| *word == text).ok_or_else(refuse)?;
                choose(config, position);
            }
        }
        Ok(())
    }

    /// The value in the config, as it would be typed.
    pub(crate) fn show(&self, config: &mut C) -> String {
        match &self.field {
            Field::Duration { at, .. } => duration_text::format(*at(config)),
            Field::Number { at, .. } => at(config).to_string(),
            Field::Count { at, .. } => match *at(config) {
                u32::MAX => "unlimited".to_owned(),
                count => count.to_string(),
            },
            Field::Choice { words, index, .. } => words[index(config)].to_owned(),
        }
    }

    /// What the parameter accepts, in words.
    pub(crate) fn accepted(&self) -> String {
        match &self.field {
            Field::Duration { min, max, .. } => {
                format!("a duration from {} to {}", duration_text::format(*min), duration_text::format(*max))
            }
            Field::Number { min, max, .. } => format!("a number from {min} to {max}"),
            Field::Count { min, max: u32::MAX, .. } => format!("a whole number from {min}"),
            Field::Count { min, max, .. } => format!("a whole number from {min} to {max}"),
            Field::Choice { words, .. } => words.join(" or "),
        }
    }
}

/// A value that its parameter does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}={value}` is not accepted; `{key}` takes {accepted}")]
pub struct ParameterError {
    key: &'static str,
    value: String,
    accepted: String,
}

/// A parameter as help texts show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// As typed.
    pub key: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its value when it is not given (or the value in use, for a configured part).
    pub value: String,
    /// What it accepts.
    pub accepted: String,
}
