//! Comparison of the instants of retries with the server's advice.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::Instant;

use super::tally::Tally;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advice {
    retries: u64,
    /// Times by which retries were sent too early. Only retries that were sent earlier than the server advised are
    /// recorded.
    early: Tally,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct AdviceFigures {
    pub retries: u64,
    pub broken: u64,
    pub early_ms: EarlyFigures,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct EarlyFigures {
    pub mean: Option<f64>,
    pub max: Option<f64>,
}

impl Advice {
    pub(super) fn on_retry(&mut self, sent_at: Instant, not_before: Instant) {
        self.retries += 1;
        let early = not_before.since(sent_at);
        if early > Duration::ZERO {
            self.early.record(u64::try_from(early.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    pub(super) fn figures(&self) -> AdviceFigures {
        let (mean, max) = self.early.mean_and_max_ms().unzip();
        AdviceFigures {
            retries: self.retries,
            broken: self.early.count,
            early_ms: EarlyFigures { mean, max },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_at_or_after_the_advised_instant_break_no_advice() {
        let at = Instant::from_millis;
        let mut advice = Advice::default();
        assert_eq!(advice.figures(), AdviceFigures::default());
        for sent in [1000, 1500, 900, 700] {
            advice.on_retry(at(sent), at(1000));
        }
        let early_ms = EarlyFigures { mean: Some(200.0), max: Some(300.0) };
        assert_eq!(advice.figures(), AdviceFigures { retries: 4, broken: 2, early_ms });
    }
}
