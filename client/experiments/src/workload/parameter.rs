//! One parameter of a workload, and its conversion from text and from files.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use command_line::count;
use loadgen_core::{ArrivalRate, Group, Mix, RejectedWhen, SuccessStatuses};
use results::Setting;
use serde::Deserialize;
use toml::Value;
use vocabulary::{Instant, TimeScale, did_you_mean, duration_text};

use super::spec::{MAX_BURST, WorkloadSpec};

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
    /// True if results contain the value of this workload parameter under its key, in the form in which the user gave it. Otherwise, results
    /// have a separate field for the value that a run actually uses.
    pub recorded_as_typed: bool,
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
    Rate(Field<ArrivalRate>),
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
        Self {
            key,
            short: None,
            placeholder,
            about,
            default: None,
            place: AllowedIn::Everywhere,
            excludes: &[],
            kind,
            recorded_as_typed: false,
        }
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

    pub(super) const fn recorded_as_typed(self) -> Self {
        Self { recorded_as_typed: true, ..self }
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
            Kind::Rate(field) => *field(spec) = Some(parsed(text)?),
            Kind::TimeScale(field) => *field(spec) = Some(TimeScale::parse(text)?),
            Kind::Switch(field) | Kind::Truth(field) => match text.parse() {
                Ok(truth) => *field(spec) = Some(truth),
                Err(_) => return Err("it must be `true` or `false`".to_owned()),
            },
            Kind::Words(words) => match words.iter().find(|word| word.name == text) {
                Some(word) => (word.choose)(spec),
                None => return Err(format!("`{text}` is not one of {}", listed(words))),
            },
            Kind::Mix(field) => *field(spec) = Some(parsed(text)?),
            Kind::RejectedWhen(field) => *field(spec) = Some(parsed(text)?),
            Kind::Success(field) => *field(spec) = Some(parsed(text)?),
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
            Kind::Count { field, .. } => shown(field, &mut spec),
            Kind::SmallCount { field, .. } => shown(field, &mut spec),
            Kind::Duration(field) | Kind::PositiveDuration(field) => {
                field(&mut spec).map(duration_text::format)
            }
            Kind::Rate(field) => shown(field, &mut spec),
            Kind::TimeScale(field) => shown(field, &mut spec),
            Kind::Switch(field) | Kind::Truth(field) => shown(field, &mut spec),
            Kind::Words(words) => {
                let chosen = |word: &&Word| {
                    let mut with = spec.clone();
                    (word.choose)(&mut with);
                    with == spec
                };
                words.iter().find(chosen).map(|word| word.name.to_owned())
            }
            Kind::Mix(field) => shown(field, &mut spec),
            Kind::RejectedWhen(field) => shown(field, &mut spec),
            Kind::Success(field) => shown(field, &mut spec),
            Kind::Groups(_) | Kind::Instants(_) => None,
        }
    }

    /// Returns the field's value as results contain it. Returns `None` if the field is not set, or if it has the default value.
    pub(super) fn recorded(&self, spec: &WorkloadSpec) -> Option<Setting> {
        let shown = self.show(spec)?;
        let usual = if matches!(self.kind, Kind::Switch(_)) { Some("false") } else { self.default };
        let usual = usual.and_then(|text| {
            let mut by_default = WorkloadSpec::default();
            self.set(&mut by_default, text).ok()?;
            self.show(&by_default)
        });
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
        let mistyped = |takes: &str| Err(format!("`{key}` takes {takes}, not {value}"));
        let mut set = |text: &str| self.set(spec, text).map_err(|why| format!("`{key}`: {why}"));
        match (self.kind, value) {
            (Kind::Count { min, max, field }, Value::Integer(number)) => {
                *field(spec) = Some(within(key, *number, min, max)?);
            }
            (Kind::SmallCount { min, max, field }, Value::Integer(number)) => {
                *field(spec) = Some(within(key, *number, min, max)?);
            }
            (Kind::Count { .. } | Kind::SmallCount { .. }, _) => return mistyped("a whole number"),
            (Kind::Switch(field) | Kind::Truth(field), Value::Boolean(truth)) => *field(spec) = Some(*truth),
            (Kind::Switch(_) | Kind::Truth(_), _) => return mistyped("true or false"),
            (Kind::Words(words), Value::String(text)) => self.set(spec, text).map_err(|_| {
                let suggestion = did_you_mean(text, words.iter().map(|word| word.name));
                format!("`{key}` is \"{text}\"{suggestion}; accepted are {}", listed(words))
            })?,
            (Kind::RejectedWhen(_), Value::Integer(status)) => set(&status.to_string())?,
            (Kind::RejectedWhen(_), Value::Array(list)) if list.iter().all(Value::is_str) => {
                set(&list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"))?;
            }
            (Kind::Groups(field), value) => *field(spec) = Some(groups(key, value)?),
            (Kind::Instants(field), value) => *field(spec) = Some(instants(key, value)?),
            (_, Value::String(text)) => set(text)?,
            _ => return mistyped("text in quotes"),
        }
        Ok(())
    }
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn shown<T: ToString>(field: Field<T>, spec: &mut WorkloadSpec) -> Option<String> {
    field(spec).as_ref().map(T::to_string)
}

fn duration(text: &str) -> Result<Duration, String> {
    duration_text::parse(text).map_err(|error| error.to_string())
}

fn within<N>(key: &str, number: i64, min: N, max: N) -> Result<N, String>
where
    N: Copy + Display + PartialOrd + TryFrom<i64>,
{
    let inside = N::try_from(number).ok().filter(|number| (min..=max).contains(number));
    inside.ok_or_else(|| format!("`{key}` is {number}; it must be from {min} to {max}"))
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
