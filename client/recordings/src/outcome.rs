//! Result of a comparison between a strategy and a recording: reproduced, different or not compared.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    Reproduced,
    /// The strategy behaves differently from the recording. The variant contains the first difference.
    Differs(Difference),
    /// The configuration could not be mapped to a strategy. Neither the user's entries nor the rules of presets cover it.
    NoPreset,
    Skipped(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CheckDifference"))]
pub struct Difference {
    // Name of the figure that differs between a recording and a strategy, such as `attempts` or `delay 2`.
    pub what: String,
    pub recorded: String,
    // Value that the strategy yields for a figure that differs from the recording, as text.
    pub here: String,
}

impl From<Option<Difference>> for CheckOutcome {
    fn from(difference: Option<Difference>) -> Self {
        difference.map_or(Self::Reproduced, Self::Differs)
    }
}

impl Difference {
    pub fn new(what: impl fmt::Display, recorded: impl fmt::Display, here: impl fmt::Display) -> Self {
        Self { what: what.to_string(), recorded: recorded.to_string(), here: here.to_string() }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: recorded {}, here {}", self.what, self.recorded, self.here)
    }
}
