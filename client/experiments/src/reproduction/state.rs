//! A scenario with what its runs came to.

use super::drawn::Kept;
use crate::scenario::{Cell, Data, Judged, Scenario, judge};

/// One scenario with what its runs came to.
pub struct Reproduction {
    /// What is claimed.
    pub scenario: Scenario,
    /// What is run.
    pub cells: Vec<Cell>,
    /// The figures of runs that are over.
    pub data: Data,
    /// What plots need of single runs.
    pub kept: Kept,
}

/// What is asked for instead of what scenarios say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// Runs of every cell.
    pub repeats: Option<u32>,
    /// The first seed.
    pub seed: Option<u64>,
}

impl Reproduction {
    /// Nothing is run yet.
    pub fn new(mut scenario: Scenario, mut cells: Vec<Cell>, changes: Changes) -> Self {
        if let Some(repeats) = changes.repeats {
            for cell in &mut cells {
                cell.settings.repeats = repeats;
            }
        }
        if let Some(seed) = changes.seed {
            scenario.seed = seed;
        }
        let data = Data::new(cells.len());
        Self { scenario, cells, data, kept: Kept::new() }
    }

    /// The seed of a run: repeat r uses seed + r.
    pub fn seed(&self, repeat: u32) -> u64 {
        self.scenario.seed.wrapping_add(u64::from(repeat))
    }

    /// Every claim about what was run, with its verdict; over HTTP, those that make sense there.
    pub fn judged(&self, http: bool) -> Vec<Judged<'_>> {
        let claims = self.scenario.claim.iter().filter(|claim| claim.http || !http);
        claims.filter_map(|claim| judge(&self.scenario, claim, &self.cells, &self.data)).collect()
    }
}
