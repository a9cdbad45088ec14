//! A line of the list of forms of advice.

use vocabulary::ParameterInfo;

use super::super::time_form::Unit;
use super::settings::{PARAMETERS, Settings};

/// A form in which servers advise.
#[derive(Debug)]
pub struct AdviceEntry {
    /// As typed, kebab-case.
    pub name: &'static str,
    /// What it says, in one line.
    pub summary: &'static str,
    /// Who does it like that.
    pub source: &'static str,
    /// What it fills.
    pub(super) says: Says,
    /// Its header, unless another is named.
    pub header: &'static str,
    /// Digits after the point, unless told otherwise; `None` where there are no such digits.
    pub(super) places: Option<u32>,
}

/// What a form of advice fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// A header with the time to wait, or the moment.
    Time(Unit),
    /// `RateLimit` and `RateLimit-Policy`.
    RateLimit,
    /// The body.
    Problem,
}

/// Two are the same when they are called the same.
impl PartialEq for AdviceEntry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl AdviceEntry {
    /// The parameters with their defaults.
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        let mut settings = self.settings();
        let own = PARAMETERS.iter().filter(|parameter| self.has(parameter.key));
        own.map(|parameter| parameter.info(&mut settings)).collect()
    }

    /// Its settings, unless told otherwise.
    pub(super) fn settings(&self) -> Settings {
        Settings::new(self.header, self.places.unwrap_or(0))
    }

    /// Whether a parameter says anything here.
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

    /// The most digits after the point.
    pub(super) fn most_places(&self) -> u8 {
        match self.says {
            Says::Time(unit) => unit.most_places(),
            _ => 0,
        }
    }
}
