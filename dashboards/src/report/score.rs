//! What strategies are ranked by.

use super::number::number;
use super::run::Run;
use super::strategy::Strategy;

/// The figure that the best has least of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Score {
    #[default]
    Makespan,
    Attempts,
    /// Of ops, by its key among the latencies of a result.
    Latency(&'static str),
}

/// Latencies by their keys, and what they are called.
const LATENCIES: [(&str, &str); 5] = [
    ("mean", "mean op latency"),
    ("p50", "median op latency"),
    ("p95", "95th percentile of op latency"),
    ("p99", "99th percentile of op latency"),
    ("max", "longest op latency"),
];

impl Score {
    /// The one that stands at this path of a result; none when strategies are not ranked by it here.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            "makespan_s" => Some(Self::Makespan),
            "attempts.total" => Some(Self::Attempts),
            path => {
                let key = path.strip_prefix("op_latency_ms.")?;
                LATENCIES.iter().find(|(known, _)| *known == key).map(|(known, _)| Self::Latency(known))
            }
        }
    }

    /// Its place in the result of a run.
    pub(super) fn path(self) -> String {
        match self {
            Self::Makespan => "makespan_s".to_owned(),
            Self::Attempts => "attempts.total".to_owned(),
            Self::Latency(key) => format!("op_latency_ms.{key}"),
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Makespan => "makespan",
            Self::Attempts => "number of attempts",
            Self::Latency(key) => {
                LATENCIES.iter().find(|(known, _)| *known == key).map_or("op latency", |(_, name)| name)
            }
        }
    }

    /// A run's figure.
    pub(super) fn of(self, run: &Run) -> Option<f64> {
        match self {
            Self::Makespan => run.makespan_s,
            Self::Attempts => Some(run.attempts),
            Self::Latency(_) => results::Score::at(&self.path())?.of(run.result.as_deref()?),
        }
    }

    /// The mean over runs, with its unit.
    pub(super) fn mean_text(self, strategy: &Strategy) -> String {
        let values = strategy.values(|run| self.of(run));
        if values.is_empty() {
            return "–".to_owned();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        match self {
            Self::Makespan => format!("{} s", number(mean)),
            Self::Attempts => format!("{} attempts", number(mean)),
            Self::Latency(_) => format!("{} s", number(mean / 1e3)),
        }
    }

    /// The geometric mean over runs: what ratios are of, as ranks are.
    pub(super) fn geometric_mean(self, strategy: &Strategy) -> f64 {
        results::geometric_mean(&strategy.values(|run| self.of(run).filter(|value| *value > 0.0)))
    }
}
