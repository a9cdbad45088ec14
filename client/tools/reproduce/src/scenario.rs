//! Experiments as data. A scenario file contains the runs and their expected results, so that no scenario needs code of its own.
//!
//! A scenario is processed in four stages. The file is parsed ([`Scenario`]), and expanded into [`Cell`]s and checked ([`load()`]). The
//! figures of its runs are collected ([`Data`]), and its claims get verdicts ([`judge()`]).

mod cases;
mod cells;
mod claim;
mod condition;
mod data;
mod derived;
mod drawing;
mod embedded;
mod evaluation;
mod file;
mod load;
mod location;
mod plot;
#[cfg(test)]
mod refusals;
mod verdict;
mod wrong;

pub use crate::scenario::derived::over_seeds;
pub use cells::{Cell, text};
pub use claim::{Against, Bound, Claim, ComparedFigure, Expectation, Labels, Stat};
pub use condition::{Condition, Edge};
pub use data::{Data, Measured, figures_of, wanted};
pub use derived::{BinRange, Derived, Series};
pub use embedded::{EMBEDDED, embedded};
pub use evaluation::judge;
pub use file::{Column, ExperimentSection, Http, Scenario};
pub use load::load;
pub use location::Text;
pub use plot::{Counted, Plot, Scale};
pub use verdict::{Found, Judged};
