//! Configuration of a strategy part. It is also the factory that builds the part.

use vocabulary::{Configurable, OracleSchedule};

use crate::error::SpecError;
use crate::part::{Part, PartKind};

pub(crate) trait PartConfig: Configurable + Clone + Send + Sync {
    const KIND: PartKind;

    fn build(self, context: &mut Context) -> Result<Part, SpecError>;

    /// Returns warnings about option values that are valid but probably a mistake. Each warning is half a sentence.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Inputs for building a strategy part, in addition to its options.
#[derive(Default)]
pub struct Context {
    /// Seed of the run, for random draws of limiters. All clients share this seed, so the keys of draws must contain
    /// more than the seed.
    pub seed: u64,
    /// Schedule for the oracle. Building the oracle moves the schedule out of this field and leaves `None`.
    pub oracle_schedule: Option<OracleSchedule>,
}
