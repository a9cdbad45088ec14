//! Admission policies of the server, one per file, and the list of all policies.

mod admission;
pub(crate) mod common;
mod concurrency;
mod concurrency_cap;
mod cost;
mod daily;
mod descriptor_pool;
mod entry;
mod fixed_window;
mod gcra;
mod growing_concurrency;
mod growing_rate;
mod growth;
mod key;
mod keyed;
mod keys;
mod leaky_queue;
mod least_missing;
mod overwhelmed_queue;
mod penalty;
mod policy_config;
mod random;
mod rate;
pub(crate) mod rate_algorithm;
mod reserve;
mod script;
mod sliding_counter;
mod sliding_log;
mod slow_down;
pub(crate) mod stage_policy;
mod stages;
mod token_bucket;

pub(crate) use admission::{Admission, Arrived, Capacity, Load, Released};
pub(crate) use common::Common;
pub(crate) use entry::Configured;
pub use entry::PolicyEntry;
pub use key::Key;
pub(crate) use key::{KeyRule, Missing};
pub use keys::Keys;
pub(crate) use policy_config::{Limit, Per, PolicyConfig};
pub(crate) use stages::{Face, Stage, Stages};

use keyed::Keyed;
use least_missing::LeastMissing;
use rate::{Rate, rescaled};
pub(crate) use rate_algorithm::RateAlgorithm;
pub(crate) use stage_policy::{
    Charge, Decision, Meaningless, PLACES_CHARGE_NOTHING, StagePolicy, StageRequest, Waited, after, downcast,
    nanos,
};

/// All policies in the order of the help texts; the first is the default.
pub static POLICIES: &[PolicyEntry] = &[
    PolicyEntry::new::<concurrency_cap::CapConfig>(),
    PolicyEntry::new::<concurrency::Concurrency>(),
    PolicyEntry::new::<overwhelmed_queue::QueueConfig>(),
    PolicyEntry::new::<descriptor_pool::PoolConfig>(),
    PolicyEntry::new::<token_bucket::TokenBucket>(),
    PolicyEntry::new::<gcra::Gcra>(),
    PolicyEntry::new::<leaky_queue::LeakyQueue>(),
    PolicyEntry::new::<reserve::Reserve>(),
    PolicyEntry::new::<fixed_window::FixedWindow>(),
    PolicyEntry::new::<daily::Daily>(),
    PolicyEntry::new::<sliding_counter::SlidingCounter>(),
    PolicyEntry::new::<sliding_log::SlidingLog>(),
    PolicyEntry::new::<growing_rate::GrowingRate>(),
    PolicyEntry::new::<growing_concurrency::GrowingConcurrency>(),
    PolicyEntry::new::<penalty::Penalty>(),
    PolicyEntry::new::<random::Random>(),
    PolicyEntry::new::<slow_down::SlowDown>(),
    PolicyEntry::new::<script::ScriptConfig>(),
];

#[cfg(test)]
mod tests;
