//! Driver of the client state machine in real time: tokio, a transport, and a clock that may be scaled.
//!
//! All decisions are made by `loadgen-core`. This crate sends attempts to a server, returns the answers with timestamps, and
//! wakes the state machine at the times that it requests.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod advice;
mod asked;
mod clock;
mod connecting;
mod control;
mod dialer;
mod drive;
mod exchange;
mod fields;
mod http_client;
mod lanes;
mod mailbox;
mod mock;
mod open_files;
mod prepared;
mod response_classifier;
mod target;
mod template;
mod transport;
mod transports;
mod trouble;
mod trust;
mod usage;
mod workers;

pub use control::{Command, Control};
pub use drive::{DriveError, DriveOptions, DriveReport};
pub use mock::{BarrierError, MockError, MockServer, Probe, probe};
pub use open_files::raise_open_files;
pub use target::{Target, TargetError, Trust};
pub use transport::{
    Answer, RequestTemplate, RunHeaders, Transport, TransportConfig, TransportError, WarmUp,
};
pub use transports::{ReadyTransport, TRANSPORTS, TransportChoice, TransportEntry};
pub use usage::{peak_rss_bytes, process_cpu};

/// Describes what is wrong with the certificate of a server that could not be reached. `None` unless the error itself
/// describes the problem only by names of types.
pub fn refused_certificate(error: &reqwest::Error) -> Option<&'static str> {
    trouble::refused_certificate(error)
}
