//! Strategy whose results are checked against conditions and a baseline.

use results::RunFigures;

pub struct Subject<'a> {
    pub(super) strategy: String,
    pub(super) runs: &'a RunFigures,
}

impl<'a> Subject<'a> {
    /// Creates the subject of a check: a strategy and the figures of its runs. `runs` must contain every figure that the conditions and the
    /// baseline use.
    pub fn new(strategy: &str, runs: &'a RunFigures) -> Self {
        Self { strategy: strategy.to_owned(), runs }
    }

    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    pub fn runs(&self) -> &'a RunFigures {
        self.runs
    }
}
