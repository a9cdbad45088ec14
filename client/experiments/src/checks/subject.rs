//! What is checked.

use results::RunResult;

/// One strategy with its runs.
pub struct Subject {
    pub(super) strategy: String,
    pub(super) runs: Vec<RunResult>,
}

impl Subject {
    /// The runs of one strategy; their series are not kept.
    pub fn new<'a>(strategy: &str, runs: impl IntoIterator<Item = &'a RunResult>) -> Self {
        let lean = |run: &RunResult| RunResult { series: Vec::new(), ..run.clone() };
        Self { strategy: strategy.to_owned(), runs: runs.into_iter().map(lean).collect() }
    }

    /// As typed.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// The first of its runs.
    pub fn first_run(&self) -> Option<&RunResult> {
        self.runs.first()
    }

    /// All of them.
    pub fn runs(&self) -> &[RunResult] {
        &self.runs
    }
}
