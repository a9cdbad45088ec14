//! Configuration of a strategy part. From the configuration, instances of the part are built.

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

/// Inputs that are needed, in addition to the part's options, to build a strategy part.
#[derive(Default)]
pub struct Context {
    /// Seed of the run, for random draws of limiters. All clients share this seed. So the key of a draw must contain
    /// more than the seed; otherwise all clients would draw the same number.
    pub seed: u64,
    /// Schedule for the part `oracle`. When the oracle is built, the schedule moves into it, and this field becomes
    /// `None`.
    pub oracle_schedule: Option<OracleSchedule>,
}
