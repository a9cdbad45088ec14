//! Every test of the built programs that does not measure time alone.
//!
//! A process is started only for what only processes show: exit codes, signals, terminals, sockets, pipes, and whole commands
//! against published figures. All else is tested beside its code.

// Conditions and baselines: what CI relies on.
mod checks;
// Production clients, and recordings of them.
mod clients;
// Rankings, pairs, and what cannot be compared.
mod compare;
// Noise of network delays in virtual time.
mod delay_noise;
// Figures, counted again from samples.
mod derived;
// Everything over real sockets, terminals and signals.
mod end_to_end;
// Loads beside capacities, and rates as they were given.
mod loads;
// What other programs read: logs, rows, schemas, shells, notices.
mod machines;
// Pages and pictures of results.
mod report;
// The seeds' experiments: reference figures, claims, bad files.
mod scenarios;
// Screens of runs, reproductions and the list of strategies.
mod screens;
// What all of these share.
mod support;
// Parts of commands, and what is merged of them.
mod shards;
// Strategies against drawn settings.
mod survey;
// Grids, and their best points.
mod sweep;
// The seeds' figures by the state machines alone.
mod virtual_time;
