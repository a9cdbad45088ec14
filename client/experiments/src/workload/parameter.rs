//! What the table says of one parameter, and how a value comes from text or from a file.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use loadgen_core::{Group, Mix, RejectedWhen};
use mockserver::count;
use results::Setting;
use toml::Value;
use vocabulary::{Instant, Rate, TimeScale, did_you_mean, duration_text};

use super::lists::{groups, instants};
use super::spec::WorkloadSpec;

/// One parameter of a workload.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// As files have it; the flag has dashes instead of underscores.
    pub key: &'static str,
    /// One-letter flag.
    pub short: Option<char>,
    /// Placeholder of its value in help texts.
    pub placeholder: &'static str,
    /// Description in help texts: a line, and paragraphs for long ones after a blank line. Of a [`Kind::Truth`], that of
    /// `--no-KEY`.
    pub about: &'static str,
    /// Default value, as help texts show it.
    pub default: Option<&'static str>,
    /// Command lines, files, or both.
    pub place: Place,
    /// Parameters that it contradicts, by their keys.
    pub excludes: &'static [&'static str],
    /// What it takes.
    pub kind: Kind,
    /// Whether records have a field for what a run makes of it; else they hold it under its key, as it was typed.
    pub resolved: bool,
}

/// Where a parameter can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On command lines and in files.
    Everywhere,
    /// On command lines only: files say it elsewhere, or not at all.
    CommandLine,
    /// In files only.
    Files,
}

/// The field that a parameter fills.
type Field<T> = fn(&mut WorkloadSpec) -> &mut Option<T>;

/// What a parameter takes, and the field that it fills.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A whole number in a range, its ends included.
    Count {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// Where it goes.
        field: Field<u64>,
    },
    /// The same of a number that needs few bits.
    SmallCount {
        /// The least.
        min: u32,
        /// The most.
        max: u32,
        /// Where it goes.
        field: Field<u32>,
    },
    /// How long, zero included.
    Duration(Field<Duration>),
    /// How long, longer than zero.
    PositiveDuration(Field<Duration>),
    /// How often.
    Rate(Field<Rate>),
    /// How fast time goes.
    TimeScale(Field<TimeScale>),
    /// A flag without a value on command lines; true or false in files.
    Switch(Field<bool>),
    /// True or false.
    Truth(Field<bool>),
    /// One of a few words.
    Words(&'static [Word]),
    /// Kinds of requests.
    Mix(Field<Mix>),
    /// What else is a rejection.
    RejectedWhen(Field<RejectedWhen>),
    /// Groups of ops that are scattered over time.
    Groups(Field<Arc<[Group]>>),
    /// Instants at which ops arrive.
    Instants(Field<Arc<[Instant]>>),
}

/// One of the words that a parameter takes.
#[derive(Clone, Copy)]
pub struct Word {
    /// As it is written.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Chooses it.
    pub choose: fn(&mut WorkloadSpec),
}

impl Parameter {
    /// A parameter that everybody may give and that has no default of its own.
    pub(super) const fn new(
        key: &'static str,
        placeholder: &'static str,
        about: &'static str,
        kind: Kind,
    ) -> Self {
        let (default, place, excludes, resolved) = (None, Place::Everywhere, &[], false);
        Self { key, short: None, placeholder, about, default, place, excludes, kind, resolved }
    }

    /// Adds a one-letter flag.
    pub(super) const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    /// The same with a default.
    pub(super) const fn by_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// The same where only some may give it.
    pub(super) const fn only(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The same where it contradicts others.
    pub(super) const fn excluding(self, excludes: &'static [&'static str]) -> Self {
        Self { excludes, ..self }
    }

    /// The same where records have a field for what a run makes of it.
    pub(super) const fn resolved(self) -> Self {
        Self { resolved: true, ..self }
    }

    /// Its name on command lines, without the dashes before it.
    pub fn flag(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Fills its field from what was typed. A switch takes `true` and `false`.
    ///
    /// # Errors
    /// Says what is accepted, beginning with "it".
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
            Kind::Groups(_) | Kind::Instants(_) => {
                return Err("it is a list, which only files have".to_owned());
            }
        }
        Ok(())
    }

    /// What its field holds, as it would be typed; nothing when it was not said, or is a list, which nobody types.
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
            Kind::Groups(_) | Kind::Instants(_) => None,
        }
    }

    /// What its field holds, as records have it; nothing when it is at its default.
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
            // A list of which one status is no number.
            Err(_) if matches!(self.kind, Kind::RejectedWhen(_)) => Setting::Text(shown),
            Err(_) => Setting::typed(&shown),
        })
    }

    /// Fills its field from the value of a file.
    ///
    /// # Errors
    /// Says what is accepted, with the key in backticks first.
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
            (Kind::Groups(field), value) => *field(spec) = Some(groups(key, value)?),
            (Kind::Instants(field), value) => *field(spec) = Some(instants(key, value)?),
            (_, Value::String(text)) => self.set(spec, text).map_err(|why| format!("`{key}`: {why}"))?,
            _ => return Err(mistyped("text in quotes")),
        }
        Ok(())
    }
}

/// A rate at which ops arrive.
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
    format!("`{text}` is none of {}", listed(words))
}

fn listed(words: &[Word]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.name)).collect();
    match quoted.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    }
}
