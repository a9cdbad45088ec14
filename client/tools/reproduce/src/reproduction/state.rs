//! A scenario together with its cells (one strategy at one point each), the figures of its runs, and the data recorded for plots.

use crate::recording::Kept;
use crate::scenario::{Cell, Data, Judged, Scenario, judge};

pub struct Reproduction {
    pub scenario: Scenario,
    pub cells: Vec<Cell>,
    pub data: Data,
    pub kept: Kept,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    pub repeats: Option<u32>,
    pub seed: Option<u64>,
}

impl Reproduction {
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

    pub fn seed(&self, repeat: u32) -> u64 {
        self.scenario.seed.wrapping_add(u64::from(repeat))
    }

    pub fn judged(&self, http: bool) -> Vec<Judged<'_>> {
        let claims = self.scenario.claim.iter().filter(|claim| claim.http || !http);
        claims.filter_map(|claim| judge(&self.scenario, claim, &self.cells, &self.data)).collect()
    }
}
