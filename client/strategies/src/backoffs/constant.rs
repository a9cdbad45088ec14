//! `constant`: the same delay before every retry.
//!
//! Source: the blog post Exploring backoff (its variant CB, with a delay of 5 ticks; scenario `exploring-backoff`).
//! Clients whose attempts fail at the same time also retry at the same time.

use std::time::Duration;

use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::shape::Shape;
use vocabulary::{Configurable, Parameter};

#[derive(Clone, Debug)]
pub(crate) struct Constant {
    delay: Duration,
}

impl Default for Constant {
    fn default() -> Self {
        Self { delay: Duration::from_secs(1) }
    }
}

impl Configurable for Constant {
    const NAME: &'static str = "constant";
    const SUMMARY: &'static str = "the same delay before every retry";
    const RULE: &'static str = "before each retry, the client waits for `delay`";
    const SOURCE: &'static str = "scenario exploring-backoff, where it is called CB";
    const PARAMETERS: &'static [Parameter<Self>] =
        &[Parameter::duration("delay", "wait before every retry", |config| &mut config.delay)];
}

impl PartConfig for Constant {
    const KIND: PartKind = PartKind::RetryPolicy;

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::back_off(Shape { base: self.delay, ..Shape::default() }))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::delays_ms;

    #[test]
    fn every_retry_waits_the_same() {
        assert_eq!(delays_ms::<3>("constant", 0.5), [1000, 1000, 1000]);
        assert_eq!(delays_ms::<3>("constant:delay=5ms", 0.9), [5, 5, 5]);
    }
}
