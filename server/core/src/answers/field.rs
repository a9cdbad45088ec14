//! Field of a template: `{primary.remaining}`, `{wait_s:up}`, `{reset_epoch}`.
//!
//! A field is written `{STAGE.quantity_unit:rounding}`. `STAGE` is the name of a stage of the policy stack. A field without a stage name
//! refers to the stage that rejected the request. If no stage rejected the request, such a field refers to the first stage.
//!
//! The quantities `limit`, `remaining` and `used` are numbers. The quantities `reset`, `window`, `wait` (the exact wait of a rejection) and
//! `now` are times, formatted by [`TimeForm`]. The quantity `reason` is a text: the name of the stage that rejected the request. `wait`,
//! `now` and `reason` describe the whole answer and not a single stage. The default unit is `s` for times to wait and `epoch` for `now`.

use std::fmt::{self, Write as _};
use std::time::Duration;

use vocabulary::{Choice, did_you_mean};

use super::response_context::RenderContext;
use super::time_form::{TimeForm, Unit};
use crate::limit_status::LimitStatus;
use crate::quoted::quoted;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    stage: Stage,
    quantity: Quantity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// The field contains no stage name. It refers to the stage that rejected the request, or to the first stage of the stack if no stage
    /// did.
    Speaking,
    Named {
        index: usize,
        name: Box<str>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Limit,
    Remaining,
    Used,
    Reset(TimeForm),
    Window(TimeForm),
    Wait(TimeForm),
    Now(TimeForm),
    Reason,
}

/// Names of the quantities that a template field can contain, with their default units. The unit is `None` for quantities without a unit.
const QUANTITIES: &[(&str, Option<Unit>)] = &[
    ("limit", None),
    ("remaining", None),
    ("used", None),
    ("reset", Some(Unit::Seconds)),
    ("window", Some(Unit::Seconds)),
    ("wait", Some(Unit::Seconds)),
    ("now", Some(Unit::Epoch)),
    ("reason", None),
];

/// Error for a text in a template that looks like a field but is invalid. `field` is the text without its braces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    #[error(
        "unknown field `{{{field}}}`{suggestion}; the fields are {}, and the first five can also name a \
         policy, such as `{{{}.limit}}`; for a brace that does not begin a field, write two: \
         `{{{{{field}}}`",
        quoted(QUANTITIES.iter().map(|(word, _)| *word)), stages.first().map_or("NAME", |name| name)
    )]
    Quantity { field: String, suggestion: String, stages: Vec<String> },
    #[error("`{{{field}}}`: no policy has the name `{name}`{suggestion}; the names are {}", quoted(stages.iter().map(String::as_str)))]
    Stage { field: String, name: String, suggestion: String, stages: Vec<String> },
    #[error("`{{{field}}}`: {why}")]
    Form { field: String, why: String },
}

impl Field {
    pub(super) fn parse(field: &str, stages: &[Box<str>]) -> Result<Self, FieldError> {
        let form = |why: String| FieldError::Form { field: field.to_owned(), why };
        let mut words = field.split(':');
        let name = words.next().unwrap_or_default();
        let (stage, name) = name.rsplit_once('.').map_or((None, name), |(stage, name)| (Some(stage), name));
        let (quantity, unit) = name.split_once('_').map_or((name, None), |(name, unit)| (name, Some(unit)));
        let Some((_, usual)) = QUANTITIES.iter().find(|(known, _)| *known == quantity) else {
            return Err(FieldError::Quantity {
                field: field.to_owned(),
                suggestion: did_you_mean(quantity, QUANTITIES.iter().map(|(known, _)| *known)),
                stages: stages.iter().map(|name| name.clone().into_string()).collect(),
            });
        };
        let stage = match stage {
            Some(_) if matches!(quantity, "wait" | "now" | "reason") => {
                return Err(form(format!(
                    "`{quantity}` belongs to the whole answer, not to one policy; write `{{{name}}}`"
                )));
            }
            Some(stage) => Stage::named(field, stage, stages)?,
            None => Stage::Speaking,
        };
        let time = match (usual, unit) {
            (None, None) => None,
            (None, Some(unit)) => {
                return Err(form(format!("`{quantity}` has no unit, so leave out `{unit}`")));
            }
            (Some(usual), None) => Some(TimeForm::new(*usual)),
            (Some(_), Some(word)) => {
                let known = Unit::CHOICES.iter().filter(|(_, unit)| fits(quantity, *unit));
                let found = known.clone().find(|(known, _)| *known == word);
                let (_, unit) = found.ok_or_else(|| {
                    let units = quoted(known.clone().map(|(word, _)| *word));
                    let suggestion = did_you_mean(word, known.clone().map(|(word, _)| *word));
                    form(format!(
                        "`{quantity}` cannot be written in `{word}`{suggestion}; its units are {units}"
                    ))
                })?;
                Some(TimeForm::new(*unit))
            }
        };
        let quantity = match time {
            None => match words.next() {
                Some(word) => return Err(form(format!("`{quantity}` is not a time, so leave out `{word}`"))),
                None => match quantity {
                    "limit" => Quantity::Limit,
                    "remaining" => Quantity::Remaining,
                    "used" => Quantity::Used,
                    _ => Quantity::Reason,
                },
            },
            Some(mut time) => {
                time.take(words).map_err(form)?;
                match quantity {
                    "reset" => Quantity::Reset(time),
                    "window" => Quantity::Window(time),
                    "wait" => Quantity::Wait(time),
                    _ => Quantity::Now(time),
                }
            }
        };
        Ok(Self { stage, quantity })
    }

