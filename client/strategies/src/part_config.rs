//! A part's configuration, which is also its factory.

use vocabulary::{Configurable, OracleSchedule};

use crate::error::SpecError;
use crate::part::{Part, PartKind};

/// What makes a part of its configuration. Its parameters and what it says of itself are in [`Configurable`].
pub(crate) trait PartConfig: Configurable + Clone + Send + Sync {
    /// Which kind it is.
    const KIND: PartKind;

    /// Starts it.
    fn build(self, context: &mut Context) -> Result<Part, SpecError>;

    /// What can be run, but is hardly what was meant, each in half a sentence.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a part may be given besides its options.
#[derive(Default)]
pub struct Context {
    /// The run's, for draws of limiters; clients have it in common, so what they draw is keyed by more than that.
    pub seed: u64,
    /// For the oracle, which takes it.
    pub oracle_schedule: Option<OracleSchedule>,
}
