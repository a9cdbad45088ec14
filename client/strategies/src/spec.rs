//! A strategy as it is typed: `name:key=value,key=value+name…`.

use std::fmt;
use std::str::FromStr;

use crate::common::{COMMON, Common, common_info};
use crate::entry::Entry;
use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::Context;
use crate::registry::{STRATEGIES, find};
use crate::strategy::MAX_BUDGETS;
use crate::{Foreknowledge, Method, Strategy};
use vocabulary::{ParameterInfo, duration_text, split_options};

/// A strategy that was read and checked, and can be started any number of times.
#[derive(Clone, Debug)]
pub struct StrategySpec {
    text: String,
    parts: Vec<(&'static Entry, Vec<(String, String)>)>,
    common: Common,
    method: Method,
}

impl StrategySpec {
    /// The parts' names, in the order in which they were typed.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().map(|(entry, _)| entry.name)
    }

    /// Whether it must be given [`Foreknowledge`] to start.
    pub fn needs_foreknowledge(&self) -> bool {
        self.names().any(|name| name == crate::limiters::ORACLE)
    }

    /// Every part with all its parameters as they will be used, the common ones last under an empty name.
    pub fn describe(&self) -> Vec<(&'static str, Vec<ParameterInfo>)> {
        let parts = self.parts.iter().map(|(entry, options)| {
            let parameters = entry.configured(options);
            (entry.name, parameters.expect("the options were checked when the text was read"))
        });
        parts.chain([("", common_info(&mut self.common.clone()))]).collect()
    }

    /// What can be run, but is hardly what was meant, each in a sentence.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let names: Vec<&str> = self.names().collect();
        for (index, name) in names.iter().enumerate() {
            let before = names[..index].iter().filter(|before| *before == name).count();
            if before == 1 {
                doubts.push(format!(
                    "`{self}` has `{name}` more than once: each of them has a state of its own, and all must agree"
                ));
            }
        }
        for (name, parameters) in self.describe() {
            let duration = |key: &str| {
                let parameter = parameters.iter().find(|parameter| parameter.key == key)?;
                Some((duration_text::parse(&parameter.value).ok()?, parameter.value.clone()))
            };
            if let (Some((base, base_text)), Some((cap, cap_text))) = (duration("base"), duration("cap"))
                && base > cap
            {
                doubts.push(format!(
                    "in `{name}` of `{self}`, `cap={cap_text}` is below `base={base_text}`: no delay grows, the cap cuts all of them"
                ));
            }
        }
        doubts
    }

    /// The parameters that every strategy accepts, with their defaults.
    pub fn common_parameters() -> Vec<ParameterInfo> {
        common_info(&mut Common::default())
    }

    /// Lowers the limit of attempts per op (the command line's own flag).
    #[must_use]
    pub fn with_max_attempts(mut self, max_attempts: u32) -> Self {
        self.common.max_attempts = self.common.max_attempts.min(max_attempts);
        self
    }

    /// For a client whose requests are of this method; GET unless told otherwise.
    #[must_use]
    pub const fn with_method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// The same strategy with one parameter of one part set. `None` when it has no such part.
    ///
    /// # Errors
    /// When the part has no such parameter, or the value is out of its range.
    pub fn with(&self, part: &str, key: &str, value: &str) -> Result<Option<Self>, SpecError> {
        if !self.names().any(|name| name == part) {
            return Ok(None);
        }
        let set = |text: &str| {
            let (name, options) = text.split_once(':').unwrap_or((text, ""));
            if name.trim() != part {
                return text.to_owned();
            }
            let is_other = |option: &&str| option.split('=').next().is_none_or(|there| there.trim() != key);
            let others =
                options.split(',').map(str::trim).filter(|option| !option.is_empty()).filter(is_other);
            let own = format!("{key}={value}");
            let options: Vec<&str> = others.chain([own.as_str()]).collect();
            format!("{}:{}", name.trim(), options.join(","))
        };
        let text: Vec<String> = self.text.split('+').map(str::trim).map(set).collect();
        text.join("+").parse().map(Some)
    }

    /// Whether a parameter of a part was typed.
    pub fn sets(&self, part: &str, key: &str) -> bool {
        let is_part = |text: &&str| text.split(':').next().is_some_and(|name| name.trim() == part);
        self.text.split('+').filter(is_part).any(|text| {
            let options = text.split_once(':').map_or("", |(_, options)| options);
            options.split(',').any(|option| option.split('=').next().is_some_and(|there| there.trim() == key))
        })
    }

    /// Starts it. `seed` is the run's; draws are keyed by op, so clients with one seed still differ.
    pub fn build(
        &self,
        seed: u64,
        foreknowledge: Option<Box<dyn Foreknowledge>>,
    ) -> Result<Strategy, SpecError> {
        let Common { max_attempts, retry_after } = self.common;
        let context = Context { seed, method: self.method, foreknowledge };
        Ok(Strategy::new(seed, self.build_parts(context)?, max_attempts, retry_after))
    }

    /// Starts its parts, in the order in which they were typed.
    pub(crate) fn build_parts(&self, mut context: Context) -> Result<Vec<Part>, SpecError> {
        self.parts.iter().map(|(entry, options)| entry.build(options, &mut context)).collect()
    }
}

impl FromStr for StrategySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut common = Common::default();
        let mut parts = Vec::new();
        let mut common_keys = Vec::new();
        for part in text.split('+') {
            parts.push(read_part(part.trim(), &mut common, &mut common_keys)?);
        }
        let count = |kind| parts.iter().filter(|(entry, _)| entry.kind == kind).count();
        if count(PartKind::RetryPolicy) > 1 {
            return Err(SpecError::TwoRetryPolicies { text: text.to_owned() });
        }
        if count(PartKind::Budget) > MAX_BUDGETS {
            return Err(SpecError::TooManyBudgets { text: text.to_owned() });
        }
        for (entry, options) in &parts {
            entry.configured(options)?;
        }
        Ok(Self { text: text.trim().to_owned(), parts, common, method: Method::default() })
    }
}

type ReadPart = (&'static Entry, Vec<(String, String)>);

/// Reads `name:key=value,…`; common parameters go to `common`, the rest is kept for the part. Nothing is given twice, common
/// ones (`common_keys`) in no part.
fn read_part(text: &str, common: &mut Common, common_keys: &mut Vec<String>) -> Result<ReadPart, SpecError> {
    let (name, options) = split_options(text);
    let entry =
        find(name).ok_or_else(|| SpecError::unknown(name, STRATEGIES.iter().map(|entry| entry.name)))?;
    let mut own: Vec<(String, String)> = Vec::new();
    for (key, value) in options {
        let value = value.ok_or_else(|| SpecError::NoValue { part: entry.name, option: key.to_owned() })?;
        if own.iter().map(|(key, _)| key).chain(&*common_keys).any(|there| there == key) {
            return Err(SpecError::Twice { text: text.to_owned(), key: key.to_owned() });
        }
        match COMMON.iter().find(|parameter| parameter.key == key) {
            Some(parameter) => {
                parameter
                    .set(common, value)
                    .map_err(|source| SpecError::Value { part: entry.name, source })?;
                common_keys.push(key.to_owned());
            }
            None => own.push((key.to_owned(), value.to_owned())),
        }
    }
    Ok((entry, own))
}

impl fmt::Display for StrategySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
