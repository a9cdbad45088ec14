//! Schedule applied to a stack of policies: the timeline of every figure that changes during the run.

use std::collections::{BTreeMap, BTreeSet};

use vocabulary::whole_nanos;

use super::entry::{Action, Entry, Target};
use super::quantity::Quantity;
use super::trajectory::{Notation, Segment, Trajectory};
use super::value::{Sine, Value};
use crate::{MAX_SLOTS, Policies, Schedule, ScheduleError};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Courses {
    pub(crate) slots: Option<Trajectory>,
    pub(super) parameters: Vec<ParameterTrajectory>,
    /// Outages in order of their start, each as start and end in nanoseconds since the run began.
    pub(super) down: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParameterTrajectory {
    pub(super) stage: usize,
    pub(super) key: String,
    pub(super) course: Trajectory,
}

impl Schedule {
    pub(crate) fn courses(&self, policies: &Policies) -> Result<Courses, ScheduleError> {
        let mut courses = Courses { down: self.down(), ..Courses::default() };
        let mut by_target: BTreeMap<&Target, Vec<(&Entry, &Value)>> = BTreeMap::new();
        for entry in &self.0 {
            if let Action::Set(target, value) = &entry.action {
                by_target.entry(target).or_default().push((entry, value));
            }
        }
        let mut settings = Vec::new();
        for (target, entries) in by_target {
            match target {
                Target::MaxBusy => courses.slots = Some(slots(policies, &entries)?),
                Target::Parameter { stage, key } => {
                    courses.parameters.push(parameter(policies, (stage, key), &entries, &mut settings)?);
                }
            }
        }
        replay(policies, settings)?;
        Ok(courses)
    }
}

impl Courses {
    pub(crate) fn changed(&self) -> BTreeSet<usize> {
        self.parameters.iter().map(|parameter| parameter.stage).collect()
    }

    /// Returns the value of a policy's parameter at `elapsed` after the run began. `None` if the schedule has not set this parameter by
    /// then.
    pub(crate) fn text(&self, stage: usize, key: &str, elapsed: u64) -> Option<String> {
        let is_it = |parameter: &&ParameterTrajectory| parameter.stage == stage && parameter.key == key;
        self.parameters.iter().find(is_it)?.course.text(elapsed)
    }

    pub(super) fn texts(&self, stage: usize, elapsed: u64) -> Vec<(&str, String)> {
        let of_stage = self.parameters.iter().filter(|parameter| parameter.stage == stage);
        of_stage.filter_map(|parameter| Some((&*parameter.key, parameter.course.text(elapsed)?))).collect()
    }

    pub(crate) fn goes_down(&self) -> bool {
        !self.down.is_empty()
    }

    pub(super) fn is_down(&self, elapsed: u64) -> bool {
        let begun = self.down.partition_point(|(from, _)| *from <= elapsed);
        // All outages that have begun are checked, because an early outage without an end may outlast a later outage.
        self.down[..begun].iter().any(|(_, to)| elapsed < *to)
    }
}

fn slots(policies: &Policies, entries: &[(&Entry, &Value)]) -> Result<Trajectory, ScheduleError> {
    for (entry, value) in entries {
        if !policies.has_cap() {
            let why = format!(
                "`{policies}` does not use the server's own cap (`max-busy`); name a policy's parameter \
                 instead, such as `concurrency.cap`"
            );
            return Err(ScheduleError::new(entry, why));
        }
        for extreme in extremes(value) {
            let slots = extreme.parse().ok().filter(|slots| (1..=MAX_SLOTS).contains(slots));
            if slots.is_none() {
                let why = format!("`{extreme}` is not a number of slots from 1 to {MAX_SLOTS}");
                return Err(ScheduleError::new(entry, why));
            }
        }
    }
    let notation = Notation { unit: String::new(), is_whole: true };
    Ok(Trajectory { segments: segments(entries), notation })
}

struct Setting<'a> {
    entry: &'a Entry,
    stage: usize,
    key: &'a str,
    /// Values that the setting assigns one after another. For a ramp or a wave, the list contains only the extreme values.
    texts: Vec<String>,
}

