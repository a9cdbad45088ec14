//! Configured policy of a server. Most policies are stages of the policy stack, which only admit or reject requests. The last policy of the
//! stack may instead serve the requests.

use std::fmt;
use std::str::FromStr;

use vocabulary::{OptionsError, ParameterError, ParameterInfo, WallTime, did_you_mean, split_options};

use crate::policies::Missing;
use crate::policies::{Capacity, Common, Configured, Meaningless, PolicyConfig, Stage};
use crate::{POLICIES, PolicyEntry, quoted};

/// A policy, written `name` or `name:key=value,key=value`. In a stack, a label may precede it: `primary=name:…`.
#[derive(Clone, Debug)]
pub struct Policy {
    label: Option<String>,
    entry: &'static PolicyEntry,
    configured: Configured,
    pub(crate) common: Common,
    /// Common parameters, which every policy accepts. Only parameters whose values differ from their defaults are listed.
    given: Vec<ParameterInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    #[error("unknown policy `{name}`{suggestion}; the policies are {}", quoted(names()))]
    Unknown { name: String, suggestion: String },
    #[error("policy `{policy}` has no parameter `{key}`{suggestion}; its parameters are {accepted}")]
    Parameter { policy: &'static str, key: String, suggestion: String, accepted: String },
    #[error("policy `{policy}` sets `{key}` twice; keep one of them")]
    Twice { policy: &'static str, key: &'static str },
    #[error("policy `{policy}`: {source}")]
    Value { policy: &'static str, source: ParameterError },
    #[error("policy `{policy}`: {why}")]
    Combination { policy: &'static str, why: String },
    #[error("{0}")]
    Stack(String),
}

impl Policy {
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the parameters that this kind of policy declares, without the common parameters that every policy accepts.
    pub fn parameters(&self) -> &[ParameterInfo] {
        &self.configured.parameters
    }

    /// Returns all parameters of the policy with their values. First come the parameters of its kind of policy, then the parameters common
    /// to all kinds.
    pub fn all_parameters(&self) -> Vec<ParameterInfo> {
        self.parameters().iter().cloned().chain(self.common.all()).collect()
    }

    pub(crate) fn with(&self, changed: &[(impl AsRef<str>, impl AsRef<str>)]) -> Result<Self, PolicyError> {
        let own = self.parameters().iter().chain(&self.given);
        let mut options: Vec<(&str, &str)> = own.map(|info| (info.key, &*info.value)).collect();
        for (key, value) in changed {
            options.retain(|(before, _)| *before != key.as_ref());
            options.push((key.as_ref(), value.as_ref()));
        }
        let options: Vec<String> = options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let label = self.label().map_or_else(String::new, |label| format!("{label}="));
        format!("{label}{}:{}", self.name(), options.join(",")).parse()
    }

    pub(crate) fn config(&self) -> &dyn PolicyConfig {
        &*self.configured.config
    }

    pub fn counts_by_key(&self) -> bool {
        self.common.key != Common::default().key
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.given.is_empty()
    }

    pub(crate) fn is_stage(&self) -> bool {
        self.config().gate(&self.common).is_some()
    }

    pub(crate) fn stage(&self, anchor: WallTime) -> Option<Stage> {
        let common = Common { anchor, ..self.common.clone() };
        let gate = self.config().gate(&common)?;
        Some(Stage::new(gate, common))
    }

    /// Returns the maximum number of requests that the policy lets be in service at the same time, if the server draws their service times.
    /// `Slots` means the server's own cap (`max_busy` or `caps`), which can be changed during a run only if a policy uses it.
    pub(crate) fn capacity(&self) -> Capacity {
        self.stage(WallTime::VIRTUAL_START).map_or(Capacity::Unbounded, |stage| stage.gate.capacity())
    }

    pub(crate) fn check_changeable(&self, key: &str) -> Result<(), String> {
        let name = self.name();
        if !self.is_stage() {
            return Err(format!(
                "policy `{name}` serves requests itself, so its parameters cannot change during a run"
            ));
        }
        if self.parameters().iter().any(|parameter| parameter.key == key) {
            return Ok(());
        }
        let own = || self.parameters().iter().map(|parameter| parameter.key);
        let of_its_own = if self.parameters().is_empty() {
            format!("`{name}` has no parameters of its own")
        } else {
            format!("the parameters that can change are {}", quoted(own()))
        };
        if Common::keys().any(|common| common == key) {
            return Err(format!("`{key}` cannot change during a run; {of_its_own}"));
        }
        Err(format!("policy `{name}` has no parameter `{key}`{}; {of_its_own}", did_you_mean(key, own())))
    }

    /// Whether this policy and `other` are of the same kind and differ only in the values of that kind's parameters. If so, this policy can
    /// continue with the state of `other`.
    pub(crate) fn is_kind_of(&self, other: &Self) -> bool {
        let is_same = self.name() == other.name() && self.label == other.label && self.given == other.given;
        is_same && (self.is_stage() || self.parameters() == other.parameters())
    }

    fn check(&self) -> Result<(), PolicyError> {
        let refuse = |why: String| PolicyError::Combination { policy: self.entry.name, why };
        let Some(stage) = self.stage(WallTime::VIRTUAL_START) else {
            return match self.given.first() {
                Some(parameter) => Err(refuse(format!(
                    "it serves requests itself and has no parameter `{}`; set it on a policy before it",
                    parameter.key
                ))),
                None => Ok(()),
            };
        };
        if let Some(Meaningless { keys, why }) = stage.gate.meaningless()
            && let Some(parameter) = self.given.iter().find(|parameter| keys.contains(&parameter.key))
        {
            return Err(refuse(format!("{why}, so `{}` has no effect; leave it out", parameter.key)));
        }
        match self.common.key.known_of_all().filter(|_| self.common.missing == Missing::Unlimited) {
            Some(known) => Err(refuse(format!(
                "every request has the key `{known}`, so `missing=unlimited` has no effect; leave it out, or let \
                 `key` include a header without a fallback, such as `key=header:authorization`"
            ))),
            None => Ok(()),
        }
    }
}

/// Policies are equal if their printed forms are equal.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
            && self.label == other.label
            && self.parameters() == other.parameters()
            && self.given == other.given
    }
}

impl Default for Policy {
    fn default() -> Self {
        const FIRST: &PolicyEntry = &POLICIES[0];
        let configured = (FIRST.default)();
        Self { label: None, entry: FIRST, configured, common: Common::default(), given: Vec::new() }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    POLICIES.iter().map(|entry| entry.name)
}

impl PolicyError {
    fn twice(policy: &'static str, key: &str) -> Self {
        let key = Common::keys().find(|known| *known == key).unwrap_or_default();
        Self::Twice { policy, key }
    }

