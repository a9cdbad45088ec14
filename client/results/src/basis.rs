//! Data that plots are drawn from: the writer of a reproduction keeps it, and the drawing code finds it there.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// One run of each strategy, with its series.
    Runs,
    Cells,
    /// Figures over seeds, of columns that can be chosen instead of the plot's own ones.
    Chosen,
    /// Columns of an experiment: all, or the chosen ones.
    Columns,
    /// Send times of all attempts of one run.
    Calls,
    Clients,
    Steps,
    Waits,
}

impl Basis {
    /// Returns true if figures over seeds suffice, so that no single run is examined.
    pub const fn is_of_cells(self) -> bool {
        matches!(self, Self::Cells | Self::Chosen | Self::Columns)
    }
}
