//! Driver of the client state machine in real time. It consists of tokio, a transport, and a clock that may be scaled.
//!
//! All decisions are made by the state machine in `loadgen-core`. This crate sends attempts to a server, and passes the answers with
//! timestamps to the state machine. It wakes the state machine at the times that it requests.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod clock;
mod config;
mod control;
mod drive;
mod error_kind;
mod mock;
mod request;
mod response;
mod rusage;
mod target;
mod tls;
mod transport;
mod workers;

pub use config::{RequestTemplate, RunHeaders, TransportConfig, TransportError};
pub use control::{Command, Control};
pub use drive::{DriveError, DriveOptions, DriveReport};
pub use error_kind::{TlsProblem, refused_certificate};
pub use mock::{MockError, MockServer, Probe, probe, touch};
pub use response::kept_body::SearchedBodies;
pub use rusage::{peak_rss_bytes, process_cpu, raise_open_files};
pub use target::{ConnectTo, IdentityPem, Target, TargetError, Trust};
pub use transport::WarmUp;
pub use transport::registry::{ReadyTransport, TRANSPORTS, TransportChoice, TransportEntry};
