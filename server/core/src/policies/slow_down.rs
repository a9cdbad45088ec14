//! Policy with which services take longer while many requests are in service.
//!
//! Source: the asymptotic bounds of closed queueing networks (Lazowska, Zahorjan, Graham, Sevcik: Quantitative System Performance, 1984,
//! chapter 5). The knee is the number of requests in service above which throughput no longer grows. With n requests in service, more than
//! the knee, each request takes n / knee times as long. This is the slowdown with factor 1. With a larger factor, throughput even falls
//! above the knee. Contention and coherency have the same effect in Gunther's universal scalability law.

use vocabulary::{Instant, parameters};

use crate::ServiceModel;
use crate::policies::{Common, Decision, Meaningless, PolicyConfig, StagePolicy, StageRequest, downcast};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct SlowDown = "slow-down" {
        knee: u32 = 50,
            "number of requests in service up to which they do not slow one another down", 1..=1_000_000;
        factor: f64 = 1.0,
            "share by which services take longer when twice the knee is in service", 0.0..=1000.0;
        most: u32 = 100, "maximum factor by which a service takes longer", 1..=1_000_000;
    }
    summary = "rejects no request; above a number of concurrent requests (the knee), each takes longer";
    rule = "if a request is the n-th in service when its service begins, and n > knee, its service takes 1 + \
        factor × (n − knee) / knee times as long, but at most `most` times (in whole thousandths). Services \
        that have begun do not change. With factor=1, throughput stays constant beyond the knee; with a \
        larger factor, it falls";
    source = "Lazowska et al., Quantitative System Performance (1984), chapter 5; Gunther, universal \
        scalability law";
}

impl PolicyConfig for SlowDown {
    fn gate(&self, _common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Box::new(self.clone()))
    }

    fn limits_nothing(&self) -> bool {
        true
    }
}

impl StagePolicy for SlowDown {
    fn reconfigure(&mut self, _at: Instant, other: Box<dyn StagePolicy>, _service: &ServiceModel) {
        if let Some(other) = downcast(other) {
            *self = other;
        }
    }

    fn ask(&mut self, _at: Instant, _asked: &StageRequest<'_>, _service: &ServiceModel) -> Decision {
        Decision::Pass
    }

    fn stretch(&self, in_service: u32) -> u64 {
        let beyond = (u64::from(in_service) + 1).saturating_sub(self.knee.into());
        // The slowdown factor is in thousandths; it is at most a million.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1000, checked when it is read"
        )]
        let factor = (self.factor * 1000.0 + 0.5) as u64;
        (1000 + factor * beyond / u64::from(self.knee)).min(1000 * u64::from(self.most))
    }

    fn meaningless(&self) -> Option<Meaningless> {
        Some(Meaningless {
            keys: &["key", "missing", "keys", "cost", "refund", "own", "later", "charged"],
            why: "`slow-down` rejects no request",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_take_longer_beyond_the_knee_and_no_longer_than_most() {
        let algorithm = SlowDown { knee: 4, factor: 1.0, most: 3 };
        let others = [0, 3, 4, 7, 11, 12, 1000, u32::MAX];
        assert_eq!(
            others.map(|others| algorithm.stretch(others)),
            [1000, 1000, 1250, 2000, 3000, 3000, 3000, 3000]
        );
        let algorithm = SlowDown { factor: 0.5, ..algorithm };
        assert_eq!([4, 7].map(|others| algorithm.stretch(others)), [1125, 1500]);
        let worst = SlowDown { knee: 1, factor: 1000.0, most: 1_000_000 };
        assert_eq!(worst.stretch(u32::MAX), 1_000_000_000);
    }
}
