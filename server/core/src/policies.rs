//! Admission policies of the server, one per file, and the list of all policies.

mod admission;
mod capacity;
mod common;
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
mod holding;
mod key;
mod keyed;
mod keys;
mod leaky_queue;
mod least_missing;
mod limit;
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
#[cfg(test)]
mod timelines;
mod token_bucket;

#[cfg(test)]
pub(crate) use admission::{Admission, Load};
pub(crate) use admission::{Arrived, Released};
pub(crate) use common::Common;
pub(crate) use entry::Configured;
pub use entry::PolicyEntry;
pub use key::Key;
pub(crate) use key::KeyRule;
pub use keys::Keys;
pub(crate) use limit::{Limit, Per};
pub(crate) use policy_config::{Places, PolicyConfig};
pub(crate) use stages::{Stage, Stages};

use concurrency::Concurrency;
use concurrency_cap::CapConfig;
use daily::Daily;
use descriptor_pool::PoolConfig;
use fixed_window::FixedWindow;
use gcra::Gcra;
use growing_concurrency::GrowingConcurrency;
use growing_rate::GrowingRate;
use leaky_queue::LeakyQueue;
use overwhelmed_queue::QueueConfig;
use penalty::Penalty;
use random::Random;
use reserve::Reserve;
use script::ScriptConfig;
use sliding_counter::SlidingCounter;
use sliding_log::SlidingLog;
use slow_down::SlowDown;
use token_bucket::TokenBucket;

/// All policies in the order of the help texts; the first is the default.
pub static POLICIES: &[PolicyEntry] = &[
    PolicyEntry::new::<CapConfig>(),
    PolicyEntry::new::<Concurrency>(),
    PolicyEntry::new::<QueueConfig>(),
    PolicyEntry::new::<PoolConfig>(),
    PolicyEntry::new::<TokenBucket>(),
    PolicyEntry::new::<Gcra>(),
    PolicyEntry::new::<LeakyQueue>(),
    PolicyEntry::new::<Reserve>(),
    PolicyEntry::new::<FixedWindow>(),
    PolicyEntry::new::<Daily>(),
    PolicyEntry::new::<SlidingCounter>(),
    PolicyEntry::new::<SlidingLog>(),
    PolicyEntry::new::<GrowingRate>(),
    PolicyEntry::new::<GrowingConcurrency>(),
    PolicyEntry::new::<Penalty>(),
    PolicyEntry::new::<Random>(),
    PolicyEntry::new::<SlowDown>(),
    PolicyEntry::new::<ScriptConfig>(),
];

#[cfg(test)]
mod tests;
