//! Parameters of a strategy, as the writers of settings read them. If a writer does not read a parameter, the parameter is reported as not
//! expressible, unless it has its default value.

use std::fmt::Write as _;
use std::time::Duration;

use tailback::{PartKind, Preset, StrategySpec, find};
use vocabulary::duration_text;

pub(crate) use crate::part::BACKOFF;
use crate::part::{Part, Value};
use crate::short_forms::as_backoff;

/// Name under which the parameters common to all parts are listed, as if they belonged to a part.
pub(crate) const COMMON: &str = "";

/// Name of the retry policy that gives up at once.
const NEVER: &str = "none";

/// Longest possible delay. A cap that is not below this delay has no effect, so it is treated like the cap `none`.
const LONGEST: Duration = Duration::from_hours(24);

const OF_ONE_ATTEMPT: [&str; 4] = ["max-attempts", "max-time", "over-time", "attempt-timeout"];

#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) spec: StrategySpec,
    pub(crate) preset: Option<&'static Preset>,
    parts: Vec<Part>,
    besides: Vec<String>,
}

impl Described {
    /// Describes a strategy that has one layer. If the strategy has several layers, only the field [`spec`](Self::spec) of the result is
    /// useful.
    pub(crate) fn new(spec: StrategySpec, preset: Option<&'static Preset>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for (name, parameters) in spec.describe() {
            let (defaults, is_policy) = match find(name) {
                Some(entry) => (entry.parameters(), entry.kind == PartKind::RetryPolicy),
                None => (StrategySpec::common_parameters(), false),
            };
            let values = parameters.iter().zip(&defaults);
            let values =
                values.map(|(used, default)| Value::new(used.key, &used.value, &default.value)).collect();
            let mut part = Part { name: name.to_owned(), values, is_known: name == COMMON };
            if name == COMMON && spec.names().any(|name| name == NEVER) {
                let limit = part.values.iter_mut().filter(|value| value.key == "max-attempts");
                limit.for_each(|value| (value.text, value.typed) = ("1".to_owned(), Some(NEVER.to_owned())));
            }
            parts.push(if is_policy { as_backoff(part) } else { part });
        }
        if !parts.iter().any(|part| part.name == BACKOFF) {
            let immediate = Part { name: "immediate".to_owned(), values: Vec::new(), is_known: true };
            parts.insert(0, as_backoff(immediate));
        }
        Self { spec, preset, parts, besides: Vec::new() }
    }

    /// Marks a part of the strategy as expressed. Returns false if the strategy lacks the part, or if the part was already marked.
    pub(crate) fn has(&mut self, part: &str) -> bool {
        let found = self.parts.iter_mut().find(|there| there.name == part && !there.is_known);
        found.map(|part| part.is_known = true).is_some()
    }

    pub(crate) fn retries(&self) -> bool {
        self.peek(COMMON, "max-attempts") != "1"
    }

    /// Returns `max-attempts` as given in the strategy's text. A limit above 1 does not imply retries, because a strategy without retries
    /// can still send copies. A copy is a parallel attempt of the same op.
    pub(crate) fn most_attempts(&self) -> u32 {
        let described = self.spec.describe();
        let common =
            described.iter().rev().find(|(part, _)| part.is_empty()).map(|(_, parameters)| parameters);
        let limit = common.into_iter().flatten().find(|parameter| parameter.key == "max-attempts");
        limit.and_then(|limit| limit.value.parse().ok()).unwrap_or(u32::MAX)
    }

    pub(crate) fn read(&mut self, part: &str, key: &str) -> String {
        self.value(part, key).map_or_else(String::new, |value| {
            value.is_read = true;
            value.text.clone()
        })
    }

    /// Reads a parameter as a duration. Returns `None` for the value `none`.
    pub(crate) fn duration(&mut self, part: &str, key: &str) -> Option<Duration> {
        duration_text::parse(&self.read(part, key)).ok()
    }

    pub(crate) fn number(&mut self, part: &str, key: &str) -> f64 {
        self.read(part, key).parse().unwrap_or(0.0)
    }

    /// Reads a parameter as a whole number. Returns `None` for the value `unlimited`.
    pub(crate) fn count(&mut self, part: &str, key: &str) -> Option<u32> {
        self.read(part, key).parse().ok()
    }

    pub(crate) fn cap(&mut self) -> Option<Duration> {
        let base = self.duration(BACKOFF, "base").unwrap_or_default();
        let cap = self.read(BACKOFF, "cap");
        match cap.strip_suffix('x').and_then(|count| count.parse::<f64>().ok()) {
            Some(count) => Duration::try_from_secs_f64(base.as_secs_f64() * count).ok(),
            None => duration_text::parse(&cap).ok(),
        }
        .filter(|cap| *cap < LONGEST)
    }

    /// Reads a parameter as a time limit. Returns `None` for 0, which means unlimited.
    pub(crate) fn limit(&mut self, key: &str) -> Option<Duration> {
        self.duration(COMMON, key).filter(|most| !most.is_zero())
    }

    /// Reads a parameter that the library fixes, so that its users cannot set it. Adds the note `why` if the value is not one of the values
    /// in `always`.
    pub(crate) fn fixed(&mut self, part: &str, key: &str, always: &[&str], why: &str) {
        let value = self.read(part, key);
        if !always.contains(&value.as_str()) {
            self.note(part, key, why);
        }
    }

    pub(crate) fn note(&mut self, part: &str, key: &str, why: &str) {
        if let Some(value) = self.value(part, key) {
            value.is_read = true;
            value.notes.push(why.to_owned());
        }
    }

    pub(crate) fn besides(&mut self, what: &str) {
        self.besides.push(what.to_owned());
    }

    /// Marks the parameters of a part whose keys start with `prefix` as expressed.
    pub(crate) fn settle(&mut self, part: &str, prefix: &str) {
        let parts = self.parts.iter_mut().filter(|there| there.name == part);
        for value in parts.flat_map(|part| &mut part.values) {
            value.is_read |= value.key.starts_with(prefix);
        }
    }

    /// Marks all parts and all parameters of the strategy as expressed in the settings of a library.
    pub(crate) fn is_whole(&mut self) {
        for part in &mut self.parts {
            part.is_known = true;
            part.values.iter_mut().for_each(|value| value.is_read = true);
        }
    }

    pub(crate) fn reads_no_advice(&mut self, library: &str) {
        if self.read(COMMON, "retry-after") != "ignore" {
            self.note(
                COMMON,
                "retry-after",
                &format!("{library} ignores advice such as Retry-After and waits for its own backoff"),
            );
        }
        self.settle(COMMON, "advice");
    }

    pub(crate) fn lost_limiters(&self) -> Vec<String> {
        let is_limiter = |part: &&Part| find(&part.name).is_some_and(|entry| entry.kind == PartKind::Limiter);
        self.parts
            .iter()
            .filter(|part| !part.is_known)
            .filter(is_limiter)
            .map(|part| part.name.clone())
            .collect()
    }

    /// Lists the parameters that the settings do not express, in the order of the strategy's text, and then the notes about the library. If
    /// the strategy neither retries nor hedges, parameters of retries are not listed.
    pub(crate) fn left_out(&self, library: &str) -> Vec<String> {
        let mut left_out = Vec::new();
        // A hedged op can have several attempts even without retries, unless `max-attempts` is 1.
        let hedges =
            self.most_attempts() > 1 && self.parts.iter().any(|part| part.is_known && is_hedging(&part.name));
        let is_over = !hedges && !self.retries();
        for part in &self.parts {
            if !part.is_known && part.name != BACKOFF {
                let mut shown = part.name.clone();
                for (index, value) in part.values.iter().enumerate() {
                    let _ = write!(shown, "{}{}", if index == 0 { ":" } else { "," }, value.shown());
                }
                left_out.push(format!("`{shown}`: {library} has no equivalent of this part"));
                continue;
            }
            for value in part.values.iter().filter(|value| !is_over || OF_ONE_ATTEMPT.contains(&&*value.key))
            {
                let unread = !value.is_read && value.text != value.default;
                let generic = unread.then(|| format!("{library} has no equivalent of this parameter"));
                let notes: Vec<&str> = value.notes.iter().chain(&generic).map(String::as_str).collect();
                if !notes.is_empty() {
                    left_out.push(format!("`{}`: {}", value.shown(), notes.join("; ")));
                }
            }
        }
        left_out.extend(self.besides.iter().cloned());
        left_out
    }

    pub(crate) fn values(&self, part: &str) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.parts.iter().filter(move |there| there.name == part).take(1);
        parts.flat_map(|part| &part.values).map(|value| (value.key.as_str(), value.text.as_str()))
    }

    /// Returns a parameter's value in the syntax of the command line, without marking the parameter as expressed. The text is empty if the
    /// parameter does not exist.
    pub(crate) fn peek(&self, part: &str, key: &str) -> &str {
        self.values(part).find(|(there, _)| *there == key).map_or("", |(_, value)| value)
    }

    fn value(&mut self, part: &str, key: &str) -> Option<&mut Value> {
        let part = self.parts.iter_mut().find(|there| there.name == part)?;
        part.values.iter_mut().find(|value| value.key == key)
    }
}

fn is_hedging(part: &str) -> bool {
    find(part).is_some_and(|entry| entry.kind == PartKind::Hedging)
}

/// Converts a share to percent. The result is rounded to six decimals, because binary fractions add noise.
pub(crate) fn percent(share: f64) -> f64 {
    libm::round(share * 1e8) / 1e6
}

pub(crate) fn seconds(duration: Duration) -> String {
    duration.as_secs_f64().to_string()
}
