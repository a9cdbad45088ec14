//! Parameters of a strategy, as the writers of settings read them. If a writer does not read a parameter, the parameter is reported as not
//! expressible, unless it has its default value.

use std::fmt::Display;
use std::time::Duration;

use tailback::{Entry, PartKind, Preset, StrategySpec, find};
use vocabulary::{ParameterInfo, duration_text};

use crate::retried::Retried;

/// Name of the only retry policy that writers of settings handle. Retry policies that are short forms of `backoff` are converted to
/// `backoff`.
pub(crate) const BACKOFF: &str = "backoff";

/// Name under which the parameters common to all parts are listed, as if they belonged to a part.
pub(crate) const COMMON: &str = "";

/// Name of the retry policy that gives up at once.
const NEVER: &str = "none";

/// Longest possible delay. A cap that is not below this delay has no effect, so it is treated like the cap `none`.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);

const OF_ONE_ATTEMPT: [&str; 4] = ["max-attempts", "max-time", "over-time", "attempt-timeout"];

/// Strategy with the settings that a writer has derived from it so far.
///
/// Methods name a parameter as `PART.PARAMETER`, such as `backoff.base`. A parameter common to all parts has no prefix.
#[derive(Debug)]
pub(crate) struct Described {
    pub spec: StrategySpec,
    pub preset: Option<&'static Preset>,
    pub parts: Vec<Part>,
    /// Settings with their values, in the order in which they are written.
    pub lines: Vec<(&'static str, String)>,
    besides: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Part {
    name: &'static str,
    values: Vec<Value>,
    /// True if the printed settings express this part of the strategy.
    is_known: bool,
}

#[derive(Clone, Debug, Default)]
struct Value {
    key: &'static str,
    text: String,
    default: String,
    /// Original text of the parameter from which the value was converted; `None` without a conversion.
    typed: Option<String>,
    is_read: bool,
    notes: Vec<String>,
}

impl Value {
    fn shown(&self) -> String {
        self.typed.clone().unwrap_or_else(|| format!("{}={}", self.key, self.text))
    }
}

impl Described {
    /// Describes a strategy that has one layer. If the strategy has several layers, only the field [`spec`](Self::spec) of the result is
    /// useful.
    pub(crate) fn new(spec: StrategySpec, preset: Option<&'static Preset>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for (name, parameters) in spec.describe() {
            let values = parameters.into_iter().zip(defaults(name)).map(|(used, default)| Value {
                key: used.key,
                text: used.value,
                default: default.value,
                ..Value::default()
            });
            let mut part = Part { name, values: values.collect(), is_known: name == COMMON };
            if name == COMMON && spec.names().any(|name| name == NEVER) {
                let limit = part.values.iter_mut().filter(|value| value.key == "max-attempts");
                limit.for_each(|value| (value.text, value.typed) = ("1".to_owned(), Some(NEVER.to_owned())));
            }
            parts.push(if is_a(&part, PartKind::RetryPolicy) { as_backoff(part) } else { part });
        }
        if !parts.iter().any(|part| part.name == BACKOFF) {
            parts.insert(0, as_backoff(Part { name: "immediate", values: Vec::new(), is_known: true }));
        }
        Self { spec, preset, parts, lines: Vec::new(), besides: Vec::new() }
    }

    /// Marks a part of the strategy as expressed. Returns false if the strategy lacks the part, or if the part was already marked.
    pub(crate) fn has(&mut self, part: &str) -> bool {
        let found = self.parts.iter_mut().find(|there| there.name == part && !there.is_known);
        found.map(|part| part.is_known = true).is_some()
    }

    pub(crate) fn retries(&self) -> bool {
        self.peek("max-attempts") != "1"
    }

    /// Returns `max-attempts` as given in the strategy's text. A limit above 1 does not imply retries, because a strategy without retries
    /// can still send copies. A copy is a parallel attempt of the same op.
    pub(crate) fn most_attempts(&self) -> u32 {
        let common = self.spec.describe().pop().map(|(_, parameters)| parameters);
        let limit = common.into_iter().flatten().find(|parameter| parameter.key == "max-attempts");
        limit.and_then(|limit| limit.value.parse().ok()).unwrap_or(u32::MAX)
    }

    pub(crate) fn read(&mut self, name: &str) -> String {
        self.value(name).map_or_else(String::new, |value| {
            value.is_read = true;
            value.text.clone()
        })
    }

    /// Reads a parameter as a duration. Returns 0 for the value `none`.
    pub(crate) fn duration(&mut self, name: &str) -> Duration {
        duration_text::parse(&self.read(name)).unwrap_or_default()
    }

    pub(crate) fn number(&mut self, name: &str) -> f64 {
        self.read(name).parse().unwrap_or(0.0)
    }

    /// Reads a parameter as a whole number. Returns `None` for the value `unlimited`.
    pub(crate) fn count(&mut self, name: &str) -> Option<u32> {
        self.read(name).parse().ok()
    }

    pub(crate) fn retried(&mut self) -> Retried {
        Retried::read(&self.read("retry-on"), &self.read("throttle-on"))
    }

    pub(crate) fn cap(&mut self) -> Option<Duration> {
        let base = self.duration("backoff.base");
        let cap = self.read("backoff.cap");
        match cap.strip_suffix('x').and_then(|count| count.parse::<f64>().ok()) {
            Some(count) => Duration::try_from_secs_f64(base.as_secs_f64() * count).ok(),
            None => duration_text::parse(&cap).ok(),
        }
        .filter(|cap| *cap < LONGEST)
    }

    /// Reads a parameter as a time limit. Returns `None` for 0, which means unlimited.
    pub(crate) fn limit(&mut self, name: &str) -> Option<Duration> {
        Some(self.duration(name)).filter(|most| !most.is_zero())
    }

    /// Adds a setting to [`lines`](Self::lines).
    pub(crate) fn set(&mut self, key: &'static str, value: impl Display) {
        self.lines.push((key, value.to_string()));
    }

    /// Reads a parameter that the library fixes, so that its users cannot set it. Adds the note `why` if the value is not `always`.
    pub(crate) fn fixed(&mut self, name: &str, always: &str, why: &str) {
        if self.read(name) != always {
            self.note(name, why);
        }
    }

    pub(crate) fn note(&mut self, name: &str, why: impl Into<String>) {
        if let Some(value) = self.value(name) {
            value.is_read = true;
            value.notes.push(why.into());
        }
    }

    pub(crate) fn besides(&mut self, what: &str) {
        self.besides.push(what.to_owned());
    }

    /// Adds the note `why` if delays are neither exact nor cut to milliseconds.
    pub(crate) fn cuts_to_milliseconds(&mut self, why: &str) {
        if self.read("backoff.grain") != "none" {
            self.fixed("backoff.grain", "cut-ms", why);
        }
    }

    /// Returns the longest advised delay that is followed.
    pub(crate) fn advice_limit(&mut self) -> Duration {
        duration_text::parse(&self.read("advice-limit")).unwrap_or(Duration::from_hours(24 * 365))
    }

    /// Marks the parameters whose names start with `prefix` as expressed.
    pub(crate) fn settle(&mut self, prefix: &str) {
        let (part, prefix) = split(prefix);
        let parts = self.parts.iter_mut().filter(|there| there.name == part);
        for value in parts.flat_map(|part| &mut part.values) {
            value.is_read |= value.key.starts_with(prefix);
        }
    }

    pub(crate) fn lost_limiters(&self) -> Vec<String> {
        let lost = self.parts.iter().filter(|part| !part.is_known && is_a(part, PartKind::Limiter));
        lost.map(|part| part.name.to_owned()).collect()
    }

    /// Lists the parameters that the settings do not express, in the order of the strategy's text, and then the notes about the library. If
    /// the strategy neither retries nor hedges, parameters of retries are not listed.
    pub(crate) fn left_out(&self, library: &str) -> Vec<String> {
        let mut left_out = Vec::new();
        // A hedged op can have several attempts even without retries, unless `max-attempts` is 1.
        let is_hedging = |part: &Part| part.is_known && is_a(part, PartKind::Hedging);
        let hedges = self.most_attempts() > 1 && self.parts.iter().any(is_hedging);
        let is_over = !hedges && !self.retries();
        for part in &self.parts {
            if !part.is_known && part.name != BACKOFF {
                let values: Vec<String> = part.values.iter().map(Value::shown).collect();
                let colon = if values.is_empty() { "" } else { ":" };
                let shown = format!("{}{colon}{}", part.name, values.join(","));
                left_out.push(format!("`{shown}`: {library} has no equivalent of this part"));
                continue;
            }
            for value in part.values.iter().filter(|value| !is_over || OF_ONE_ATTEMPT.contains(&value.key)) {
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

    /// Returns the names and values of the parameters of a part, in the syntax of the command line.
    pub(crate) fn values(&self, part: &str) -> Vec<(String, String)> {
        let parts = self.parts.iter().filter(|there| there.name == part).take(1);
        let values = parts.flat_map(|part| &part.values);
        values.map(|value| (format!("{part}.{}", value.key), value.text.clone())).collect()
    }

    /// Returns a parameter's value in the syntax of the command line, without marking the parameter as expressed. The text is empty if the
    /// parameter does not exist.
    pub(crate) fn peek(&self, name: &str) -> &str {
        let (part, key) = split(name);
        let part = self.parts.iter().find(|there| there.name == part);
        let value = part.and_then(|part| part.values.iter().find(|value| value.key == key));
        value.map_or("", |value| &value.text)
    }

    fn value(&mut self, name: &str) -> Option<&mut Value> {
        let (part, key) = split(name);
        let part = self.parts.iter_mut().find(|there| there.name == part)?;
        part.values.iter_mut().find(|value| value.key == key)
    }
}

/// Splits the name of a parameter into its part and its key.
fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((COMMON, name))
}

/// Returns the parameters of a part, or those common to all parts, with their defaults.
pub(crate) fn defaults(part: &str) -> Vec<ParameterInfo> {
    find(part).map_or_else(StrategySpec::common_parameters, Entry::parameters)
}

fn is_a(part: &Part, kind: PartKind) -> bool {
    find(part.name).is_some_and(|entry| entry.kind == kind)
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
fn as_backoff(mut part: Part) -> Part {
    part.values.iter_mut().filter(|value| value.key == "spread").for_each(around);
    let short = SHORT_FORMS.iter().find(|(name, _)| *name == part.name);
    let (Some((_, sets)), Some(backoff)) = (short, find(BACKOFF)) else { return part };
    let own = |key: &str| part.values.iter().find(|value| value.key == key);
    let parameters = backoff.parameters().into_iter();
    let mut values: Vec<Value> = parameters
        .map(|parameter| Value {
            key: parameter.key,
            text: own(parameter.key).map_or(&parameter.value, |own| &own.text).clone(),
            default: parameter.value,
            ..Value::default()
        })
        .collect();
    let mut set = |key: &str, value: &str, typed: &str| {
        if let Some(there) = values.iter_mut().find(|there| there.key == key) {
            value.clone_into(&mut there.text);
            there.typed = Some(typed.to_owned());
        }
    };
    for (key, value) in *sets {
        set(key, value, part.name);
    }
    if let Some(delay) = own("delay") {
        set("base", &delay.text, &delay.shown());
    }
    if let Some(jitter) = own("jitter").filter(|jitter| jitter.text != "0") {
        set("spread", &format!("around|{}", jitter.text), &jitter.shown());
    }
    if let (Some(max), Some(min)) = (own("max"), own("min")) {
        set("base", &max.text, &max.shown());
        set("spread", &format!("from|{}", min.text), part.name);
        // `min` becomes 0, because `base` and `spread` already contain the maximum and the minimum.
        set("min", "0s", part.name);
    }
    Part { name: BACKOFF, values, is_known: true }
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

    fn read(text: &str, keys: [&str; 4]) -> String {
        let described = Described::new(text.parse::<StrategySpec>().unwrap(), None);
        keys.map(|key| described.peek(&format!("backoff.{key}"))).join(" ")
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
