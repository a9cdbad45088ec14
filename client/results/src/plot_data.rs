//! Kinds of data for plots. The writer of a reproduction stores the data of a plot's kind, and the drawing code reads
//! it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// One run of each strategy, with its time series.
    Runs,
    Cells,
    /// Figures over seeds. A scenario can choose columns to replace the plot's own columns.
    Chosen,
    /// Columns of an experiment: all of them, or the ones that the scenario chooses.
    Columns,
    /// Send times of all attempts of one run.
    Calls,
    Clients,
    Steps,
    Waits,
}

impl Basis {
    /// Returns true if the plot needs only figures over seeds, and no recording of a single run.
    pub const fn is_of_cells(self) -> bool {
        matches!(self, Self::Cells | Self::Chosen | Self::Columns)
    }
}
