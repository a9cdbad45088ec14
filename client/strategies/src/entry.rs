//! Entry of the registry of strategy parts.

use std::fmt;
use std::sync::{Arc, OnceLock};

use vocabulary::{Options, OptionsError, ParameterInfo};

use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
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
    parameters: fn(&Options) -> Result<Vec<ParameterInfo>, OptionsError>,
    doubts: fn(&Options) -> Result<Vec<String>, OptionsError>,
    prepare: fn(&Options) -> Result<Prepared, SpecError>,
}

/// Strategy part whose options are already parsed, so that creating an instance is cheap. One instance is created per
/// client, and there may be a hundred thousand clients.
#[derive(Clone)]
pub(crate) struct Prepared {
    starts: Arc<Starts>,
    /// First backoff that was created from this strategy part. It is kept because all later backoffs share its computed
    /// rule.
    back_off: OnceLock<Shaped>,
}

type Starts = dyn Fn(&mut Context) -> Result<Part, SpecError> + Send + Sync;

impl Prepared {
    pub(crate) fn start(&self, context: &mut Context) -> Result<Part, SpecError> {
        if let Some(back_off) = self.back_off.get() {
            return Ok(Part::BackOff(back_off.anew()));
        }
        let part = (self.starts)(context)?;
        if let Part::BackOff(back_off) = &part {
            self.back_off.get_or_init(|| back_off.anew());
        }
        Ok(part)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl Entry {
    pub(crate) const fn new<C: PartConfig>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            summary: C::SUMMARY,
            rule: C::RULE,
            source: C::SOURCE,
            parameters: |options| Ok(C::with_options(options)?.parameters()),
            doubts: |options| Ok(C::with_options(options)?.doubts()),
            prepare: |options| {
                let config = C::with_options(options).map_err(|error| SpecError::options(C::NAME, error))?;
                let starts = Arc::new(move |context: &mut Context| config.clone().build(context));
                Ok(Prepared { starts, back_off: OnceLock::new() })
            },
        }
    }

    /// Returns the parameters of the part with their default values.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.parameters)(&[]).unwrap_or_default()
    }

    pub(crate) fn configured(&self, options: &Options) -> Result<Vec<ParameterInfo>, SpecError> {
        (self.parameters)(options).map_err(|error| SpecError::options(self.name, error))
    }

    pub(crate) fn doubts(&self, options: &Options) -> Vec<String> {
        (self.doubts)(options).unwrap_or_default()
    }

    pub(crate) fn prepare(&self, options: &Options) -> Result<Prepared, SpecError> {
        (self.prepare)(options)
    }
}
