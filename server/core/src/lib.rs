//! Model of the throttling server: network delays, admission, service times and counts. The model does no I/O and reads no clock: callers
//! pass the current time as `now`.
//!
//! A shell (HTTP server or simulator) passes inputs to [`Server::handle`]. Then it calls [`Server::poll`] repeatedly, until the result is
//! the time of the next call. Every event is processed as of the instant for which it is scheduled, however late the shell calls.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod account;
mod agenda;
mod answer_facts;
mod answers;
mod by_policy;
mod calendar;
mod capacity;
mod caps;
mod config;
mod describe;
mod early_retries;
mod events;
mod faults;
mod first_limit;
mod header_rules;
mod idle_slots;
mod least_costs;
mod ledger;
mod limit_status;
mod list;
mod log;
mod notes;
mod oracle_schedule;
mod outages;
mod pace;
mod patch;
mod policies;
mod policy;
mod policy_stack;
mod presets;
mod quoted;
mod request;
mod request_fields;
mod schedule;
mod script;
mod server;
mod service;
mod slot;
mod timeline;

pub use account::Account;
pub use answer_facts::AnswerFacts;
pub use answers::{
    ADVICE_FORMS, Advice, AdviceEntry, AdviceError, AnswerSet, AnswersConfig, AnswersError, EveryConfig,
    FieldError, HeaderWriter, Outcome, Rendered, ResponseConfig, ResponseContext, ResponseError, Template,
    TemplateError,
};
pub use capacity::{Capacity, CapacityLimit, Traffic, TrafficKind};
pub use caps::{Cap, Caps};
pub use config::{Config, ConfigError, read_wait};
pub use events::{Answer, Extras, Input, Output};
pub use faults::{Fault, Faults, WeightedFault};
pub use first_limit::{Direction, FirstLimit};
pub use header_rules::HeaderError;
pub use least_costs::LeastCosts;
pub use limit_status::LimitStatus;
pub use list::{List, ListError, Listed};
pub use log::{ServerEvent, ServerLog};
pub use outages::{Outage, Outages};
pub use pace::{Pace, RateLaw};
pub use patch::{Patch, PatchError, read_patch};
pub use policies::{Key, Keys, POLICIES, PolicyEntry};
pub use policy::{Policy, PolicyError};
pub use policy_stack::Policies;
pub use presets::{
    BaseUrl, Expanded, Fact, Limit, ServerPreset, ServerPresetError, ServerPresetUseError, expand,
    read_scale, server_preset, server_preset_names, server_presets,
};
pub use request::{Request, RequestId, ServerDecision, Step};
pub use request_fields::{FieldSelection, MAX_SEARCHED_BODY, RequestFields};
pub use schedule::{Schedule, ScheduleError};
pub use script::{
    MAX_REPLIES, Reply, ReplyError, ReplyId, Script, ScriptError, ScriptFileError, ScriptedAnswer, StepError,
    StepFault, WrittenStep,
};
pub use server::Server;

use caps::MAX_SLOTS;
use quoted::quoted;
use service::ServiceModel;
