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

use vocabulary::{Choice, ChoiceField as _, choices, did_you_mean};

use super::{RenderContext, TimeForm, Unit};
use crate::{LimitStatus, quoted};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    stage: Stage,
    quantity: Quantity,
    /// Format of the value if the quantity is a time.
    form: Option<TimeForm>,
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

choices! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Quantity {
        Limit = "limit",
        Remaining = "remaining",
        Used = "used",
        Reset = "reset",
        Window = "window",
        Wait = "wait",
        Now = "now",
        Reason = "reason",
    }
}

impl Quantity {
    fn names() -> impl Iterator<Item = &'static str> {
        Self::CHOICES.iter().map(|(word, _)| *word)
    }

    /// Whether the quantity describes the whole answer and not a single policy.
    fn is_of_answer(self) -> bool {
        matches!(self, Self::Wait | Self::Now | Self::Reason)
    }

    /// Returns the default unit. `None` for quantities that are not times.
    fn usual_unit(self) -> Option<Unit> {
        match self {
            Self::Reset | Self::Window | Self::Wait => Some(Unit::Seconds),
            Self::Now => Some(Unit::Epoch),
            _ => None,
        }
    }

    fn fits(self, unit: Unit) -> bool {
        match self {
            Self::Window => !unit.is_moment(),
            Self::Now => unit.is_moment(),
            _ => true,
        }
    }
}

/// Error for a text in a template that looks like a field but is invalid. `field` is the text without its braces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    #[error(
        "unknown field `{{{field}}}`{suggestion}; the fields are {}, and the first five can also name a \
         policy, such as `{{{}.limit}}`; for a brace that does not begin a field, write two: \
         `{{{{{field}}}`",
        quoted(Quantity::names()), stages.first().map_or("NAME", |name| name)
    )]
    Quantity { field: String, suggestion: String, stages: Vec<Box<str>> },
    #[error("`{{{field}}}`: no policy has the name `{name}`{suggestion}; the names are {}", quoted(stages))]
    Stage { field: String, name: String, suggestion: String, stages: Vec<Box<str>> },
    #[error("`{{{field}}}`: {why}")]
    Form { field: String, why: String },
}

impl Field {
    pub(super) fn parse(field: &str, stages: &[Box<str>]) -> Result<Self, FieldError> {
        let form = |why: String| FieldError::Form { field: field.to_owned(), why };
        let mut words = field.split(':');
        let name = words.next().unwrap_or_default();
        let (stage, name) = name.rsplit_once('.').map_or((None, name), |(stage, name)| (Some(stage), name));
        let (word, unit) = name.split_once('_').map_or((name, None), |(name, unit)| (name, Some(unit)));
        let Some((_, quantity)) = Quantity::CHOICES.iter().find(|(known, _)| *known == word) else {
            return Err(FieldError::Quantity {
                field: field.to_owned(),
                suggestion: did_you_mean(word, Quantity::names()),
                stages: stages.to_vec(),
            });
        };
        let stage = match stage {
            Some(_) if quantity.is_of_answer() => {
                return Err(form(format!(
                    "`{word}` belongs to the whole answer, not to one policy; write `{{{name}}}`"
                )));
            }
            Some(stage) => Stage::named(field, stage, stages)?,
            None => Stage::Speaking,
        };
        let Some(usual) = quantity.usual_unit() else {
            return match (unit, words.next()) {
                (None, None) => Ok(Self { stage, quantity: *quantity, form: None }),
                (Some(unit), _) => Err(form(format!("`{word}` has no unit, so leave out `{unit}`"))),
                (None, Some(more)) => Err(form(format!("`{word}` is not a time, so leave out `{more}`"))),
            };
        };
        let unit = match unit {
            None => usual,
            Some(name) => {
                let known = Unit::CHOICES.iter().filter(|(_, unit)| quantity.fits(*unit));
                let found = known.clone().find(|(known, _)| *known == name);
                let (_, unit) = found.ok_or_else(|| {
                    let units = quoted(known.clone().map(|(word, _)| *word));
                    let suggestion = did_you_mean(name, known.clone().map(|(word, _)| *word));
                    form(format!("`{word}` cannot be written in `{name}`{suggestion}; its units are {units}"))
                })?;
                *unit
            }
        };
        let mut time = TimeForm::new(unit);
        time.take(words).map_err(form)?;
        Ok(Self { stage, quantity: *quantity, form: Some(time) })
    }

    /// Returns the index of the stage whose limit a template field reports. A field without a stage name reports the limit of the stage
    /// with the index `speaker`.
    pub(super) fn stage(&self, speaker: usize) -> Option<usize> {
        (!self.quantity.is_of_answer()).then(|| self.stage.index(speaker))
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
            Quantity::Reset => write_reset(self.form?, limit_status()?, rendering, out),
            Quantity::Window => write_after(self.form?, limit_status()?.window?, rendering, out),
            Quantity::Wait => write_after(self.form?, rendering.context.outcome.wait()?, rendering, out),
            Quantity::Now => write_after(self.form?, Duration::ZERO, rendering, out),
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
                stages: stages.to_vec(),
            }),
        }
    }
}

/// Writes a template field with its braces. Parsing the written text returns an equal field.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if let Stage::Named { name, .. } = &self.stage {
            write!(f, "{name}.")?;
        }
        f.write_str(self.quantity.word())?;
        if let Some(form) = self.form {
            form.fmt(f)?;
        }
        f.write_str("}")
    }
}
