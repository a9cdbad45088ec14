//! `ethernet`: listens before it sends. Whoever finds too little free backs off without having tried.
//!
//! Source: Thain and Livny, "The Ethernet Approach to Grid Computing", HPDC 2003: a client that reads fewer than 1000
//! free file descriptors counts that as a failure. A pass costs nothing; a deferral is a failure for the retry
//! policy but no attempt. Between reading and sending the carrier may be taken: the threshold must leave room for
//! those who are on their way.

use std::time::Duration;

use vocabulary::Parameter;

use crate::error::SpecError;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::{Admit, Gauges, Instant, Limiter, View};

/// Parameters of `ethernet`.
#[derive(Clone, Debug)]
pub(crate) struct Ethernet {
    threshold: u32,
    cost: Duration,
}

impl Default for Ethernet {
    fn default() -> Self {
        Self { threshold: 1, cost: Duration::from_millis(100) }
    }
}

impl PartConfig for Ethernet {
    const NAME: &'static str = "ethernet";
    const KIND: PartKind = PartKind::Limiter;
    const SUMMARY: &'static str = "carrier sense: asks the server what it has free before every attempt";
    const RULE: &'static str = "before every attempt read what the server has free (slots, descriptors); below threshold the op fails \
                                after `cost` without an attempt, and the retry policy decides when it tries again";
    const SOURCE: &'static str = "seed 003; Thain and Livny, HPDC 2003 (threshold 1000 of 7600 descriptors)";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::count("threshold", "what must be free", (0, 1_000_000_000), |config| {
            &mut config.threshold
        }),
        Parameter::duration("cost", "time that a deferral takes", |config| &mut config.cost),
    ];

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Limiter(Box::new(self)))
    }
}

impl Limiter for Ethernet {
    fn poll(&self, _now: Instant, view: &View) -> Admit {
        match view.sensed {
            None => Admit::Sense,
            Some(free) if free >= u64::from(self.threshold) => Admit::Go,
            Some(_) => Admit::Defer(self.cost),
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.phase = Some("listening before sending");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{part, view};

    #[test]
    fn it_asks_first_and_sends_only_when_enough_is_free() {
        let Part::Limiter(ethernet) = part("ethernet:threshold=1000,cost=100ms") else { panic!("a limiter") };
        let admit = |sensed| ethernet.poll(Instant::ORIGIN, &View { sensed, ..view(0, 0) });
        assert_eq!(admit(None), Admit::Sense);
        assert_eq!(admit(Some(1000)), Admit::Go);
        assert_eq!(admit(Some(999)), Admit::Defer(Duration::from_millis(100)));
    }
}
