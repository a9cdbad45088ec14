//! The throttling server over HTTP: carries requests into [`core`] and answers out, and waits with absolute deadlines.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod access;
mod admin;
mod admin_token;
mod alarm;
mod answer_times;
mod bounds;
mod carrier;
mod clock;
mod command_line;
mod connection;
mod connections;
mod embedded;
mod exchange;
mod faulty;
mod flags;
mod http2;
mod listen;
mod live;
mod metrics;
mod open_files;
mod policy_file;
mod presets;
mod shared;
mod shell;
mod signals;
mod socket;
mod suggesting;
mod threads;
mod typed;
mod unanswered;
mod wanted;
mod work;

pub use admin_token::{ADMIN_TOKEN_ENV, AdminToken, AdminTokenError};
pub use command_line::main;
pub use embedded::Embedded;
pub use flags::ServerFlags;
pub use listen::ListenError;
pub use mockserver_core as core;
pub use signals::{TOGETHER, is_ignored};
pub use suggesting::{Suggesting, suggesting};
pub use typed::{arguments, count};
