//! What came of holding a strategy against a recording.

use std::fmt;

/// What came of one pair of scenario and configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The strategy does what the library did, as far as the recording tells.
    Reproduced,
    /// It does something else; what is told is what differs first.
    Differs(Difference),
    /// Nobody says which strategy that configuration is.
    NoPreset,
    /// The scenario cannot be replayed; why.
    Skipped(String),
}

/// What differs: which figure, what was recorded, and what the strategy does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Of what: `attempts`, `delay 2`.
    pub what: String,
    /// In words or numbers.
    pub recorded: String,
    /// The same of the strategy.
    pub here: String,
}

impl Difference {
    pub(crate) fn new(what: impl Into<String>, recorded: impl Into<String>, here: impl Into<String>) -> Self {
        Self { what: what.into(), recorded: recorded.into(), here: here.into() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: recorded {}, here {}", self.what, self.recorded, self.here)
    }
}