/// Checks scheduled settings by applying them in order of time. Each value must fit the other values that are set at its time, because the
/// run would ignore a value that does not fit. Settings of the same instant are applied together.
fn replay(policies: &Policies, mut settings: Vec<Setting<'_>>) -> Result<(), ScheduleError> {
    settings.sort_by_key(|setting| (setting.entry.from, setting.stage));
    let mut policies = policies.clone();
    for together in
        settings.chunk_by(|one, other| (one.entry.from, one.stage) == (other.entry.from, other.stage))
    {
        let steps = together.iter().map(|setting| setting.texts.len()).max().unwrap_or(0);
        for step in 0..steps {
            let set = together.iter().map(|setting| {
                let text = setting.texts.get(step).or(setting.texts.last());
                (setting.key, text.cloned().unwrap_or_default())
            });
            let changed: Vec<_> = set.collect();
            policies = policies.with_all(together[0].stage, &changed).map_err(|error| {
                // The error names the first setting that is invalid on its own. If only the combination of the settings is invalid, the
                // error names the last setting.
                let alone =
                    |index: &usize| policies.with_all(together[0].stage, &changed[*index..=*index]).is_err();
                let index = (0..together.len()).find(alone).unwrap_or(together.len() - 1);
                ScheduleError::new(together[index].entry, error.to_string())
            })?;
        }
    }
    Ok(())
}

fn parameter<'a>(
    policies: &Policies,
    (stage, key): (&str, &'a str),
    entries: &[(&'a Entry, &Value)],
    settings: &mut Vec<Setting<'a>>,
) -> Result<ParameterTrajectory, ScheduleError> {
    let refuse = |why: String| {
        let entry = entries.first().map(|(entry, _)| entry.to_string()).unwrap_or_default();
        ScheduleError::new(entry, why)
    };
    let index = policies.index_of(stage).map_err(refuse)?;
    policies.check_changeable(index, key).map_err(refuse)?;
    let accepts = |text: &str| policies.with(index, key, text).is_ok();
    let mut notation: Option<Notation> = None;
    for (entry, value) in entries {
        let mut set = |texts| settings.push(Setting { entry, stage: index, key, texts });
        let number = match value {
            Value::Constant(text) => {
                set(vec![in_unit(text, accepts)]);
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
        let own_unit = if number.unit.is_empty() { unit } else { "" };
        set(extremes(value).iter().map(|extreme| format!("{extreme}{own_unit}")).collect());
        let fraction = Quantity { millionths: number.millionths + 1, unit: unit.to_owned() };
        let own = Notation { unit: unit.to_owned(), is_whole: !accepts(&fraction.to_string()) };
        if notation.as_ref().is_some_and(|before| *before != own) {
            return Err(ScheduleError::new(
                entry,
                "its unit differs from that of an earlier entry; use the same unit in all entries",
            ));
        }
        notation = Some(own);
    }
    let mut segments = segments(entries);
    for segment in &mut segments {
        if let Value::Constant(text) = &mut segment.value {
            *text = in_unit(text, accepts);
        }
    }
    let course = Trajectory { segments, notation: notation.unwrap_or_default() };
    Ok(ParameterTrajectory { stage: index, key: key.to_owned(), course })
}

/// Unit that is assumed for a rate if the user gave no unit.
const PER_SECOND: &str = "/s";

fn unit_of(number: &Quantity, accepts: impl Fn(&str) -> bool) -> &str {
    let is_rate = number.unit.is_empty() && !accepts(&number.to_string());
    if is_rate && accepts(&format!("{number}{PER_SECOND}")) { PER_SECOND } else { &number.unit }
}

fn in_unit(text: &str, accepts: impl Fn(&str) -> bool) -> String {
    match Quantity::read(text) {
        Some(number) if number.unit.is_empty() => format!("{text}{}", unit_of(&number, accepts)),
        _ => text.to_owned(),
    }
}

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
    let segment = |(entry, value): &(&Entry, &Value)| Segment {
        from: whole_nanos(entry.from),
        lasts: entry.end().map_or(u64::MAX, |end| whole_nanos(end.saturating_sub(entry.from))),
        value: (*value).clone(),
    };
    entries.iter().map(segment).collect()
}
