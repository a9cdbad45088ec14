//! Configuration of a part, which is also its factory.

use vocabulary::{Configurable, OracleSchedule};

use crate::error::SpecError;
use crate::part::{Part, PartKind};

pub(crate) trait PartConfig: Configurable + Clone + Send + Sync {
    const KIND: PartKind;

    fn build(self, context: &mut Context) -> Result<Part, SpecError>;

    /// Returns warnings about values that are valid but probably a mistake, each in half a sentence.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Inputs of a part besides its options.
#[derive(Default)]
pub struct Context {
    /// Seed of the run, for the draws of limiters. All clients share it, so keys of draws contain more than the seed.
    pub seed: u64,
    /// Schedule for the oracle, which takes ownership of it.
    pub oracle_schedule: Option<OracleSchedule>,
}
