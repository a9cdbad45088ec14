//! Entry of the registry of strategy parts.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use vocabulary::{Configurable, Options, OptionsError, ParameterInfo};

use crate::backoffs::NO_RETRY;
use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::retry::RetryPolicy as _;
use crate::shape::Shaped;

/// Registered strategy part, which can be created by its name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the strategy part in strategy texts, in kebab-case.
    pub name: &'static str,
    /// Kind of the strategy part, such as limiter or budget.
    pub kind: PartKind,
    /// Summary of the strategy part in one line.
    pub summary: &'static str,
    /// Rule of the strategy part, in formulas and words.
    pub rule: &'static str,
    /// Source of the strategy part's rule, such as a publication or a client library.
    pub source: &'static str,
    pub(crate) configure: fn(&Options) -> Result<Arc<dyn DynPartConfig>, OptionsError>,
}

/// Configuration of a strategy part of any kind, from which instances of the part are started.
pub(crate) trait DynPartConfig: Debug + Send + Sync {
    fn parameters(&self) -> Vec<ParameterInfo>;

    fn doubts(&self) -> Vec<String>;

    fn uses_quota(&self) -> bool;

    fn start(&self, context: &mut Context) -> Result<Part, SpecError>;
}

impl<C: PartConfig> DynPartConfig for C {
    fn parameters(&self) -> Vec<ParameterInfo> {
        Configurable::parameters(&mut self.clone())
    }

    fn doubts(&self) -> Vec<String> {
        PartConfig::doubts(self)
    }

    fn uses_quota(&self) -> bool {
        PartConfig::uses_quota(self)
    }

    fn start(&self, context: &mut Context) -> Result<Part, SpecError> {
        self.clone().build(context)
    }
}

/// Strategy part whose options are already parsed, so that creating an instance is cheap. One instance is created per
/// client, and there may be a hundred thousand clients.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) entry: &'static Entry,
    pub(crate) config: Arc<dyn DynPartConfig>,
    /// First backoff that was created from this strategy part. It is kept because all later backoffs share its computed
    /// rule.
    back_off: OnceLock<Shaped>,
}

impl Prepared {
    pub(crate) fn start(&self, context: &mut Context) -> Result<Part, SpecError> {
        if let Some(back_off) = self.back_off.get() {
            return Ok(Part::BackOff(back_off.anew()));
        }
        let part = self.config.start(context)?;
        if let Part::BackOff(back_off) = &part {
            self.back_off.get_or_init(|| back_off.anew());
        }
        Ok(part)
    }

    /// Returns whether the part spaces attempts: it has a window or a rate, delays retries, or makes none.
    pub(crate) fn spaces_attempts(&self) -> bool {
        match self.start(&mut Context::default()) {
            Ok(Part::RetryPolicy(policy)) => policy.backs_off() || self.entry.name == NO_RETRY,
            Ok(Part::BackOff(policy)) => policy.backs_off(),
            _ => self.entry.kind == PartKind::Limiter,
        }
    }
}

impl Entry {
    /// Returns the parameters of the part with their default values.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.configure)(&[]).map(|config| config.parameters()).unwrap_or_default()
    }

    pub(crate) fn prepare(&'static self, options: &Options) -> Result<Prepared, SpecError> {
        let config = (self.configure)(options).map_err(|error| SpecError::options(self.name, error))?;
        Ok(Prepared { entry: self, config, back_off: OnceLock::new() })
    }
}
