//! What claims come to.

use super::claim::{Claim, Expectation};
use super::condition::Condition;

/// The share of runs in which a sentence about one random run must be so to hold partly.
pub(super) const SOME: f64 = 0.05;

/// What a claim comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everywhere that it was looked at.
    Holds,
    /// At some points, or in some runs, only.
    HoldsPartly,
    /// Nowhere.
    DoesNotHold,
    /// No number that the source prints would lie outside of so few runs.
    TooFewRuns,
    /// The runs do not have the figure: nothing can be said.
    NoFigure,
}

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

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsPartly => "holds partly",
            Self::DoesNotHold => "does not hold",
            Self::TooFewRuns => "too few runs",
            Self::NoFigure => "no figure",
        }
    }

    /// Of several cases together.
    pub(super) fn of_all(found: &[Found]) -> Self {
        let any = |verdict: Self| found.iter().any(|one| one.verdict == verdict);
        let all = |verdict: Self| found.iter().all(|one| one.verdict == verdict);
        match () {
            () if any(Self::NoFigure) => Self::NoFigure,
            () if any(Self::TooFewRuns) => Self::TooFewRuns,
            () if all(Self::Holds) => Self::Holds,
            () if all(Self::DoesNotHold) => Self::DoesNotHold,
            () => Self::HoldsPartly,
        }
    }

    pub(super) fn of_one(so: bool) -> Self {
        if so { Self::Holds } else { Self::DoesNotHold }
    }
}
