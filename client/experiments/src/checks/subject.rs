//! What is checked.

use results::RunFigures;

/// One strategy with what is kept of its runs.
pub struct Subject<'a> {
    pub(super) strategy: String,
    pub(super) runs: &'a RunFigures,
}

impl<'a> Subject<'a> {
    /// The runs of one strategy, of which everything is kept that conditions and baselines ask for.
    pub fn new(strategy: &str, runs: &'a RunFigures) -> Self {
        Self { strategy: strategy.to_owned(), runs }
    }

    /// As typed.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// Its runs.
    pub fn runs(&self) -> &'a RunFigures {
        self.runs
    }
}
