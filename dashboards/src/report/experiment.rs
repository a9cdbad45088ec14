//! What `loadgen reproduce` writes: experiments as cells with figures over seeds, and claims.

use results::{Axis, Best, ConfigRecord, Written, WrittenSweep};

use super::cell::{Cell, Column};
use super::exhibit::Exhibit;

/// One scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) about: String,
    pub(super) claims: Vec<Claim>,
    pub(super) cells: Vec<Cell>,
    /// What is drawn of the cells where that was chosen.
    pub(super) columns: Vec<Column>,
    /// The plots that it asks for, in its order.
    pub(super) exhibits: Vec<Exhibit>,
    /// What makes it a sweep, if it is one.
    pub(super) sweep: Option<Sweep>,
    /// The first seed.
    pub(super) seed: Option<u64>,
    /// All of it as its file has it; of a sweep, see there.
    pub(super) written: Written,
}

/// What makes a scenario a sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    /// When it began.
    pub(super) started_at: Option<String>,
    /// What was varied, in the order of the command line.
    pub(super) axes: Vec<Axis>,
    /// The same by its keys among a cell's.
    pub(super) keys: Vec<String>,
    /// Of the first strategy at the first point.
    pub(super) config: Option<ConfigRecord>,
    /// Figure that ranks, in words: `makespan`.
    pub(super) by: String,
    /// Best strategy of every situation, on fresh seeds.
    pub(super) best: Vec<Best>,
    /// As its file has it, with the figures that are drawn.
    pub(super) written: WrittenSweep,
}

/// What a document says, and what came out.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) says: String,
    pub(super) published: String,
    pub(super) ours: String,
    pub(super) verdict: String,
    pub(super) as_expected: bool,
    /// Whether the scenario says it, and not its source.
    pub(super) ours_alone: bool,
    /// What was tested, in words, with what the source's words are taken to mean.
    pub(super) condition: String,
    /// What else a reader should know.
    pub(super) note: String,
}

impl Scenario {
    /// One of a reproduction, and what its file has.
    pub(super) fn of(scenario: results::Scenario, written: Written) -> Self {
        let cell = |cell: &results::Cell| {
            Cell::of(&cell.experiment, &cell.label, &cell.strategy, &cell.at, &cell.figures)
        };
        let cells: Vec<Cell> = scenario.cells.iter().map(cell).collect();
        Self {
            name: scenario.name,
            title: scenario.title,
            source: scenario.source,
            about: scenario.about,
            claims: scenario.claims.into_iter().map(claim).collect(),
            exhibits: scenario.plots.into_iter().map(|plot| Exhibit::of(plot, &cells)).collect(),
            cells,
            columns: Vec::new(),
            sweep: None,
            seed: scenario.seed,
            written,
        }
    }
}

fn claim(claim: results::Claim) -> Claim {
    Claim {
        verdict: claim.verdict.words().to_owned(),
        // Null says that there were too few runs to tell.
        as_expected: claim.as_expected.unwrap_or(true),
        ours_alone: claim.ours_alone,
        condition: match (claim.condition, claim.means) {
            (condition, means) if means.is_empty() => condition,
            (condition, means) => format!("{condition} ({means})"),
        },
        says: claim.says,
        published: claim.published,
        ours: claim.ours,
        note: claim.note,
    }
}
