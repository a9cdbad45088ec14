//! What plots are drawn from: who writes a reproduction keeps it, and who draws finds it there.

/// What a plot is drawn from when a scenario asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// One run of each strategy, with its series.
    Runs,
    /// Figures over seeds at the points of an experiment.
    Cells,
    /// The same; columns of the experiment can be chosen instead of what it draws by itself.
    Chosen,
    /// Columns of an experiment: all, or those that are chosen.
    Columns,
    /// When every attempt of one run was sent.
    Calls,
    /// What every client of one run got.
    Clients,
    /// What happened in one run, step by step.
    Steps,
    /// How long the retries of one run waited.
    Waits,
}

impl Basis {
    /// Whether figures over seeds are all that is needed: no run has to be looked into.
    pub const fn is_of_cells(self) -> bool {
        matches!(self, Self::Cells | Self::Chosen | Self::Columns)
    }
}
