//! Experiments as data: a scenario file says what to run and what must come out, and nothing about any of them is
//! written in code.

mod cases;
mod cell;
mod claim;
mod condition;
mod derived;
mod embedded;
mod file;
mod judge;
mod load;
mod place;
mod plot;
mod run;
mod setting;
mod table;
mod workload;

pub(crate) use cell::Cell;
pub(crate) use condition::Edge;
pub(crate) use embedded::EMBEDDED;
pub(crate) use file::{Column, Scenario};
pub(crate) use judge::{Judged, Verdict, judge, over_seeds};
pub(crate) use load::{Source, load};
pub(crate) use plot::{Counted, Plot, Scale};
pub(crate) use run::{Data, figures_of, simulate, wanted};
pub(crate) use table::{claims_table, experiment_table};
