//! Verdict on a claim: whether it holds, holds partly or does not hold in the runs of its scenario.

use results::ClaimVerdict;

use crate::scenario::{Claim, Condition, Expectation};

/// Minimum share of runs for a claim to hold partly. It applies to claims about one random run, and counts the runs in which the claim's
/// sentence is true.
pub(super) const SOME: f64 = 0.05;

pub struct Judged<'a> {
    pub claim: &'a Claim,
    pub verdict: ClaimVerdict,
    pub ours: String,
    pub condition: Condition,
    /// Name of the method that led to the verdict on a claim, such as "the mean over runs".
    pub by: &'static str,
    pub found: Vec<Found>,
}

pub struct Found {
    pub at: Option<String>,
    /// Value of the figure. It is the mean over runs, unless the claim selects another statistic.
    pub value: f64,
    /// Lowest and highest value of the middle 95 % of runs; `None` if the verdict does not depend on this range.
    pub middle: Option<(f64, f64)>,
    pub runs: usize,
    /// Number of runs in which the claim's sentence is true; `None` if the verdict does not depend on this number.
    pub so_in: Option<usize>,
    pub verdict: ClaimVerdict,
    pub(super) text: String,
}

impl Judged<'_> {
    /// Returns true if the verdict on a claim is the one that the scenario file expects. Returns `None` if there are too few runs to
    /// decide.
    pub fn as_expected(&self) -> Option<bool> {
        // A claim holds partly if its sentence is true in at least 5 % and at most half of the runs. With fewer than 20 runs, the smallest
        // observable share is above 5 %.
        let too_few_for_a_share = self.claim.expect == Expectation::HoldsPartly
            && matches!(self.found.as_slice(), [one] if one.so_in.is_some() && (one.runs as f64) * SOME < 1.0);
        (self.verdict != ClaimVerdict::TooFewRuns && !too_few_for_a_share)
            .then_some(self.verdict == self.claim.expect.verdict())
    }
}

pub(super) fn of_all(found: &[Found]) -> ClaimVerdict {
    let any = |verdict: ClaimVerdict| found.iter().any(|one| one.verdict == verdict);
    let all = |verdict: ClaimVerdict| found.iter().all(|one| one.verdict == verdict);
    match () {
        () if any(ClaimVerdict::NoFigure) => ClaimVerdict::NoFigure,
        () if any(ClaimVerdict::TooFewRuns) => ClaimVerdict::TooFewRuns,
        () if all(ClaimVerdict::Holds) => ClaimVerdict::Holds,
        () if all(ClaimVerdict::DoesNotHold) => ClaimVerdict::DoesNotHold,
        () => ClaimVerdict::HoldsPartly,
    }
}

pub(super) fn of_one(so: bool) -> ClaimVerdict {
    if so { ClaimVerdict::Holds } else { ClaimVerdict::DoesNotHold }
}
