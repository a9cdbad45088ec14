//! What a schedule means for a stack of policies: the course of everything that changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use vocabulary::whole_nanos;

use super::course::{Course, Notation, Segment, Shape};
use super::entry::{Action, Entry, Target, Until};
use super::quantity::Quantity;
use super::text::{Schedule, ScheduleError};
use super::value::{Sine, Value};
use crate::caps::MOST_SLOTS;
use crate::policy_stack::Policies;

/// What changes, for the policies for which it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Courses {
    /// The server's own cap.
    pub(crate) slots: Option<Course>,
    pub(super) parameters: Vec<ParameterCourse>,
    /// When it is down, in order; in nanoseconds since the run began.
    pub(super) down: Vec<(u64, u64)>,
}

/// The course of a policy's parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParameterCourse {
    /// Which policy of the stack, from 0.
    pub(super) stage: usize,
    pub(super) key: String,
    pub(super) course: Course,
}

impl Schedule {
    /// What it means for these policies.
    ///
    /// # Errors
    /// Names the entry that cannot be met, and why.
    pub(crate) fn courses(&self, policies: &Policies) -> Result<Courses, ScheduleError> {
        let mut courses = Courses { down: self.down(), ..Courses::default() };
        let mut by_target: BTreeMap<&Target, Vec<(&Entry, &Value)>> = BTreeMap::new();
        for entry in self.entries() {
            if let Action::Set(target, value) = &entry.action {
                by_target.entry(target).or_default().push((entry, value));
            }
        }
        for (target, entries) in by_target {
            match target {
                Target::MaxBusy => courses.slots = Some(slots(policies, &entries)?),
                Target::Parameter { stage, key } => {
                    courses.parameters.push(parameter(policies, (stage, key), &entries)?);
                }
            }
        }
        Ok(courses)
    }

    /// Ranges in which the server is down: a `down` without an end lasts until a later entry that is another.
    fn down(&self) -> Vec<(u64, u64)> {
        let entries = self.entries();
        let downs = entries.iter().enumerate().filter(|(_, entry)| entry.action == Action::Down);
        let ranges = downs.map(|(index, down)| {
            let ends = |later: &&Entry| later.action != Action::Down && later.from > down.from;
            let end = down.end().or_else(|| entries[index + 1..].iter().find(ends).map(|later| later.from));
            (whole_nanos(down.from), end.map_or(u64::MAX, whole_nanos))
        });
        ranges.collect()
    }
}

impl Courses {
    /// Policies of which a parameter changes, by their index in the stack.
    pub(crate) fn changed(&self) -> BTreeSet<usize> {
        self.parameters.iter().map(|parameter| parameter.stage).collect()
    }

    /// What a policy's parameter is so long after the run began, if it has a course by then.
    pub(crate) fn text(&self, stage: usize, key: &str, elapsed: u64) -> Option<String> {
        let is_it = |parameter: &&ParameterCourse| parameter.stage == stage && parameter.key == key;
        self.parameters.iter().find(is_it)?.course.text(elapsed)
    }

    /// Whether the server is down so long after the run began.
    pub(super) fn is_down(&self, elapsed: u64) -> bool {
        let begun = self.down.partition_point(|(from, _)| *from <= elapsed);
        // An open one may have begun before another that has ended.
        self.down[..begun].iter().any(|(_, to)| elapsed < *to)
    }
}

/// The course of the server's own cap.
fn slots(policies: &Policies, entries: &[(&Entry, &Value)]) -> Result<Course, ScheduleError> {
    for (entry, value) in entries {
        if !policies.has_cap() {
            let why = format!(
                "`{policies}` does not go by the server's own cap; name the policy's, such as `concurrency.cap`"
            );
            return Err(ScheduleError::of(entry, why));
        }
        for extreme in extremes(value) {
            let slots = extreme.parse().ok().filter(|slots| (1..=MOST_SLOTS).contains(slots));
            if slots.is_none() {
                let why = format!("`{extreme}` is no number of slots from 1 to {MOST_SLOTS}");
                return Err(ScheduleError::of(entry, why));
            }
        }
    }
    Ok(Course::new(segments(entries), Notation { unit: String::new(), is_whole: true }))
}

