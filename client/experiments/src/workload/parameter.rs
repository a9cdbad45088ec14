//! One parameter of a workload, and its conversion from text and from files.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use command_line::count;
use loadgen_core::{Group, Mix, RejectedWhen, SuccessStatuses};
use results::Setting;
use serde::Deserialize;
use toml::Value;
use vocabulary::{Instant, Rate, TimeScale, did_you_mean, duration_text};

use super::spec::WorkloadSpec;
use crate::workload::spec::MAX_BURST;

#[derive(Clone, Copy)]
pub struct Parameter {
    /// Name of the parameter in files. The command-line flag has dashes instead of underscores.
    pub key: &'static str,
    pub short: Option<char>,
    pub placeholder: &'static str,
    /// Description of the parameter in help texts. A long description begins with one line, followed by a blank line and paragraphs. For a
    /// [`Kind::Truth`], the description is that of the flag `--no-KEY`.
    pub about: &'static str,
    /// Default value of a workload parameter, in the form that help texts show.
    pub default: Option<&'static str>,
    pub place: AllowedIn,
    pub excludes: &'static [&'static str],
    pub kind: Kind,
    /// True if results have a separate field for the value of this workload parameter that a run actually uses. If there is no such field,
    /// results contain the value under the parameter's key, in the form in which the user gave it.
    pub resolved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedIn {
    Everywhere,
    /// The parameter is accepted only on command lines. In a file, the value is set in another place or not at all.
    CommandLine,
    Files,
}

type Field<T> = fn(&mut WorkloadSpec) -> &mut Option<T>;

/// Type of a parameter's value, together with the field of the workload that the parameter sets.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Parameter whose value is a whole number from `min` to `max`, both included.
    Count {
        min: u64,
        max: u64,
        field: Field<u64>,
    },
    SmallCount {
        min: u32,
        max: u32,
        field: Field<u32>,
    },
    Duration(Field<Duration>),
    PositiveDuration(Field<Duration>),
    Rate(Field<Rate>),
    TimeScale(Field<TimeScale>),
    /// A parameter that is a flag without a value on command lines. In files, its value is `true` or `false`.
    Switch(Field<bool>),
    Truth(Field<bool>),
    Words(&'static [Word]),
    Mix(Field<Mix>),
    RejectedWhen(Field<RejectedWhen>),
    Success(Field<SuccessStatuses>),
    Groups(Field<Arc<[Group]>>),
    Instants(Field<Arc<[Instant]>>),
}

#[derive(Clone, Copy)]
pub struct Word {
    pub name: &'static str,
    pub about: &'static str,
    pub choose: fn(&mut WorkloadSpec),
}

impl Parameter {
    pub(super) const fn new(
        key: &'static str,
        placeholder: &'static str,
        about: &'static str,
        kind: Kind,
    ) -> Self {
        let (default, place, excludes, resolved) = (None, AllowedIn::Everywhere, &[], false);
        Self { key, short: None, placeholder, about, default, place, excludes, kind, resolved }
    }

    pub(super) const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    pub(super) const fn by_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(super) const fn only(self, place: AllowedIn) -> Self {
        Self { place, ..self }
    }

