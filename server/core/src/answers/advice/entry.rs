//! Entry in the list of advice forms. An advice form is a way to state in an answer when the client should retry.

use vocabulary::ParameterInfo;

use super::super::time_form::Unit;
use super::settings::{PARAMETERS, Settings};

#[derive(Debug)]
pub struct AdviceEntry {
    pub name: &'static str,
    pub summary: &'static str,
    /// Source of the advice form: its specification, or a vendor or library that uses it.
    pub source: &'static str,
    pub(super) says: Says,
    pub header: &'static str,
    /// Default number of digits after the decimal point of an advised time. `None` if the advice form has no parameter `places`.
    pub(super) places: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Time(Unit),
    RateLimit,
    Problem,
}

impl PartialEq for AdviceEntry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl AdviceEntry {
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        let mut settings = self.settings();
        let own = PARAMETERS.iter().filter(|parameter| self.has(parameter.key));
        own.map(|parameter| parameter.info(&mut settings)).collect()
    }

    pub(super) fn settings(&self) -> Settings {
        Settings::new(self.header, self.places.unwrap_or(0))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        match key {
            "share" => true,
            "type" => self.says == Says::Problem,
            _ if self.says == Says::Problem => false,
            "places" => self.places.is_some(),
            "skew" => matches!(self.says, Says::Time(unit) if unit.is_moment()),
            _ => true,
        }
    }

    pub(super) fn max_decimals(&self) -> u8 {
        match self.says {
            Says::Time(unit) => unit.max_decimals(),
            _ => 0,
        }
    }
}
