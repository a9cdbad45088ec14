//! The throttling server over HTTP. It passes requests to [`core`] and sends the answers at absolute deadlines.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod admin;
mod alarm;
mod app;
mod cli;
mod clock;
mod connection;
mod embedded;
mod presets;
mod runtime;
mod shared;
mod work;
mod wrap;

pub use admin::access::refuse_other_sites;
pub use admin::token::{ADMIN_TOKEN_ENV, AdminToken, AdminTokenError};
pub use cli::flags::ServerFlags;
pub use cli::signals::{TOGETHER, is_ignored};
pub use cli::threads::threads_with_room;
pub use cli::{main, parse};
pub use connection::listen::ListenError;
pub use embedded::Embedded;
pub use mockserver_core as core;
pub use runtime::runtime;