    fn options(entry: &PolicyEntry, error: OptionsError) -> Self {
        let policy = entry.name;
        match error {
            OptionsError::Unknown { key, known, .. } => {
                let is_stage = (entry.default)().config.gate(&Common::default()).is_some();
                let common = Common::keys().filter(|_| is_stage);
                let joint = if is_stage && !known.is_empty() { "; and, as in every policy, " } else { "" };
                Self::Parameter {
                    policy,
                    suggestion: did_you_mean(&key, known.iter().copied().chain(common.clone())),
                    key,
                    accepted: format!("{}{joint}{}", quoted(known), quoted(common)),
                }
            }
            OptionsError::Twice { key } => Self::Twice { policy, key },
            OptionsError::Value(source) => Self::Value { policy, source },
            OptionsError::Combination(why) => Self::Combination { policy, why },
        }
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, options) = split_options(text);
        let (label, name) = match name.split_once('=') {
            Some((label, name)) => (Some(label_of(label.trim())?), name.trim()),
            None => (None, name),
        };
        let entry = POLICIES.iter().find(|entry| entry.name == name).ok_or_else(|| PolicyError::Unknown {
            name: name.to_owned(),
            suggestion: did_you_mean(name, names()),
        })?;
        let (mut common, mut own, mut seen) = (Common::default(), Vec::new(), Vec::new());
        let refuse = |error| PolicyError::options(entry, error);
        for (key, value) in options {
            let value = value.unwrap_or_default();
            match common.set(key, value) {
                Some(_) if seen.contains(&key) => return Err(PolicyError::twice(entry.name, key)),
                Some(set) => set.map_err(refuse)?,
                None => own.push((key.to_owned(), value.to_owned())),
            }
            seen.push(key);
        }
        let configured = (entry.configure)(&own).map_err(refuse)?;
        let policy = Self { label, entry, configured, given: common.given(), common };
        policy.check()?;
        Ok(policy)
    }
}

fn label_of(text: &str) -> Result<String, PolicyError> {
    if is_name(text, 40) {
        return Ok(text.to_owned());
    }
    Err(PolicyError::Stack(format!(
        "`{text}` is not a valid name for a policy; use up to 40 lower-case letters, digits, `-` and `_`, \
         such as `primary=fixed-window`"
    )))
}

/// Whether `text` has at most `most` lower-case letters, digits, `-` and `_`, and begins with a letter.
pub(crate) fn is_name(text: &str, most: usize) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    text.len() <= most
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(is_of_name)
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{label}=")?;
        }
        f.write_str(self.name())?;
        for (index, parameter) in self.parameters().iter().chain(&self.given).enumerate() {
            let joint = if index == 0 { ':' } else { ',' };
            write!(f, "{joint}{}={}", parameter.key, parameter.value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_and_written_like_strategies() {
        assert_eq!(Policy::default().to_string(), "concurrency-cap");
        for name in names() {
            let policy: Policy = name.parse().unwrap();
            assert_eq!(policy.name(), name);
            assert_eq!(policy.to_string().parse::<Policy>().unwrap(), policy);
        }
        let written = "overwhelmed-queue:tick=10ms,capacity=6,service=5,reject=1,limit=25,subset=random";
        assert_eq!(
            "overwhelmed-queue:capacity=6, subset=random".parse::<Policy>().unwrap().to_string(),
            written
        );
    }

    #[test]
    fn policies_with_equal_settings_are_equal() {
        let read = |text: &str| text.parse::<Policy>().unwrap();
        assert_eq!(read("overwhelmed-queue"), read("overwhelmed-queue:capacity=5"));
        assert_ne!(read("overwhelmed-queue"), read("overwhelmed-queue:capacity=6"));
        assert_ne!(read("overwhelmed-queue"), read("concurrency-cap"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_are_known() {
        let error = "overwhelmed-que".parse::<Policy>().unwrap_err().to_string();
        let words = "unknown policy `overwhelmed-que` (did you mean `overwhelmed-queue`?); the policies are `concurrency-cap`, `concurrency`, ";
        assert!(error.starts_with(words), "{error}");
        assert!(names().all(|name| error.contains(&format!("`{name}`"))), "{error}");
    }

    #[test]
    fn nonsense_is_refused_with_what_is_accepted() {
        for (text, words) in [
            (
                "overwhelmed-queue:capcity=3",
                "policy `overwhelmed-queue` has no parameter `capcity` (did you mean `capacity`?); its parameters are `tick`, `capacity`, `service`, `reject`, `limit`, `subset`",
            ),
            (
                "overwhelmed-queue:capacity=0",
                "policy `overwhelmed-queue`: `capacity=0` is not accepted; `capacity` takes a whole number from 1 to 1000000",
            ),
            ("overwhelmed-queue:tick=0s", "policy `overwhelmed-queue`: `tick` must be longer than zero"),
            (
                "overwhelmed-queue:tick=1s,tick=2s",
                "policy `overwhelmed-queue` sets `tick` twice; keep one of them",
            ),
            (
                "concurrency-cap:x=1",
                "policy `concurrency-cap` has no parameter `x`; its parameters are `key`, `missing`, `keys`, `cost`, `refund`, `own`, `later`, `charged`",
            ),
            (
                "descriptor-pool:service-rate=0",
                "policy `descriptor-pool`: `service-rate=0` is not accepted; `service-rate` takes a number from 0.000001 to \
                 1000000",
            ),
        ] {
            assert_eq!(text.parse::<Policy>().unwrap_err().to_string(), words, "{text}");
        }
    }
}