/// The course of a policy's parameter.
fn parameter(
    policies: &Policies,
    (stage, key): (&str, &str),
    entries: &[(&Entry, &Value)],
) -> Result<ParameterCourse, ScheduleError> {
    let refuse = |why: String| {
        let entry = entries.first().map(|(entry, _)| entry.to_string()).unwrap_or_default();
        ScheduleError::of(entry, why)
    };
    let index = policies.index_of(stage).map_err(refuse)?;
    policies.check_changeable(index, key).map_err(refuse)?;
    let accepts = |text: &str| policies.with(index, key, text).is_ok();
    let mut notation: Option<Notation> = None;
    for (entry, value) in entries {
        let number = match value {
            Value::Constant(text) => {
                policies
                    .with(index, key, &in_unit(text, accepts))
                    .map_err(|error| ScheduleError::of(entry, error.to_string()))?;
                continue;
            }
            Value::Ramp(from, to) => {
                if from.millionths < to.millionths {
                    from
                } else {
                    to
                }
            }
            Value::Sine(Sine { base, .. }) => base,
        };
        let unit = unit_of(number, accepts);
        for extreme in extremes(value) {
            policies
                .with(index, key, &format!("{extreme}{}", if number.unit.is_empty() { unit } else { "" }))
                .map_err(|error| ScheduleError::of(entry, error.to_string()))?;
        }
        let fraction = Quantity { millionths: number.millionths + 1, unit: unit.to_owned() };
        let own = Notation { unit: unit.to_owned(), is_whole: !accepts(&fraction.to_string()) };
        if notation.as_ref().is_some_and(|before| *before != own) {
            return Err(ScheduleError::of(
                entry,
                "it is in another unit than what comes before; write all in one",
            ));
        }
        notation = Some(own);
    }
    let mut segments = segments(entries);
    for segment in &mut segments {
        if let Shape::Constant(text) = &mut segment.shape {
            *text = in_unit(text, accepts);
        }
    }
    let course = Course::new(segments, notation.unwrap_or_default());
    Ok(ParameterCourse { stage: index, key: key.to_owned(), course })
}

/// A rate without a unit is one per second.
const PER_SECOND: &str = "/s";

/// The unit in which a parameter accepts a number.
fn unit_of(number: &Quantity, accepts: impl Fn(&str) -> bool) -> &str {
    let is_rate = number.unit.is_empty() && !accepts(&number.to_string());
    if is_rate && accepts(&format!("{number}{PER_SECOND}")) { PER_SECOND } else { &number.unit }
}

/// A text as a parameter accepts it.
fn in_unit(text: &str, accepts: impl Fn(&str) -> bool) -> String {
    match Quantity::read(text) {
        Some(number) if number.unit.is_empty() => format!("{text}{}", unit_of(&number, accepts)),
        _ => text.to_owned(),
    }
}

/// The least and the greatest that a value ever is, as they would be typed.
fn extremes(value: &Value) -> Vec<String> {
    match value {
        Value::Constant(text) => vec![text.clone()],
        Value::Ramp(from, to) => vec![from.to_string(), to.to_string()],
        Value::Sine(Sine { base, amplitude, .. }) => {
            let at = |millionths| Quantity { millionths, unit: base.unit.clone() }.to_string();
            vec![at(base.millionths - amplitude.millionths), at(base.millionths + amplitude.millionths)]
        }
    }
}

fn segments(entries: &[(&Entry, &Value)]) -> Vec<Segment> {
    let segment = |(entry, value): &(&Entry, &Value)| {
        let lasts = |from: Duration| match entry.until {
            Until::Then(to) => whole_nanos(to.saturating_sub(from)),
            Until::Later | Until::Open => u64::MAX,
        };
        let shape = match value {
            Value::Constant(text) => Shape::Constant(text.clone()),
            Value::Ramp(from, to) => {
                Shape::Ramp { from: from.millionths, to: to.millionths, takes: lasts(entry.from) }
            }
            Value::Sine(Sine { base, amplitude, falls_first, period }) => Shape::Wave {
                base: base.millionths,
                amplitude: if *falls_first { -amplitude.millionths } else { amplitude.millionths },
                period: whole_nanos(*period),
                lasts: lasts(entry.from),
            },
        };
        Segment { from: whole_nanos(entry.from), shape }
    };
    entries.iter().map(segment).collect()
}
