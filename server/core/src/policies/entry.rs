//! A line of the list of policies.

use std::sync::Arc;

use vocabulary::{Configurable, Options, OptionsError, ParameterInfo};

use crate::policies::policy_config::PolicyConfig;

/// A policy that can be configured by name.
#[derive(Clone, Copy, Debug)]
pub struct PolicyEntry {
    /// As typed, kebab-case.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its rule, as formulas and words.
    pub rule: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    default: fn() -> Configured,
    configure: fn(&Options) -> Result<Configured, OptionsError>,
}

/// A configuration, and its parameters with the values that they have.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) config: Arc<dyn PolicyConfig>,
    pub(crate) parameters: Vec<ParameterInfo>,
}

impl PolicyEntry {
    pub(crate) const fn of<C: Configurable + PolicyConfig>() -> Self {
        Self {
            name: C::NAME,
            summary: C::SUMMARY,
            rule: C::RULE,
            source: C::SOURCE,
            default: || Configured::of(C::default()),
            configure: |options| C::with_options(options).map(Configured::of),
        }
    }

    /// The parameters with their defaults.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.default)().parameters
    }

    /// Without any options.
    pub(crate) fn default(&self) -> Configured {
        (self.default)()
    }

    /// With these options; missing ones keep their default.
    pub(crate) fn configure(&self, options: &Options) -> Result<Configured, OptionsError> {
        (self.configure)(options)
    }
}

impl Configured {
    fn of<C: Configurable + PolicyConfig>(mut config: C) -> Self {
        Self { parameters: config.parameters(), config: Arc::new(config) }
    }
}
