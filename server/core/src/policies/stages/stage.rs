//! A policy of a stack, and what it sees in a request.

use crate::details::Details;
use crate::policies::common::{Charged, Common};
use crate::policies::gate::Gate;
use crate::policies::key::Key;

/// A policy of the stack.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) gate: Box<dyn Gate>,
    pub(crate) common: Common,
    /// What it sees in a request that says nothing of itself.
    pub(super) plain: Face,
    /// See [`Gate::holds_places`].
    pub(super) holds_places: bool,
    /// Whether what it charged may be another sum in the end.
    pub(super) settles: bool,
}

impl Stage {
    /// A stage of which nobody holds anything yet.
    pub(crate) fn new(gate: Box<dyn Gate>, common: Common) -> Self {
        let cost = common.cost.of(None);
        let plain = Face { key: Key::default(), cost, used: common.refund.of(None, cost) };
        Self {
            plain,
            holds_places: gate.holds_places(),
            settles: common.charged == Charged::Answer || !common.refund.is_none(),
            gate,
            common,
        }
    }

    /// What it sees in a request that says this of itself.
    pub(super) fn face(&self, details: &Details) -> Face {
        let Common { key, cost, refund, .. } = &self.common;
        let cost = cost.of(Some(details));
        Face { key: key.of(details), cost, used: refund.of(Some(details), cost) }
    }
}

/// What a stage sees in a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) key: Key,
    pub(super) cost: u32,
    /// What it turns out to have cost.
    pub(super) used: Option<u32>,
}
