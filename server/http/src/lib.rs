//! The throttling server over HTTP: carries requests into [`core`] and answers out, and waits with absolute deadlines.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod admin;
mod alarm;
mod answer_times;
mod clock;
mod command_line;
mod connections;
mod embedded;
mod flags;
mod listen;
mod metrics;
mod open_files;
mod shared;
mod shell;
mod work;

pub use command_line::main;
pub use embedded::Embedded;
pub use flags::ServerFlags;
pub use listen::ListenError;
pub use mockserver_core as core;
