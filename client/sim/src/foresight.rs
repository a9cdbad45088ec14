//! Perfect knowledge of a mockserver, for the oracle and for the optimum.

use mockserver_core::Ideal;
use tailback::{Foreknowledge, Instant, Plan};

/// The server core's ideal plan, as strategies are given it.
#[derive(Debug)]
pub struct Foresight(pub Ideal);

impl Foreknowledge for Foresight {
    fn plan(&mut self, op: u64, arrived: Instant) -> Plan {
        let plan = self.0.plan(op, arrived);
        Plan { send_at: plan.send_at, finish: plan.finish }
    }
}
