//! `uniform`: a random delay from the same range before every retry.
//!
//! Source: seed 002 (URB, 0 to 5 ticks).

use std::time::Duration;

use vocabulary::{Rng, unit};

use crate::delay::fraction;
use crate::error::SpecError;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::{FailedOp, Instant, Retry, RetryPolicy, RetryState};
use vocabulary::Parameter;

/// Parameters of `uniform`.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    max: Duration,
}

impl Default for Uniform {
    fn default() -> Self {
        Self { max: Duration::from_secs(1) }
    }
}

impl PartConfig for Uniform {
    const NAME: &'static str = "uniform";
    const KIND: PartKind = PartKind::RetryPolicy;
    const SUMMARY: &'static str = "a random delay from one range before every retry";
    const RULE: &'static str = "before retry n wait U(0, max)";
    const SOURCE: &'static str = "seed 002 (URB)";
    const PARAMETERS: &'static [Parameter<Self>] =
        &[Parameter::duration("max", "longest wait before a retry", |config| &mut config.max)];

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::RetryPolicy(Box::new(self)))
    }
}

impl RetryPolicy for Uniform {
    fn on_failure(
        &self,
        _now: Instant,
        _failed: &FailedOp,
        _state: &mut RetryState,
        rng: &mut dyn Rng,
    ) -> Retry {
        Retry::After(fraction(self.max, unit(rng)))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::delays_ms;

    #[test]
    fn the_draw_is_scaled_to_the_range_whatever_the_retry() {
        assert_eq!(delays_ms::<2>("uniform", 0.0), [0, 0]);
        assert_eq!(delays_ms::<2>("uniform", 0.5), [500, 500]);
        assert_eq!(delays_ms::<2>("uniform:max=5s", 0.999_999), [4999, 4999]);
    }
}
