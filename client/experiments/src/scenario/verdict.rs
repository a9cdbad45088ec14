//! What claims come to.

use results::ClaimVerdict as Verdict;

use super::claim::{Claim, Expectation};
use super::condition::Condition;

/// The share of runs in which a sentence about one random run must be so to hold partly.
pub(super) const SOME: f64 = 0.05;

/// A claim with its verdict.
pub struct Judged<'a> {
    /// As it is written.
    pub claim: &'a Claim,
    /// What it comes to.
    pub verdict: Verdict,
    /// Our figure with its spread, as it is shown.
    pub ours: String,
    /// What was tested.
    pub condition: Condition,
    /// How it was tested, in words.
    pub by: &'static str,
    /// Our figure in every case that was looked at.
    pub found: Vec<Found>,
}

/// What was found in one case.
pub struct Found {
    /// Which case it is, when there are several.
    pub at: Option<String>,
    /// The figure: the mean, unless the claim says otherwise.
    pub value: f64,
    /// The lowest and the highest of the middle 95 % of runs, where they are what counts.
    pub middle: Option<(f64, f64)>,
    /// The runs that were made.
    pub runs: usize,
    /// The runs in which it is so, where they are what counts.
    pub so_in: Option<usize>,
    /// What this case comes to.
    pub verdict: Verdict,
    /// As it is shown.
    pub(super) text: String,
}

impl Judged<'_> {
    /// Whether the verdict is the one that the scenario expects; `None` when too few runs were made to say.
    pub fn as_expected(&self) -> Option<bool> {
        let expected = match self.claim.expect {
            Expectation::Holds => Verdict::Holds,
            Expectation::HoldsPartly => Verdict::HoldsPartly,
            Expectation::DoesNotHold => Verdict::DoesNotHold,
        };
        // A share between 5 % and a half takes 20 runs to show.
        let too_few_for_a_share = self.claim.expect == Expectation::HoldsPartly
            && matches!(self.found.as_slice(), [one] if one.so_in.is_some() && (one.runs as f64) * SOME < 1.0);
        (self.verdict != Verdict::TooFewRuns && !too_few_for_a_share).then_some(self.verdict == expected)
    }
}

/// What several cases come to together.
pub(super) fn of_all(found: &[Found]) -> Verdict {
    let any = |verdict: Verdict| found.iter().any(|one| one.verdict == verdict);
    let all = |verdict: Verdict| found.iter().all(|one| one.verdict == verdict);
    match () {
        () if any(Verdict::NoFigure) => Verdict::NoFigure,
        () if any(Verdict::TooFewRuns) => Verdict::TooFewRuns,
        () if all(Verdict::Holds) => Verdict::Holds,
        () if all(Verdict::DoesNotHold) => Verdict::DoesNotHold,
        () => Verdict::HoldsPartly,
    }
}

/// What one case comes to that is so or not.
pub(super) fn of_one(so: bool) -> Verdict {
    if so { Verdict::Holds } else { Verdict::DoesNotHold }
}
