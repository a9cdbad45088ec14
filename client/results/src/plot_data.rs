//! Kinds of data from which plots are drawn. For each plot, a reproduction stores the kind of data that the plot needs,
//! and the drawing code reads this data.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The plot is drawn from one run of each strategy, with its time series.
    Runs,
    Cells,
    /// Statistics of figures over seeds. A scenario can choose columns that replace the plot's own columns.
    Chosen,
    /// The plot is drawn from columns of an experiment. If the scenario chooses columns, the plot has only these columns. If it chooses
    /// none, the plot has all columns.
    Columns,
    /// The plot is drawn from the send times of all attempts of one run.
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
