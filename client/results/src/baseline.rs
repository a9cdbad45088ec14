//! Baselines: figures of runs that `--save-baseline` writes to a file. `--baseline` compares later runs with them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Conditions, Figure, Malformed, RunFigures, read};

/// Version of the format of baseline files. It is increased when baselines can no longer be read as before.
const VERSION: u32 = 1;
const KIND: &str = "tailback-baseline";

/// Figures that are compared with a baseline, in the order in which they are printed. Figures that can be computed from others are left
/// out.
const JUDGED: &[&str] = &[
    "ops.succeeded",
    "attempts.total",
    "makespan_s",
    "op_latency_ms.mean",
    "op_latency_ms.p50",
    "op_latency_ms.p95",
    "op_latency_ms.p99",
    "late_share",
    // The figure `done_share` is the share of ops that succeeded within the time limit or, without a limit, that succeeded at all.
    "done_share",
    "advice.broken",
    "wasted_server_s",
    "server_work_per_success_ms",
    "window.convergence_s",
    "window.overshoot",
    "fairness.jain",
];

#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    kind: String,
    version: u32,
    /// Settings under which a baseline's runs were made, such as workload and server. Later runs can be compared with the baseline only if
    /// their settings are equal. The strategy does not belong to these settings.
    #[cfg_attr(feature = "schema", schemars(with = "Conditions"))]
    pub experiment: Value,
    /// Figures of each strategy. The outer key is the strategy as given on the command line, and the inner key is the path of the figure.
    /// Each figure has one value per run.
    pub strategies: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>>,
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    version: Option<u64>,
}

impl Baseline {
    /// Creates a baseline with the figures of every run of each strategy. The figures are the ones that [`judged`] returns. Each
    /// `RunFigures` must contain all of them.
    pub fn new<'a>(
        experiment: &Conditions,
        strategies: impl IntoIterator<Item = (&'a str, &'a RunFigures)>,
    ) -> Self {
        let figures = |runs: &RunFigures| {
            judged().map(|figure| (figure.path.to_owned(), runs.of_each(figure.path))).collect()
        };
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            experiment: experiment.written(),
            strategies: strategies.into_iter().map(|(name, runs)| (name.to_owned(), figures(runs))).collect(),
        }
    }

    pub fn read(text: &str) -> Result<Self, Malformed> {
        let no_baseline = || Malformed::at("", "it is not a baseline; make one with `--save-baseline`");
        let head: Head = read(text)
            .map_err(|error| if error.place.starts_with("line") { error } else { no_baseline() })?;
        if head.kind.as_deref() != Some(KIND) {
            return Err(no_baseline());
        }
        match head.version {
            Some(version) if version > u64::from(VERSION) => Err(Malformed::at(
                "",
                format!(
                    "the baseline has version {version}, and this program supports versions up to {VERSION}; use a newer program"
                ),
            )),
            _ => read(text),
        }
    }
}

pub fn judged() -> impl Iterator<Item = &'static Figure> {
    JUDGED.iter().filter_map(|path| Figure::find(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Direction;

    #[test]
    fn everything_judged_is_a_figure_that_can_be_better() {
        assert_eq!(judged().count(), JUDGED.len());
        assert!(judged().all(|figure| figure.better != Direction::Neutral));
    }

    #[test]
    fn invalid_baselines_are_refused() {
        let refusal = |text: &str| Baseline::read(text).unwrap_err().to_string();
        assert!(refusal("{\"kind\": \"other\"}").starts_with("it is not a baseline"));
        assert!(refusal("{\"kind\": \"tailback-baseline\", \"version\": 9}").contains("has version 9"));
        assert!(refusal("nonsense").starts_with("line 1"));
    }
}
