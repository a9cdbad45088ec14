//! Counts of a run's ops (client operations) and of their attempts, by outcome such as succeeded or rejected.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tailback::Status;
use vocabulary::{Instant, whole_nanos};

use super::{Latencies, LatencySums};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts {
    pub arrived: u64,
    pub succeeded: u64,
    pub given_up: u64,
    /// Number of times that an op was deferred: the server did not start its attempt, because too few slots were free.
    pub deferred: u64,
    /// Number of ops that were given up after a failure, except those ended by their deadline.
    pub failed: u64,
    /// Number of given-up ops whose last attempt was refused permanently.
    pub failed_for_good: u64,
}

impl OpCounts {
    pub const fn unfinished(&self) -> u64 {
        self.arrived - self.succeeded - self.given_up
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct AttemptCounts {
    pub total: u64,
    #[serde(default)]
    pub succeeded: u64,
    #[serde(default)]
    pub rejected: u64,
    #[serde(default)]
    pub failed: u64,
    #[serde(default)]
    pub cancelled: u64,
    #[serde(default)]
    pub shed: u64,
    #[serde(default)]
    pub by_gateway: u64,
    #[serde(default)]
    pub duplicates: u64,
    #[serde(default)]
    pub after_final: u64,
    /// Number of attempts that were withdrawn or timed out while they waited for a connection. They are not part of `total`.
    #[serde(default)]
    pub unsent: u64,
}

/// Reasons for which a client gives up ops (operations), and the number of given-up ops per reason.
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

// Time that attempts take in excess of the server's calculation, and whether it is large enough to change results.
//
// In virtual time an attempt takes exactly the time of server and network. On a real machine, connections, system
// queues and late timers add to that time. The excess is negligible for a service time of 500 ms, but a tenth of a
// service time of 5 ms. Slots are then reused more slowly, windows fill, and ops wait.

/// Maximum excess time of attempts that is tolerable, as a share of the mean service time. A larger excess changes results by more than
/// different seeds do. At this share, makespans change by a few per cent. Op latencies change by far more, because they consist mostly of
/// waiting.
pub const TOLERABLE_EXCESS: f64 = 0.03;

const FEWEST: u64 = 100;

#[derive(Clone, Debug, Default)]
pub struct Excess {
    latencies: Latencies,
    mean_service: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct ExcessFigures {
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub of_service: Option<f64>,
}

impl Excess {
    pub(crate) fn new(mean_service: Option<Duration>) -> Self {
        Self { mean_service: mean_service.filter(|mean| !mean.is_zero()), ..Self::default() }
    }

    pub(crate) fn record_between(&mut self, due: Instant, at: Instant) {
        self.latencies.record_between(due, at);
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.latencies.copy_from(&other.latencies);
        self.mean_service = other.mean_service;
    }

    pub fn figures(&self) -> ExcessFigures {
        let figures = self.latencies.figures();
        let of_service =
            self.mean_service.and_then(|service| Some(figures.mean? / (service.as_secs_f64() * 1e3)));
        ExcessFigures { mean: figures.mean, p50: figures.p50, p99: figures.p99, of_service }
    }

    pub fn intolerable(&self) -> Option<f64> {
        let enough = self.latencies.count() >= FEWEST;
        self.figures().of_service.filter(|share| enough && *share > TOLERABLE_EXCESS)
    }
}

/// Comparison of the instants of retries with the server's advice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advice {
    retries: u64,
    /// Times by which retries were sent too early. Only retries that were sent earlier than the server advised are
    /// recorded.
    early: LatencySums,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, expecting = "an object")]
pub struct AdviceFigures {
    pub retries: u64,
    pub broken: u64,
    pub early_ms: EarlyFigures,
    pub early_shared: u64,
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
            self.early.record(whole_nanos(early), 1);
        }
    }

    pub(super) fn figures(&self) -> AdviceFigures {
        let (mean, max) = self.early.mean_and_max_ms().unzip();
        AdviceFigures {
            retries: self.retries,
            broken: self.early.count,
            early_ms: EarlyFigures { mean, max },
            early_shared: 0,
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn excess(service_ms: u64, each_us: u64, count: u64) -> Excess {
        let mut excess = Excess::new(Some(Duration::from_millis(service_ms)));
        for _ in 0..count {
            let due = Instant::from_millis(7);
            excess.record_between(due, due + Duration::from_micros(each_us));
        }
        excess
    }

    #[test]
    fn half_a_millisecond_is_excessive_for_5_ms_but_not_for_500() {
        let share = excess(5, 500, 100).intolerable().unwrap();
        assert!((share - 0.1).abs() < 1e-3, "{share}");
        assert_eq!(excess(500, 500, 100).intolerable(), None);
        let figures = excess(500, 500, 100).figures();
        assert!((figures.of_service.unwrap() - 0.001).abs() < 1e-5, "{figures:?}");
    }

    #[test]
    fn a_few_answers_or_no_service_time_are_no_reason() {
        assert_eq!(excess(5, 500, 99).intolerable(), None);
        assert_eq!(excess(0, 500, 100).intolerable(), None);
        assert_eq!(Excess::default().figures(), ExcessFigures::default());
    }

    #[test]
    fn retries_at_or_after_the_advised_instant_break_no_advice() {
        let at = Instant::from_millis;
        let mut advice = Advice::default();
        assert_eq!(advice.figures(), AdviceFigures::default());
        for sent in [1000, 1500, 900, 700] {
            advice.on_retry(at(sent), at(1000));
        }
        let early_ms = EarlyFigures { mean: Some(200.0), max: Some(300.0) };
        assert_eq!(advice.figures(), AdviceFigures { retries: 4, broken: 2, early_ms, early_shared: 0 });
    }
}
