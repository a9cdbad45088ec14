//! All tests of the built programs, except those that measure time alone.
//!
//! A process is started only for behaviour that only processes show: exit codes, signals, terminals, sockets, pipes, and whole commands
//! compared with published figures. Everything else is tested beside its code.

mod checks;
mod clients;
mod compare;
mod delay_noise;
mod derived;
// Generated parts of the documentation, and its commands.
mod documents;
mod end_to_end;
mod examples;
mod judge;
mod loads;
mod machines;
mod production;
mod readme;
mod recommend;
mod releases;
mod report;
mod scenarios;
mod screens;
// Helpers of all tests.
mod support;
// Commands split into shards, and their merge.
mod shards;
mod survey;
mod sweep;
mod virtual_time;
