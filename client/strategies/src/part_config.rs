//! Configuration of a strategy part. From the configuration, instances of the part are built.

use std::fmt::Debug;
use std::sync::Arc;

use vocabulary::{Configurable, OracleSchedule};

use crate::Entry;
use crate::error::SpecError;
use crate::part::{Part, PartKind};

pub(crate) trait PartConfig: Configurable + Clone + Debug + Send + Sync {
    const KIND: PartKind;

    /// Entry of the part in the registry.
    const ENTRY: Entry = Entry {
        name: Self::NAME,
        kind: Self::KIND,
        summary: Self::SUMMARY,
        rule: Self::RULE,
        source: Self::SOURCE,
        configure: |options| Ok(Arc::new(Self::with_options(options)?)),
    };

    fn build(self, context: &mut Context) -> Result<Part, SpecError>;

    /// Returns warnings about option values that are valid but probably a mistake. Each warning is half a sentence.
    fn doubts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the part uses the quotas that servers state ([`Outcome::quota`](crate::Outcome::quota)).
    fn uses_quota(&self) -> bool {
        false
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

/// Implements [`PartConfig`] for a configuration from which a part can always be built: with the kind of the part and its constructor, or
/// with `BackOff` and the shape of the delays.
macro_rules! part {
    ($config:ident: BackOff, $shape:expr) => {
        $crate::part_config::part!(@ $config, RetryPolicy, |config, _| {
            let shape: fn($config) -> $crate::shape::Shape = $shape;
            $crate::part::Part::back_off(shape(config))
        });
    };
    ($config:ident: $kind:ident, $new:expr) => {
        $crate::part_config::part!(@ $config, $kind, |config, context| {
            let new: fn($config, &mut $crate::part_config::Context) -> _ = $new;
            $crate::part::Part::$kind(Box::new(new(config, context)))
        });
    };
    (@ $config:ident, $kind:ident, $build:expr) => {
        impl $crate::part_config::PartConfig for $config {
            const KIND: $crate::part::PartKind = $crate::part::PartKind::$kind;

            fn build(
                self,
                context: &mut $crate::part_config::Context,
            ) -> Result<$crate::part::Part, $crate::error::SpecError> {
                let build: fn(Self, &mut $crate::part_config::Context) -> $crate::part::Part = $build;
                Ok(build(self, context))
            }
        }
    };
}

pub(crate) use part;