    pub(super) const fn excluding(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    pub(super) const fn resolved(self) -> Self {
        Self { resolved: true, ..self }
    }

    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Sets the parameter's field from the text on a command line. For a switch, the text is `true` or `false`.
    ///
    /// # Errors
    /// The error describes the accepted values, in a text that begins with "it".
    pub fn set(&self, spec: &mut WorkloadSpec, text: &str) -> Result<(), String> {
        match self.kind {
            Kind::Count { min, max, field } => *field(spec) = Some(count(min, max)(text)?),
            Kind::SmallCount { min, max, field } => {
                *field(spec) = Some(count(min.into(), max.into())(text)?);
            }
            Kind::Duration(field) => *field(spec) = Some(duration(text)?),
            Kind::PositiveDuration(field) => match duration(text)? {
                Duration::ZERO => return Err("it must be longer than zero".to_owned()),
                positive => *field(spec) = Some(positive),
            },
            Kind::Rate(field) => *field(spec) = Some(arrival_rate(text)?),
            Kind::TimeScale(field) => *field(spec) = Some(TimeScale::parse(text)?),
            Kind::Switch(field) | Kind::Truth(field) => match text.parse() {
                Ok(truth) => *field(spec) = Some(truth),
                Err(_) => return Err("it must be `true` or `false`".to_owned()),
            },
            Kind::Words(words) => match words.iter().find(|word| word.name == text) {
                Some(word) => (word.choose)(spec),
                None => return Err(no_word(words, text)),
            },
            Kind::Mix(field) => *field(spec) = Some(Mix::from_str(text).map_err(|error| error.to_string())?),
            Kind::RejectedWhen(field) => {
                *field(spec) = Some(RejectedWhen::from_str(text).map_err(|error| error.to_string())?);
            }
            Kind::Success(field) => {
                *field(spec) = Some(SuccessStatuses::from_str(text).map_err(|error| error.to_string())?);
            }
            Kind::Groups(_) | Kind::Instants(_) => {
                return Err("lists are accepted only in files".to_owned());
            }
        }
        Ok(())
    }

    /// Returns the field's value as a command line would contain it. Returns `None` if the field is not set, or if its value is a list that
    /// only a file can contain.
    pub fn show(&self, spec: &WorkloadSpec) -> Option<String> {
        let mut spec = spec.clone();
        match self.kind {
            Kind::Count { field, .. } => field(&mut spec).map(|number| number.to_string()),
            Kind::SmallCount { field, .. } => field(&mut spec).map(|number| number.to_string()),
            Kind::Duration(field) | Kind::PositiveDuration(field) => {
                field(&mut spec).map(duration_text::format)
            }
            Kind::Rate(field) => field(&mut spec).map(|rate| rate.to_string()),
            Kind::TimeScale(field) => field(&mut spec).map(|scale| scale.to_string()),
            Kind::Switch(field) | Kind::Truth(field) => field(&mut spec).map(|truth| truth.to_string()),
            Kind::Words(words) => {
                let chosen = |word: &&Word| {
                    let mut with = spec.clone();
                    (word.choose)(&mut with);
                    with == spec
                };
                words.iter().find(chosen).map(|word| word.name.to_owned())
            }
            Kind::Mix(field) => field(&mut spec).as_ref().map(Mix::to_string),
            Kind::RejectedWhen(field) => field(&mut spec).as_ref().map(RejectedWhen::to_string),
            Kind::Success(field) => field(&mut spec).as_ref().map(SuccessStatuses::to_string),
            Kind::Groups(_) | Kind::Instants(_) => None,
        }
    }

    /// Returns the field's value as results contain it. Returns `None` if the field is not set, or if it has the default value.
    pub(super) fn recorded(&self, spec: &WorkloadSpec) -> Option<Setting> {
        let shown = self.show(spec)?;
        let mut by_default = WorkloadSpec::default();
        let usual = match self.kind {
            Kind::Switch(_) => Some("false"),
            _ => self.default,
        };
        let usual =
            usual.and_then(|text| self.set(&mut by_default, text).ok().and_then(|()| self.show(&by_default)));
        Some(match shown.parse() {
            _ if usual.as_ref() == Some(&shown) => return None,
            Ok(truth) => Setting::Truth(truth),
            // A list of status codes is recorded as text. This includes a list of one status code, although its text is a number.
            Err(_) if matches!(self.kind, Kind::RejectedWhen(_) | Kind::Success(_)) => Setting::Text(shown),
            Err(_) => Setting::typed(&shown),
        })
    }

    /// Sets the parameter's field from a value in a file.
    ///
    /// # Errors
    /// The error describes the accepted values, in a text that begins with the key in backticks.
    pub(super) fn read(&self, spec: &mut WorkloadSpec, value: &Value) -> Result<(), String> {
        let key = self.key;
        let mistyped = |takes: &str| format!("`{key}` takes {takes}, not {value}");
        match (self.kind, value) {
            (Kind::Count { min, max, field }, Value::Integer(number)) => {
                *field(spec) = Some(within(key, *number, min, max)?);
            }
            (Kind::SmallCount { min, max, field }, Value::Integer(number)) => {
                *field(spec) = Some(within(key, *number, min, max)?);
            }
            (Kind::Count { .. } | Kind::SmallCount { .. }, _) => return Err(mistyped("a whole number")),
            (Kind::Switch(_) | Kind::Truth(_), Value::Boolean(truth)) => {
                self.set(spec, &truth.to_string())?;
            }
            (Kind::Switch(_) | Kind::Truth(_), _) => return Err(mistyped("true or false")),
            (Kind::Words(words), Value::String(text)) => {
                let accepted = listed(words);
                self.set(spec, text).map_err(|_| {
                    let suggestion = did_you_mean(text, words.iter().map(|word| word.name));
                    format!("`{key}` is \"{text}\"{suggestion}; accepted are {accepted}")
                })?;
            }
            (Kind::RejectedWhen(_), Value::Integer(status)) => {
                self.set(spec, &status.to_string()).map_err(|why| format!("`{key}`: {why}"))?;
            }
            (Kind::RejectedWhen(_), Value::Array(list)) if list.iter().all(Value::is_str) => {
                let lines: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                self.set(spec, &lines.join("\n")).map_err(|why| format!("`{key}`: {why}"))?;
            }
            (Kind::Groups(field), value) => *field(spec) = Some(groups(key, value)?),
            (Kind::Instants(field), value) => *field(spec) = Some(instants(key, value)?),
            (_, Value::String(text)) => self.set(spec, text).map_err(|why| format!("`{key}`: {why}"))?,
            _ => return Err(mistyped("text in quotes")),
        }
        Ok(())
    }
}

fn arrival_rate(text: &str) -> Result<Rate, String> {
    let rate = Rate::parse(text).filter(|rate| (1e-6..=1e7).contains(&rate.per_s()));
    rate.ok_or_else(|| {
        "it must be a rate above 0, at most 10000000/s, such as `1000/s`, `60/m` or `10/h`".to_owned()
    })
}

fn duration(text: &str) -> Result<Duration, String> {
    duration_text::parse(text).map_err(|error| error.to_string())
}

fn within<N: Copy + Into<u64> + TryFrom<u64>>(key: &str, number: i64, min: N, max: N) -> Result<N, String> {
    let (low, high): (u64, u64) = (min.into(), max.into());
    let inside = u64::try_from(number).ok().filter(|number| (low..=high).contains(number));
    inside
        .and_then(|number| N::try_from(number).ok())
        .ok_or_else(|| format!("`{key}` is {number}; it must be from {low} to {high}"))
}

fn no_word(words: &[Word], text: &str) -> String {
    format!("`{text}` is not one of {}", listed(words))
}

fn listed(words: &[Word]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.name)).collect();
    match quoted.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    }
}