    /// Returns the index of the stage whose limit a template field reports. A field without a stage name reports the limit of the stage
    /// with the index `speaker`.
    pub(super) fn stage(&self, speaker: usize) -> Option<usize> {
        match self.quantity {
            Quantity::Wait(_) | Quantity::Now(_) | Quantity::Reason => None,
            _ => Some(self.stage.index(speaker)),
        }
    }

    /// Writes the value of a template field and returns true. If the field has no value in this answer, writes nothing and returns false.
    pub(super) fn write(&self, rendering: &RenderContext<'_>, out: &mut String) -> bool {
        self.try_write(rendering, out).is_some()
    }

    fn try_write(&self, rendering: &RenderContext<'_>, out: &mut String) -> Option<()> {
        let limit_status = || rendering.limit_status(self.stage.index(rendering.speaker()));
        let mut number = |number: u64| {
            // Writing to a `String` never fails.
            let _ = write!(out, "{number}");
        };
        match self.quantity {
            Quantity::Limit => number(limit_status()?.limit),
            Quantity::Remaining => number(limit_status()?.remaining),
            Quantity::Used => {
                number(limit_status().map(|there| there.limit.saturating_sub(there.remaining))?);
            }
            Quantity::Reset(form) => write_reset(form, limit_status()?, rendering, out),
            Quantity::Window(form) => write_after(form, limit_status()?.window?, rendering, out),
            Quantity::Wait(form) => write_after(form, rendering.context.outcome.wait()?, rendering, out),
            Quantity::Now(form) => write_after(form, Duration::ZERO, rendering, out),
            Quantity::Reason => out.push_str(rendering.reason()?),
        }
        Some(())
    }
}

fn write_after(form: TimeForm, after: Duration, rendering: &RenderContext<'_>, out: &mut String) {
    if form.unit.is_moment() {
        form.write_moment(rendering.moment(after), out);
    } else {
        form.write_duration(rendering.teller.duration(after), out);
    }
}

/// Writes the moment at which a limit resets, or the time left until then. The written moment is in the past if the limit has reset while
/// the answered request was being served. Real servers that write their headers before they serve the request send such past moments, too.
fn write_reset(form: TimeForm, limit_status: &LimitStatus, rendering: &RenderContext<'_>, out: &mut String) {
    if form.unit.is_moment() {
        form.write_moment(rendering.teller.wall(rendering.reset_at(limit_status)), out);
    } else {
        form.write_duration(rendering.teller.duration(rendering.until_reset(limit_status)), out);
    }
}

impl Stage {
    fn index(&self, speaker: usize) -> usize {
        match self {
            Self::Speaking => speaker,
            Self::Named { index, .. } => *index,
        }
    }

    fn named(field: &str, name: &str, stages: &[Box<str>]) -> Result<Self, FieldError> {
        match stages.iter().position(|stage| **stage == *name) {
            Some(index) => Ok(Self::Named { index, name: name.into() }),
            None => Err(FieldError::Stage {
                field: field.to_owned(),
                name: name.to_owned(),
                suggestion: did_you_mean(name, stages.iter().map(|name| &**name)),
                stages: stages.iter().map(|name| name.clone().into_string()).collect(),
            }),
        }
    }
}

fn fits(quantity: &str, unit: Unit) -> bool {
    match quantity {
        "window" => !unit.is_moment(),
        "now" => unit.is_moment(),
        _ => true,
    }
}

/// Writes a template field with its braces. Parsing the written text returns an equal field.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if let Stage::Named { name, .. } = &self.stage {
            write!(f, "{name}.")?;
        }
        match self.quantity {
            Quantity::Limit => f.write_str("limit")?,
            Quantity::Remaining => f.write_str("remaining")?,
            Quantity::Used => f.write_str("used")?,
            Quantity::Reset(form) => write!(f, "reset{form}")?,
            Quantity::Window(form) => write!(f, "window{form}")?,
            Quantity::Wait(form) => write!(f, "wait{form}")?,
            Quantity::Now(form) => write!(f, "now{form}")?,
            Quantity::Reason => f.write_str("reason")?,
        }
        f.write_str("}")
    }
}
