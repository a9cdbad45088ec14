//! Situation with its verdict and findings.

use serde::Serialize;

use crate::observation::Observation;
use crate::rule::Finding;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SituationVerdict"))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Failed,
    Warned,
    // The situation has findings, and the user accepts all of them.
    Allowed,
    Passed,
    Skipped,
}

#[derive(Clone, Debug)]
pub struct JudgedSituation {
    pub name: String,
    pub title: String,
    pub why: String,
    pub verdict: Verdict,
    pub findings: Vec<Finding>,
    /// Attempts, delays and outcome of a situation that passed, or the reason why it was skipped.
    pub note: String,
    pub observation: Observation,
}
