//! Reasons for which a client gives up ops (operations), and the number of given-up ops per reason.

use serde::{Deserialize, Serialize};
use tailback::Status;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    Rejected,
    Failed,
    /// A budget of the strategy refused to send an attempt of the op.
    Shed,
    /// The server had too little free capacity to start the attempt.
    Deferred,
    Deadline,
}

impl GivenUp {
    pub(crate) fn after(status: Status) -> Self {
        match status {
            Status::Rejected | Status::Succeeded => Self::Rejected,
            Status::Failed(_) | Status::Cancelled => Self::Failed,
            Status::Shed => Self::Shed,
            Status::Deferred => Self::Deferred,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct GivenUpCounts {
    pub rejected: u64,
    pub failed: u64,
    pub shed: u64,
    pub deferred: u64,
    pub deadline: u64,
}

impl GivenUpCounts {
    pub(crate) fn count(&mut self, why: GivenUp) {
        *match why {
            GivenUp::Rejected => &mut self.rejected,
            GivenUp::Failed => &mut self.failed,
            GivenUp::Shed => &mut self.shed,
            GivenUp::Deferred => &mut self.deferred,
            GivenUp::Deadline => &mut self.deadline,
        } += 1;
    }
}
