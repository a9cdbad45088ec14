//! Stage of a policy stack: a policy, and the key and cost that the stage determines for each request.

use vocabulary::Instant;

use crate::policies::common::Charged;
use crate::policies::{Common, Key, StagePolicy};
use crate::{LimitStatus, RequestFields, ServiceModel};

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

    /// Returns the status of the limit for a key. `None` if the stage has no limit, or does not limit this key.
    pub(super) fn limit_status(
        &mut self,
        at: Instant,
        key: Key,
        service: &ServiceModel,
    ) -> Option<LimitStatus> {
        if self.common.exempts(key) { None } else { self.gate.limit_status(at, key, service) }
    }

    pub(super) fn face(&self, details: &RequestFields) -> Face {
        let Common { key, missing, cost, refund, .. } = &self.common;
        let cost = cost.of(Some(details));
        Face { key: key.of(details, *missing), cost, used: refund.of(Some(details), cost) }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) key: Key,
    pub(crate) cost: u32,
    /// Actual cost of the request by the refund rule; `None` if no source of the rule has a value for the request.
    pub(crate) used: Option<u32>,
}
