//! Figures that a scenario's claim refers to, taken from the runs of the scenario.

use super::cases::{Case, Spot};
use super::claim::Claim;
use super::data::Data;

pub(super) struct ClaimFigures<'a> {
    pub(super) claim: &'a Claim,
    pub(super) data: &'a Data,
}

impl ClaimFigures<'_> {
    pub(super) fn was_run(&self, case: &Case<'_>) -> bool {
        std::iter::once(&case.own).chain(&case.other).all(|spot| self.data.has(spot.cell))
    }

    pub(super) fn others(&self, case: &Case<'_>, runs: usize) -> Option<Vec<f64>> {
        let published = case.published.map(|figure| vec![figure; runs]);
        published.or_else(|| case.other.as_ref().map(|spot| self.values(spot)))
    }

    pub(super) fn values(&self, spot: &Spot<'_>) -> Vec<f64> {
        let values = self.data.values(spot.cell, spot.figure);
        values.into_iter().map(|value| self.claim.scaled(value)).collect()
    }
}
