//! Stage of a policy stack: a policy, and the key and cost that the stage determines for each request.

use crate::RequestFields;
use crate::policies::common::Charged;
use crate::policies::{Common, Key, StagePolicy};

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) gate: Box<dyn StagePolicy>,
    pub(crate) common: Common,
    /// Key and cost that the stage uses for requests without HTTP details.
    pub(crate) plain: Face,
    pub(super) holds_slots: bool,
    pub(super) settles: bool,
}

impl Stage {
    pub(crate) fn new(gate: Box<dyn StagePolicy>, common: Common) -> Self {
        let cost = common.cost.of(None);
        let plain = Face { key: Key::default(), cost, used: common.refund.of(None, cost) };
        Self {
            plain,
            holds_slots: gate.holds_slots(),
            settles: common.charged == Charged::Answer || !common.refund.is_none(),
            gate,
            common,
        }
    }

    pub(super) fn face(&self, details: &RequestFields) -> Face {
        let Common { key, cost, refund, .. } = &self.common;
        let cost = cost.of(Some(details));
        Face { key: key.of(details), cost, used: refund.of(Some(details), cost) }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) key: Key,
    pub(crate) cost: u32,
    /// Actual cost of the request by the refund rule; `None` if no source of the rule has a value for the request.
    pub(crate) used: Option<u32>,
}
