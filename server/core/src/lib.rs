//! The throttling server's model: network leg, admission, service times, ledger. Sans-IO: `now` is an argument.
//!
//! A shell (HTTP, or a simulator) feeds [`Server::handle`] and drains [`Server::poll`] until it says when to come
//! back. Events are processed at the instants they are scheduled for, however late the shell calls.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod admission;
mod caps;
mod concurrency_cap;
mod config;
mod describe;
mod descriptor_pool;
mod ideal;
mod least_costs;
mod ledger;
mod log;
mod outages;
mod overwhelmed_queue;
mod patch;
mod policy;
mod request;
mod schedule;
mod server;
mod timeline;

pub use caps::{Cap, Caps};
pub use config::{Config, ConfigError};
pub use ideal::{Ideal, Plan};
pub use least_costs::LeastCosts;
pub use ledger::Account;
pub use log::{ServerEvent, ServerLog};
pub use outages::{Outage, Outages};
pub use patch::{Patch, PatchError};
pub use policy::{Policy, PolicyError, PoolConfig, QueueConfig, Subset};
pub use request::{Answer, Input, Output, Request, RequestId, Step, Verdict};
pub use schedule::{Planned, Schedule, ScheduleError};
pub use server::Server;
