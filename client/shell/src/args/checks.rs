//! Flags for CI: conditions that fail a run, and baselines.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use experiments::checks::{Condition, Share};

/// Flags for checks of results, such as `--fail-if`, which can make a completed run fail.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// Exit with 99 if this holds, such as `amplification > 1.2`; repeatable.
    ///
    /// A condition is `PATH OPERATOR VALUE`. PATH is the path of any figure in the result JSON (see docs/figures.md). OPERATOR is one of
    /// `>`, `>=`, `<`, `<=`, `==`, `!=`. VALUE is a number, a percentage (`90%`), `true` or `false`. With several runs, the mean of the
    /// figure is checked, or the statistic that is appended to the path: `op_latency_ms.p99.max`, `makespan_s.p95` (mean, sd, min, p5, p25,
    /// p50, p75, p95, max). Each strategy must pass. `PATH of STRATEGY` checks only one strategy: `amplification of aimd > 1.2`. A missing
    /// figure also fails the check, except `stalled_at_s`, which only a stalled run has.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,

    /// Save the figures of all runs as a baseline for later runs, in `tailback-baselines/NAME.json` or at a path.
    #[arg(long, value_name = "NAME")]
    pub save_baseline: Option<BaselineName>,

    /// Compare every figure with a saved baseline; exit with 99 if any is worse.
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<BaselineName>,

    /// Write the results of `--fail-if` and `--baseline` to a `JUnit` XML file, for CI systems.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Difference from the baseline up to which a figure counts as unchanged.
    #[arg(long, value_name = "SHARE", default_value = "5%", requires = "baseline")]
    pub noise: Share,
}

impl CheckArgs {
    pub fn files(&self) -> Vec<&Path> {
        let baseline = self.save_baseline.as_ref().map(|name| name.0.as_path());
        baseline.into_iter().chain(self.junit.as_deref()).collect()
    }

    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--fail-if", !self.fail_if.is_empty()),
            ("--save-baseline", self.save_baseline.is_some()),
            ("--baseline", self.baseline.is_some()),
            ("--junit", self.junit.is_some()),
        ];
        given.into_iter().find_map(|(flag, given)| given.then_some(flag))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineName(pub PathBuf);

/// Directory of the baselines that are given by name and not by path.
const BASELINES: &str = "tailback-baselines";

impl FromStr for BaselineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() || text.chars().all(|letter| letter == '.') {
            return Err("it must have a name, such as `main`".to_owned());
        }
        let typed = PathBuf::from(text);
        let is_path = text.contains(['/', '\\']) || typed.extension().is_some_and(|end| end == "json");
        Ok(Self(if is_path { typed } else { PathBuf::from(BASELINES).join(format!("{text}.json")) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_a_name_or_a_path() {
        let path = |text: &str| text.parse::<BaselineName>().map(|name| name.0);
        assert_eq!(path("main"), Ok(PathBuf::from("tailback-baselines/main.json")));
        assert_eq!(path("ci/main.json"), Ok(PathBuf::from("ci/main.json")));
        assert!(path("..").is_err() && path(" ").is_err());
    }
}
