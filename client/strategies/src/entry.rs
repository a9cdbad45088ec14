//! A line of the list of parts.

use vocabulary::{Options, OptionsError, ParameterInfo};

use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};

/// A part that can be started by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As typed, kebab-case.
    pub name: &'static str,
    /// Which of the four kinds it is.
    pub kind: PartKind,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its rule, as formulas and words.
    pub rule: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    parameters: fn(&Options) -> Result<Vec<ParameterInfo>, OptionsError>,
    doubts: fn(&Options) -> Result<Vec<String>, OptionsError>,
    build: fn(&Options, &mut Context) -> Result<Part, SpecError>,
}

impl Entry {
    pub(crate) const fn of<C: PartConfig>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            summary: C::SUMMARY,
            rule: C::RULE,
            source: C::SOURCE,
            parameters: |options| Ok(C::with_options(options)?.parameters()),
            doubts: |options| Ok(C::with_options(options)?.doubts()),
            build: |options, context| {
                let config = C::with_options(options).map_err(|error| SpecError::options(C::NAME, error))?;
                config.build(context)
            },
        }
    }

    /// The parameters with their defaults.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        (self.parameters)(&[]).unwrap_or_default()
    }

    /// The parameters with the given options put in.
    pub(crate) fn configured(&self, options: &Options) -> Result<Vec<ParameterInfo>, SpecError> {
        (self.parameters)(options).map_err(|error| SpecError::options(self.name, error))
    }

    /// What can be run with the given options, but is hardly what was meant.
    pub(crate) fn doubts(&self, options: &Options) -> Vec<String> {
        (self.doubts)(options).unwrap_or_default()
    }

    /// Starts the part with the given options; missing ones keep their default.
    pub(crate) fn build(&self, options: &Options, context: &mut Context) -> Result<Part, SpecError> {
        (self.build)(options, context)
    }
}
