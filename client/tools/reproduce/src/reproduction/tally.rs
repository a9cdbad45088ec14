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
    verdicts: Vec<ClaimVerdict>,
    pub as_expected: usize,
    pub unmet: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, judged: &[Judged<'_>]) {
        for one in judged {
            let counts = if one.claim.ours { &mut self.ours } else { &mut self.source };
            counts.verdicts.push(one.verdict);
            match one.as_expected() {
                Some(true) => counts.as_expected += 1,
                Some(false) => counts.unmet.push(one.claim.says.clone()),
                None => {}
            }
        }
    }

    /// Returns true if every claim has the verdict that its scenario expects. Claims with too few runs for a verdict are ignored.
    pub fn is_as_expected(&self) -> bool {
        self.source.unmet.is_empty() && self.ours.unmet.is_empty()
    }

    pub fn record(&self) -> Tallies {
        Tallies { source: self.source.record(), ours: self.ours.record() }
    }
}

impl Counts {
    pub fn claims(&self) -> usize {
        self.verdicts.len()
    }

    pub fn with(&self, verdict: ClaimVerdict) -> usize {
        self.verdicts.iter().filter(|one| **one == verdict).count()
    }

    fn record(&self) -> results::Tally {
        let with = |verdict| self.with(verdict) as u64;
        results::Tally {
            claims: self.claims() as u64,
            holds: with(ClaimVerdict::Holds),
            holds_partly: with(ClaimVerdict::HoldsPartly),
            does_not_hold: with(ClaimVerdict::DoesNotHold),
            too_few_runs: with(ClaimVerdict::TooFewRuns),
            no_figure: with(ClaimVerdict::NoFigure),
            as_expected: self.as_expected as u64,
            not_as_expected: self.unmet.len() as u64,
        }
    }
}
