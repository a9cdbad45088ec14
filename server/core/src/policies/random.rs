//! Policy that rejects requests at random.
//!
//! Source: the servers of most papers on retries. The random draw of a rejection is keyed by seed, op and attempt, so that all strategies
//! observe the same draws (paired seeds).

use vocabulary::{Instant, Purpose, parameters};

use crate::policies::{Common, Decision, Meaningless, PolicyConfig, StagePolicy, StageRequest, downcast};
use crate::{Request, ServiceModel};

parameters! {
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct Random = "random" {
        p: f64 = 0.1, "probability that a request is rejected, from 0 to 1", 0.0..=1.0;
    }
    summary = "rejects requests at random";
    rule = "a request is rejected with probability `p`. The draw depends only on seed, op and attempt. \
        Several such policies in a stack use the same draw, so the largest `p` applies. No wait is advised, \
        because the next draw is unknown";
    source = "papers on retries in which servers fail at random";
}

impl PolicyConfig for Random {
    fn gate(&self, _common: &Common) -> Option<Box<dyn StagePolicy>> {
        Some(Box::new(self.clone()))
    }
}

impl Random {
    fn rejects(&self, request: &Request) -> bool {
        request.drawn(Purpose::Rejection) < self.p
    }
}

impl StagePolicy for Random {
    fn reconfigure(&mut self, _at: Instant, other: Box<dyn StagePolicy>, _service: &ServiceModel) {
        if let Some(other) = downcast(other) {
            *self = other;
        }
    }

    fn ask(&mut self, _at: Instant, asked: &StageRequest<'_>, _service: &ServiceModel) -> Decision {
        if self.rejects(asked.request) { Decision::Reject(None) } else { Decision::Pass }
    }

    fn meaningless(&self) -> Option<Meaningless> {
        Some(Meaningless {
            keys: &["key", "missing", "keys", "cost", "refund", "own", "later", "charged"],
            why: "`random` counts no requests",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{RequestId, Step};

    fn request(op: u64, attempt: u32, step: Step) -> Request {
        Request { id: RequestId(0), run: None, seed: 7, op, attempt, step }
    }

    fn share(p: f64, step: Step) -> f64 {
        let random = Random { p };
        let ops = 0..4000;
        let rejected = ops.filter(|op| random.rejects(&request(op / 2, 1 + u32::from(op % 2 == 0), step)));
        rejected.count() as f64 / 4000.0
    }

    #[test]
    fn the_configured_share_is_rejected_reproducibly() {
        for step in [Step::Work, Step::Write { if_match: 0 }] {
            assert!((share(0.0, step), share(1.0, step)) == (0.0, 1.0));
            // Four standard errors.
            assert!((share(0.1, step) - 0.1).abs() < 4.0 * 0.0048, "{}", share(0.1, step));
        }
        let random = Random { p: 0.5 };
        let coin = |step| (0..64).map(|op| random.rejects(&request(op, 1, step))).collect::<Vec<_>>();
        assert_eq!(coin(Step::Work), coin(Step::Read));
        assert_ne!(coin(Step::Read), coin(Step::Write { if_match: 0 }));
    }
}
