//! Parameters of a form of retry advice, such as its header and its rounding.

use std::time::Duration;

use vocabulary::{Parameter, TextField, WallTime, duration_text};

use super::super::header_writer::HeaderWriter;
use super::super::response_context::RenderContext;
use super::super::time_form::{Rounding, TimeForm, Unit};
use super::accuracy::AdviceAccuracy;
use super::problem::Problem;
use crate::header_rules::checked_name;

/// Values of the parameters of one form of retry advice. Each form uses only some of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) header: HeaderName,
    pub(super) rounding: Rounding,
    pub(super) places: u32,
    pub(super) honesty: AdviceAccuracy,
    skew: Skew,
    pub(super) problem: Problem,
}

/// All parameters of advice forms, in the order in which they are printed.
pub(super) const PARAMETERS: &[Parameter<Settings>] = &[
    Parameter::text("header", "name of the header that has the advice", |settings| &mut settings.header),
    Parameter::choice("round", "whether the value is rounded up, down, or to the nearest", |settings| {
        &mut settings.rounding
    }),
    Parameter::count("places", "number of digits after the decimal point", 0..=9, |settings| {
        &mut settings.places
    }),
    Parameter::choice("type", "kind of problem that the body names", |settings| &mut settings.problem),
    Parameter::duration("early", "time by which the advised time is too early", |settings| {
        &mut settings.honesty.early
    }),
    Parameter::duration("late", "time by which the advised time is too late", |settings| {
        &mut settings.honesty.late
    }),
    Parameter::duration("jitter", "maximum random time that is added to the advised time", |settings| {
        &mut settings.honesty.jitter
    }),
    Parameter::text("skew", "time by which the server's clock is ahead of the client's", |settings| {
        &mut settings.skew
    }),
    Parameter::number(
        "share",
        "share of the rejections that have this advice, from 0 to 1",
        0.0..=1.0,
        |settings| &mut settings.honesty.share,
    ),
    Parameter::number(
        "malformed",
        "share of the advice that is sent in an unreadable form, from 0 to 1",
        0.0..=1.0,
        |settings| &mut settings.honesty.malformed,
    ),
];

impl Default for Settings {
    fn default() -> Self {
        Self::new("retry-after", 0)
    }
}

impl Settings {
    pub(super) fn new(header: &str, places: u32) -> Self {
        Self {
            header: HeaderName(header.to_owned()),
            rounding: Rounding::default(),
            places,
            honesty: AdviceAccuracy::default(),
            skew: Skew::default(),
            problem: Problem::default(),
        }
    }

    pub(super) fn write(&self, unit: Unit, wait: Duration, rendering: &RenderContext<'_>) -> String {
        let places = u8::try_from(self.places).unwrap_or(0);
        let form = TimeForm { unit, places, rounding: self.rounding };
        let mut out = String::new();
        if unit.is_moment() {
            form.write_moment(self.skew.applied(rendering.moment(wait), rendering.teller), &mut out);
        } else {
            form.write_duration(rendering.teller.duration(wait), &mut out);
        }
        out
    }
}

/// Name of an HTTP header, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderName(String);

impl HeaderName {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TextField for HeaderName {
    fn read(&mut self, text: &str) -> Result<(), String> {
        self.0 = checked_name(text).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn show(&self) -> String {
        self.0.clone()
    }

    fn accepted(&self) -> &'static str {
        "the name of a header, such as `retry-after`"
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Skew {
    is_behind: bool,
    by: Duration,
}

impl Skew {
    fn applied(self, moment: WallTime, teller: &HeaderWriter) -> WallTime {
        let (moment, by) = (moment.since_unix(), teller.duration(self.by));
        WallTime::from_unix(if self.is_behind {
            moment.saturating_sub(by)
        } else {
            moment.saturating_add(by)
        })
    }
}

impl TextField for Skew {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let (is_behind, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let by = duration_text::parse(text).map_err(|error| error.to_string())?;
        *self = Self { is_behind: is_behind && !by.is_zero(), by };
        Ok(())
    }

    fn show(&self) -> String {
        format!("{}{}", if self.is_behind { "-" } else { "" }, duration_text::format(self.by))
    }

    fn accepted(&self) -> &'static str {
        "a duration, such as `2s`, or `-2s` if the server's clock is behind"
    }
}
