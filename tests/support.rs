//! Helpers for all tests of the built programs.

mod bash;
mod figures;
mod folder;
mod full_size;
mod generated;
mod http;
mod interrupted;
mod mock_server;
mod program;
mod recommended;
mod reproduced;
mod skipped;

pub(crate) use bash::bash;
pub(crate) use figures::{assert_conserved, count, figure, measure, written};
pub(crate) use folder::Folder;
pub(crate) use full_size::{full_or, thinned};
pub(crate) use generated::is_current;
pub(crate) use http::{Reply, read_reply, request, request_with};
pub(crate) use interrupted::{interrupted, interrupted_after};
pub(crate) use mock_server::{MockServer, start_mockserver};
pub(crate) use program::{
    APART, Left, Program, eventually, loadgen, loadgen_in, loadgen_into, loadgen_redirected, shell,
    start_loadgen, start_shell,
};
pub(crate) use recommended::{Recommended, recommended};
pub(crate) use reproduced::{
    built_in, document_of, planned, reproduce_text, run, run_only, scenario_of, with_further_runs,
};
pub(crate) use skipped::skipped;
