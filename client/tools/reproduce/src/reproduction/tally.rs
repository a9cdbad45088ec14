//! Numbers of claims by verdict, such as claims that hold, hold partly or do not hold.

use results::{ClaimVerdict, Tallies};

use crate::scenario::Judged;

/// Numbers of claims by verdict. Claims of the source and claims that only the scenario makes are counted separately.
#[derive(Debug, Default)]
pub struct Tally {
    pub source: Counts,
    pub ours: Counts,
}

#[derive(Debug, Default)]
pub struct Counts {
    pub tally: results::Tally,
    /// Claims whose verdict is not the one that their scenario expects.
    pub unmet: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, judged: &[Judged<'_>]) {
        for one in judged {
            let Counts { tally, unmet } = if one.claim.ours { &mut self.ours } else { &mut self.source };
            tally.claims += 1;
            *match one.verdict {
                ClaimVerdict::Holds => &mut tally.holds,
                ClaimVerdict::HoldsPartly => &mut tally.holds_partly,
                ClaimVerdict::DoesNotHold => &mut tally.does_not_hold,
                ClaimVerdict::TooFewRuns => &mut tally.too_few_runs,
                ClaimVerdict::NoFigure => &mut tally.no_figure,
            } += 1;
            match one.as_expected() {
                Some(true) => tally.as_expected += 1,
                Some(false) => {
                    tally.not_as_expected += 1;
                    unmet.push(one.claim.says.clone());
                }
                None => {}
            }
        }
    }

    /// Returns true if every claim has the verdict that its scenario expects. Claims with too few runs for a verdict are ignored.
    pub fn is_as_expected(&self) -> bool {
        self.source.unmet.is_empty() && self.ours.unmet.is_empty()
    }

    pub fn record(&self) -> Tallies {
        Tallies { source: self.source.tally, ours: self.ours.tally }
    }
}
