//! Tests of outputs that other programs read.

mod help_texts;
mod interval_logs;
mod notices;
mod published;
mod rows;
mod schema;
mod shells;
