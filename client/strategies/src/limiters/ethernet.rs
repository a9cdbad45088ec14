//! `ethernet`: carrier sense. An attempt starts only if the server has enough free capacity. Otherwise its op backs off
//! without an attempt.
//!
//! Source: Thain and Livny, "The Ethernet Approach to Grid Computing", HPDC 2003: if fewer than 1000 file descriptors
//! are free, the client counts that as a failure.
//!
//! If the check finds enough free capacity, it costs no time. If not, the attempt is deferred: this counts as a failure
//! for the retry policy, but not as an attempt. Without network delay, the server checks and starts an attempt in one
//! step, so no other attempt can take the free capacity in between. With a network delay, the attempt starts that delay
//! after the check. So the threshold must leave room for attempts that have passed the check but have not arrived yet.

use std::time::Duration;

use vocabulary::parameters;

use crate::part_config::part;
use crate::{Admit, CarrierSense, Gauges, Instant, Limiter, LimiterView};

/// Name of the limiter that has carrier sense: it checks the server's free capacity before it sends. A hedger cannot be
/// combined with this limiter.
pub const ETHERNET: &str = "ethernet";

parameters! {
    pub(crate) struct Ethernet = ETHERNET {
        threshold: u32 = 1,
            "number of slots or descriptors that must be free on the server", 0..=1_000_000_000;
        cost: Duration = Duration::from_millis(100),
            "time after which an op fails if its attempt could not start";
    }
    summary = "carrier sense: attempts start only if the server has free capacity";
    rule = "an attempt starts only if the server has at least `threshold` free slots or descriptors. \
        Otherwise, the op fails after the time `cost` without an attempt, and the retry policy decides when \
        it tries again";
    source = "Thain and Livny, HPDC 2003 (scenario ethernet, where threshold is 1000 of 7600 descriptors)";
}

part!(Ethernet: Limiter, |config, _| config);

impl Limiter for Ethernet {
    fn poll(&self, _now: Instant, _view: &LimiterView) -> Admit {
        Admit::GoIfFree(CarrierSense { min_free: self.threshold, cost: self.cost })
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.phase = Some("checking free capacity before sending");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Part;
    use crate::testing::{part, view};

    #[test]
    fn every_attempt_starts_only_if_the_threshold_is_free() {
        let Part::Limiter(ethernet) = part("ethernet:threshold=1000,cost=100ms") else { panic!("a limiter") };
        let carrier = CarrierSense { min_free: 1000, cost: Duration::from_millis(100) };
        assert_eq!(ethernet.poll(Instant::ORIGIN, &view(0, 0)), Admit::GoIfFree(carrier));
    }
}
