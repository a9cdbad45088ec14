//! Driver that runs the client state machine and the server core in virtual time. This crate does no I/O, and no run waits in real time.
//! All decisions are made in the two state machines. Only [`side_by_side()`] uses threads, and they have no influence on any run.
//!
//! Each state machine keeps its own events. [`Simulation`] merges the events by time, then by class, then by order of scheduling. At one
//! instant, the server's completions and ticks come first, then responses that reach clients, then the clients' own timers. The same seed
//! therefore gives the same run, bit for bit, on every machine and with any number of concurrent runs.
//!
//! The event loop, request details and responses are public, because `tests/parity` replays the logs of real runs with them.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
mod event_loop;
mod request_details;
mod server_facts;
mod side_by_side;
mod simulated_response;
mod simulated_server;
mod simulation;

pub use event_loop::{EventLoop, Peer, Steer};
pub use request_details::RequestDetails;
pub use server_facts::{least_costs, rate_law, with_delay_noise};
pub use side_by_side::side_by_side;
pub use simulated_response::{ResponseForm, StepClassifiers};
pub use simulation::{Finished, Simulation};
