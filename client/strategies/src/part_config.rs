//! Configuration of a part, which is also its factory.

use vocabulary::{Configurable, OracleSchedule};

use crate::error::SpecError;
use crate::part::{Part, PartKind};

pub(crate) trait PartConfig: Configurable + Clone + Send + Sync {
    const KIND: PartKind;

    fn build(self, context: &mut Context) -> Result<Part, SpecError>;

    /// Returns warnings about values that are valid but probably a mistake. Each warning is half a sentence.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Inputs for building a part, besides its options.
#[derive(Default)]
pub struct Context {
    /// Seed of the run, for random draws of limiters. All clients share it, so the keys of draws must contain more than
    /// the seed.
    pub seed: u64,
    /// Schedule for the oracle, which takes it out of the context.
    pub oracle_schedule: Option<OracleSchedule>,
}
