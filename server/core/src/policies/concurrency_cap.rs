//! The server's own concurrency cap. Requests that arrive while all slots are busy are rejected at once instead of queued.
//!
//! Source: the article "Improve on exponential backoff" (Sync Musings), called seed 000 in this project. A rejection itself takes a little
//! time. The rejected request may hold a slot during this time, even if more slots than the cap are then busy.

use vocabulary::parameters;

use crate::policies::concurrency::Concurrency;
use crate::policies::{Common, PolicyConfig, StagePolicy};

parameters! {
    /// Configuration of the policy `concurrency-cap`. The policy has no parameters, because the cap and the times are settings of the server.
    #[derive(Clone, Debug)]
    pub(crate) struct CapConfig = "concurrency-cap" {}
    summary = "a request that arrives while all slots are busy is rejected";
    rule = "a request is accepted while fewer than `max_busy` slots are busy; `caps` changes this number \
        over time. A request holds its slot for `service_time`. A rejection takes `reject_time`, and with \
        `rejects_occupy` it holds a slot, too";
    source = "Syncing musings, Improve on exponential backoff, 2019 (scenario sync-musings)";
}

impl PolicyConfig for CapConfig {
    fn gate(&self, common: &Common) -> Option<Box<dyn StagePolicy>> {
        Concurrency::default().gate(common)
    }

    fn is_plain_cap(&self) -> bool {
        true
    }
}
