//! The built programs over real sockets, end to end.
//!
//! Every server listens on a free port, every process is bounded in time and killed with its test, and experiments
//! run at a time scale that makes them short. Real time is only asserted in wide bands, counts exactly.

mod bad_luck;
mod bad_servers;
mod conditional_writes;
mod foreign;
mod foreign_server;
mod found;
mod lanes;
mod metrics;
mod mock_server;
mod outputs;
mod pty;
mod runs;
mod screen;
mod signals;
mod support;
mod terminal;
mod usage;
