//! Time that attempts take in excess of the server's calculation, and whether it is large enough to change results.
//!
//! In virtual time an attempt takes exactly the time of server and network. On a real machine, connections, system
//! queues and late timers add to that time. The excess is negligible for a service time of 500 ms, but a tenth of a
//! service time of 5 ms. Slots are then reused more slowly, windows fill, and ops wait.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vocabulary::Instant;

use super::Latencies;

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
}
