//! Entry in the list of policies with which a server can be configured: its name, its texts, its parameters.

use std::sync::Arc;

use vocabulary::{Configurable, Options, OptionsError, ParameterInfo};

use crate::policies::PolicyConfig;

#[derive(Clone, Copy, Debug)]
pub struct PolicyEntry {
    pub name: &'static str,
    pub summary: &'static str,
    pub rule: &'static str,
    pub source: &'static str,
    pub(crate) default: fn() -> Configured,
    pub(crate) configure: fn(&Options) -> Result<Configured, OptionsError>,
}

#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) config: Arc<dyn PolicyConfig>,
    pub(crate) parameters: Vec<ParameterInfo>,
}

impl PolicyEntry {
    pub(crate) const fn new<C: Configurable + PolicyConfig>() -> Self {
        Self {
            name: C::NAME,
            summary: C::SUMMARY,
            rule: C::RULE,
            source: C::SOURCE,
            default: || Configured::new(C::default()),
            configure: |options| C::with_options(options).map(Configured::new),
        }
    }

    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.default)().parameters
    }
}

impl Configured {
    fn new<C: Configurable + PolicyConfig>(mut config: C) -> Self {
        Self { parameters: config.parameters(), config: Arc::new(config) }
    }
}
