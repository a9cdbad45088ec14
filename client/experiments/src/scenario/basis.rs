//! What plots are drawn from.

/// A plot that there is, by name.
#[derive(Clone, Copy, Debug)]
pub struct Drawable {
    /// As scenarios ask for it.
    pub name: &'static str,
    /// What it is drawn from.
    pub basis: Basis,
}

/// What a plot is drawn from.
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
    /// Whether it is drawn from figures over seeds, and not from runs.
    pub const fn is_of_cells(self) -> bool {
        matches!(self, Self::Cells | Self::Chosen | Self::Columns)
    }
}
