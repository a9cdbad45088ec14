//! What `loadgen` can do: one file a command.

pub(crate) mod compare;
pub(crate) mod parity;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod strategies;
pub(crate) mod sweep;
