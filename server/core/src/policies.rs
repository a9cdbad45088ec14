//! Policies, one per file: how a server decides whom it serves.

mod admission;
mod concurrency_cap;
mod descriptor_pool;
mod entry;
mod overwhelmed_queue;
mod policy_config;
mod running;
mod script;

pub(crate) use admission::{Admission, Arrived, Load, Released};
pub(crate) use entry::Configured;
pub use entry::PolicyEntry;
pub(crate) use policy_config::PolicyConfig;
pub(crate) use running::Running;

use concurrency_cap::CapConfig;
use descriptor_pool::PoolConfig;
use overwhelmed_queue::QueueConfig;
use script::ScriptConfig;

/// Every policy, in the order in which help texts list them; the first is the default.
pub const POLICIES: &[PolicyEntry] = &[
    PolicyEntry::of::<CapConfig>(),
    PolicyEntry::of::<QueueConfig>(),
    PolicyEntry::of::<PoolConfig>(),
    PolicyEntry::of::<ScriptConfig>(),
];

#[cfg(test)]
mod tests;
