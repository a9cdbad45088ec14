//! One scenario with its runs.

use experiments::scenario::{Cell, Data, Scenario};

use super::recordings::Kept;

/// One scenario with its runs.
pub(super) struct Reproduction {
    pub(super) scenario: Scenario,
    pub(super) cells: Vec<Cell>,
    pub(super) data: Data,
    /// What figures need of single runs.
    pub(super) kept: Kept,
}
