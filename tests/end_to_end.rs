//! The built programs over real sockets, end to end.
//!
//! Every server listens on a free port, every process is bounded in time and killed with its test, and experiments
//! run at a time scale that makes them short. Real time is only asserted in wide bands, counts exactly.

mod admin_access;
mod bad_luck;
mod bad_servers;
mod colours;
mod conditional_writes;
mod connections;
mod dead_and_reborn;
mod default_strategy;
mod escape_sequences;
mod failures;
mod foreign;
mod foreign_server;
mod found;
mod gateway;
mod hedged;
mod hostile_servers;
mod idle_closes;
mod labels;
mod lanes;
mod live_figures;
mod live_line;
mod long_advice;
mod lower_bound;
mod metrics;
mod mock_server;
mod never_hangs;
mod one_router;
mod open_files;
mod openai_package;
mod outputs;
mod pty;
mod runs;
mod screen;
mod scripted;
mod several_targets;
mod signals;
mod small_times;
mod stages;
mod started;
mod stopped;
mod summary_rows;
mod terminal;
mod transports;
mod unasked;
mod unprocessed;
mod usage;
mod wanted_statuses;