/// Lists of arrivals in workload files. Arrivals are given either as groups that are scattered over time, or as single instants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupSection {
    ops: u64,
    from: String,
    to: String,
    #[serde(default)]
    grid: Option<String>,
}

pub(super) fn groups(key: &str, value: &Value) -> Result<Arc<[Group]>, String> {
    let mut groups = Vec::new();
    let mut ops: u64 = 0;
    for section in written::<Vec<GroupSection>>(key, value)? {
        let (from, to) = (since(key, &section.from)?, since(key, &section.to)?);
        if from >= to {
            let GroupSection { from, to, .. } = section;
            return Err(format!(
                "`{key}`: ops cannot arrive from {from} to {to}; the end must be after the start"
            ));
        }
        let grid = section.grid.as_deref().map_or(Ok(Duration::ZERO), |grid| since(key, grid))?;
        ops = ops.saturating_add(section.ops);
        groups.push(Group { ops: section.ops, from, to, grid });
    }
    if groups.iter().any(|group| group.ops == 0) || !(1..=MAX_BURST).contains(&ops) {
        return Err(format!(
            "`{key}`: each group needs at least one op, and all groups together at most {MAX_BURST}"
        ));
    }
    Ok(groups.into())
}

pub(super) fn instants(key: &str, value: &Value) -> Result<Arc<[Instant]>, String> {
    let mut instants = Vec::new();
    for text in written::<Vec<String>>(key, value)? {
        instants.push(Instant::ORIGIN + since(key, &text)?);
    }
    if instants.is_empty() {
        return Err(format!("`{key}` is an empty list; at least one op is needed"));
    }
    instants.sort();
    Ok(instants.into())
}

fn written<T: for<'de> Deserialize<'de>>(key: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value.clone()).map_err(|error| format!("`{key}`: {}", error.message()))
}

fn since(key: &str, text: &str) -> Result<Duration, String> {
    duration_text::parse(text).map_err(|error| format!("`{key}`: {error}"))
}
