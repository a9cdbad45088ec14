//! Verdict of a comparison between a strategy and a recording.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Reproduced,
    /// The strategy behaves differently; this is the first difference.
    Differs(Difference),
    /// No rule or entry maps the configuration to a strategy.
    NoPreset,
    Skipped(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the figure: `attempts`, `delay 2`.
    pub what: String,
    pub recorded: String,
    /// Value of the strategy, in words or numbers.
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
