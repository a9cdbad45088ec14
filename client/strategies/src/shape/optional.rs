//! Optional values of parameters. A missing value is written as `none`.

use std::time::Duration;

use vocabulary::{TextField, duration_text};

use crate::delay::LONGEST;

const NONE: &str = "none";

/// Duration of at most a day, or no duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalDuration(pub(crate) Option<Duration>);

impl TextField for OptionalDuration {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = match text {
            NONE => None,
            text => Some(up_to_a_day(text)?),
        };
        Ok(())
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| NONE.to_owned(), duration_text::format)
    }

    fn accepted(&self) -> &'static str {
        "a duration up to a day, or `none`, such as `0s` or `1s` or `none`"
    }
}

/// Number from 1 to 1000, or no number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OptionalNumber(pub(crate) Option<f64>);

impl TextField for OptionalNumber {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = match text {
            NONE => None,
            text => {
                let number = text.parse().ok().filter(|number| (1.0..=1000.0).contains(number));
                Some(number.ok_or("the value is not a number from 1 to 1000")?)
            }
        };
        Ok(())
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| NONE.to_owned(), |number| number.to_string())
    }

    fn accepted(&self) -> &'static str {
        "a number between 1 and 1000, or `none`, such as `1` or `2` or `none`"
    }
}

pub(crate) fn up_to_a_day(text: &str) -> Result<Duration, String> {
    let duration = duration_text::parse(text).map_err(|error| error.to_string())?;
    if duration > LONGEST {
        return Err(format!("`{text}` is longer than a day"));
    }
    Ok(duration)
}

/// List of the explicit delays of a backoff, which replace computed delays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DelayList(pub(crate) Vec<Duration>);

impl TextField for DelayList {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = match text {
            "none" => Vec::new(),
            text => text.split('|').map(|delay| up_to_a_day(delay.trim())).collect::<Result<_, _>>()?,
        };
        Ok(())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0.iter().map(|delay| duration_text::format(*delay)).collect::<Vec<_>>().join("|")
    }

    fn accepted(&self) -> &'static str {
        "durations up to a day, joined by `|`, or `none`, such as `1s|4s|9s` or `none`"
    }
}
