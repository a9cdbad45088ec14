//! Parameters of a strategy, as the writers of settings read them. If a writer does not read a parameter, the parameter is reported as not
//! expressible, unless it has its default value.

use std::fmt::Write as _;
use std::time::Duration;

use tailback::{PartKind, Preset, StrategySpec, find};
use vocabulary::duration_text;

use crate::part::{Part, Value};

pub(crate) use crate::part::BACKOFF;

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

/// Short forms of the retry policy `backoff`, by name. Each short form sets the listed parameters of `backoff`. A parameter that the short
/// form and `backoff` have under the same name is copied.
const SHORT_FORMS: &[(&str, &[(&str, &str)])] = &[
    ("immediate", &[("base", "0s"), ("growth", "constant")]),
    ("none", &[("base", "0s"), ("growth", "constant")]),
    ("constant", &[("growth", "constant"), ("cap", "none")]),
    ("linear", &[("growth", "linear")]),
    ("exponential", &[]),
    ("full-jitter", &[("spread", "full")]),
    ("equal-jitter", &[("spread", "equal")]),
    ("decorrelated-jitter", &[("growth", "decorrelated")]),
    ("uniform", &[("growth", "constant"), ("cap", "none")]),
    ("thain", &[("spread", "above|1"), ("cap-applies", "after-spread")]),
];

/// Converts a short form of the retry policy `backoff` to `backoff`. Other policies keep their name, and writers of settings read the
/// parameters of none of them except `backoff`. In every policy, a symmetrical `spread` is converted to `around`.
pub(crate) fn as_backoff(mut part: Part) -> Part {
    part.values.iter_mut().filter(|value| value.key == "spread").for_each(around);
    let short = SHORT_FORMS.iter().find(|(name, _)| *name == part.name);
    let (Some((_, sets)), Some(backoff)) = (short, find(BACKOFF)) else { return part };
    let own = |key: &str| part.values.iter().find(|value| value.key == key);
    let mut values: Vec<Value> = backoff
        .parameters()
        .iter()
        .map(|parameter| {
            let value = own(parameter.key).map_or(&parameter.value, |own| &own.text);
            Value::new(parameter.key, value, &parameter.value)
        })
        .collect();
    let mut set = |key: &str, value: &str, typed: &str| {
        if let Some(there) = values.iter_mut().find(|there| there.key == key) {
            value.clone_into(&mut there.text);
            there.typed = Some(typed.to_owned());
        }
    };
    for (key, value) in *sets {
        set(key, value, &part.name);
    }
    if let Some(delay) = own("delay") {
        set("base", &delay.text, &format!("delay={}", delay.text));
    }
    if let Some(jitter) = own("jitter").filter(|jitter| jitter.text != "0") {
        set("spread", &format!("around|{}", jitter.text), &format!("jitter={}", jitter.text));
    }
    if let (Some(max), Some(min)) = (own("max"), own("min")) {
        set("base", &max.text, &format!("max={}", max.text));
        set("spread", &format!("from|{}", min.text), &part.name);
        // `min` becomes 0, because `base` and `spread` already contain the maximum and the minimum.
        set("min", "0s", &part.name);
    }
    Part { name: BACKOFF.to_owned(), values, is_known: true }
}

/// Converts a symmetric spread of delays such as `between|0.8|1.2` to the form `around|0.2`, for which libraries have a setting.
fn around(spread: &mut Value) {
    let ends = spread.text.strip_prefix("between|").and_then(|ends| ends.split_once('|'));
    let Some((Ok(low), Ok(high))) = ends.map(|(low, high)| (low.parse::<f64>(), high.parse::<f64>())) else {
        return;
    };
    let share = libm::round((1.0 - low) * 1e6) / 1e6;
    if libm::fabs(low + high - 2.0) < 1e-9 && share >= 0.0 {
        spread.typed = Some(spread.shown());
        spread.text = format!("around|{share}");
    }
}

/// Description of an output format for settings, such as the configuration file of a client library.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub what: &'static str,
    /// Names of systems and presets. Their strategies are printed in this format by default.
    pub(crate) used_by: &'static [&'static str],
    /// Alternative strategy whose limits the library can express. It is offered if the library lacks a limiter of the given strategy, and
    /// the strategy would not wait at all without this limiter.
    pub(crate) nearest: &'static str,
    /// Prefix of comments in the format, or `None` if the format has no comments.
    pub comment: Option<&'static str>,
    pub(crate) write: fn(&mut Described) -> String,
}

#[cfg(test)]
mod tests {
    use tailback::{PartKind, STRATEGIES, StrategySpec};

    use super::*;
    use crate::described::Described;

    fn read(text: &str, keys: [&str; 4]) -> String {
        let described = Described::new(text.parse::<StrategySpec>().unwrap(), None);
        keys.map(|key| described.peek(BACKOFF, key)).join(" ")
    }

    #[test]
    fn every_retry_policy_is_read_as_a_backoff() {
        for entry in STRATEGIES.iter().filter(|entry| entry.kind == PartKind::RetryPolicy) {
            assert_ne!(read(entry.name, ["base"; 4]), "   ", "{}", entry.name);
        }
        let keys = ["base", "cap", "growth", "spread"];
        assert_eq!(read("constant:delay=2s", keys), "2s none constant none");
        assert_eq!(read("exponential:jitter=0.5,cap=9s", keys), "50ms 9s exponential around|0.5");
        assert_eq!(read("uniform:min=1s,max=3s", keys), "3s none constant from|1s");
        assert_eq!(read("backoff:spread=between|0.8|1.2", keys), "50ms 30s exponential around|0.2");
        assert_eq!(read("backoff:spread=between|0.8|1.3", keys), "50ms 30s exponential between|0.8|1.3");
        assert_eq!(read("aimd", keys), "0s 30s constant none");
    }
}
