//! The list of parts, and the way from a name to a running one.

use crate::error::SpecError;
use crate::{Budget, Foreknowledge, Limiter, RetryPolicy};
use vocabulary::{Parameter, ParameterInfo};

use crate::backoffs::{
    Constant, DecorrelatedJitter, EqualJitter, Exponential, FullJitter, Immediate, Linear, NoRetry, Thain,
    Uniform,
};
use crate::budgets::{BreakerConfig, RetryBudget};
use crate::limiters::{AimdConfig, Ethernet, FixedWindow, OracleConfig};

/// Every part, in the order help texts and reports list them: retry policies, limiters, budgets.
pub const STRATEGIES: &[Entry] = &[
    Entry::of::<NoRetry>(),
    Entry::of::<Immediate>(),
    Entry::of::<Constant>(),
    Entry::of::<Uniform>(),
    Entry::of::<Linear>(),
    Entry::of::<Exponential>(),
    Entry::of::<FullJitter>(),
    Entry::of::<EqualJitter>(),
    Entry::of::<DecorrelatedJitter>(),
    Entry::of::<Thain>(),
    Entry::of::<FixedWindow>(),
    Entry::of::<AimdConfig>(),
    Entry::of::<Ethernet>(),
    Entry::of::<OracleConfig>(),
    Entry::of::<RetryBudget>(),
    Entry::of::<BreakerConfig>(),
];

/// The part with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    STRATEGIES.iter().find(|entry| entry.name == name)
}

/// A part that can be started by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As typed, kebab-case.
    pub name: &'static str,
    /// Which of the three kinds it is.
    pub kind: PartKind,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its rule, as formulas and words.
    pub rule: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    parameters: fn(&Options) -> Result<Vec<ParameterInfo>, SpecError>,
    build: fn(&Options, &mut Context) -> Result<Part, SpecError>,
}

/// Options as typed: keys and values.
pub(crate) type Options = [(String, String)];

impl Entry {
    const fn of<C: PartConfig>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            summary: C::SUMMARY,
            rule: C::RULE,
            source: C::SOURCE,
            parameters: |options| {
                let mut config = configured::<C>(options)?;
                Ok(C::PARAMETERS
                    .iter()
                    .map(|parameter| ParameterInfo {
                        key: parameter.key,
                        about: parameter.about,
                        value: parameter.show(&mut config),
                        accepted: parameter.accepted(),
                    })
                    .collect())
            },
            build: |options, context| configured::<C>(options)?.build(context),
        }
    }

    /// The parameters with their defaults.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.parameters)(&[]).unwrap_or_default()
    }

    /// The parameters with the given options put in.
    pub(crate) fn configured(&self, options: &Options) -> Result<Vec<ParameterInfo>, SpecError> {
        (self.parameters)(options)
    }

    /// Starts the part with the given options; missing ones keep their default.
    pub(crate) fn build(&self, options: &Options, context: &mut Context) -> Result<Part, SpecError> {
        (self.build)(options, context)
    }
}

/// The three kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Says when the next attempt may start.
    Limiter,
    /// Says whether and when a failed op may try again.
    RetryPolicy,
    /// Says whether a launch is let through.
    Budget,
}

/// A started part.
pub enum Part {
    /// See [`Limiter`].
    Limiter(Box<dyn Limiter>),
    /// See [`RetryPolicy`].
    RetryPolicy(Box<dyn RetryPolicy>),
    /// See [`Budget`].
    Budget(Box<dyn Budget>),
}

/// What a part may be given besides its options.
#[derive(Default)]
pub struct Context {
    /// For the oracle, which takes it.
    pub foreknowledge: Option<Box<dyn Foreknowledge>>,
}

/// A part's configuration, which is also its factory. Its `Default` is the only place of its defaults.
pub(crate) trait PartConfig: Default + 'static {
    /// As typed, kebab-case, and in snake case the name of its file.
    const NAME: &'static str;
    /// Which kind it is.
    const KIND: PartKind;
    /// What it does, in one line without a full stop.
    const SUMMARY: &'static str;
    /// Its rule, as formulas and words; may span lines.
    const RULE: &'static str;
    /// Paper, RFC or seed document it comes from.
    const SOURCE: &'static str;
    /// Its parameters, in the order in which help texts list them.
    const PARAMETERS: &'static [Parameter<Self>];

    /// What its parameters must obey together, said as what is wrong.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Starts it.
    fn build(self, context: &mut Context) -> Result<Part, SpecError>;
}

fn configured<C: PartConfig>(options: &Options) -> Result<C, SpecError> {
    let mut config = C::default();
    for (key, value) in options {
        let Some(parameter) = C::PARAMETERS.iter().find(|parameter| parameter.key == key) else {
            return Err(SpecError::unknown_parameter(
                C::NAME,
                key,
                C::PARAMETERS.iter().map(|parameter| parameter.key),
            ));
        };
        parameter.set(&mut config, value).map_err(|source| SpecError::Value { part: C::NAME, source })?;
    }
    config.check().map_err(|why| SpecError::Combination { part: C::NAME, why })?;
    Ok(config)
}

#[cfg(test)]
mod tests;
