//! Lanes of strategies that run in blocks: what they show, and who fills them.

use dashboards::{Column, LanesHeader, Unit};
use experiments::runs::blocks::Blocks;
use experiments::runs::driver::{Outcome, RealRun, Watcher};
use experiments::runs::one_run::Finished;

use crate::screen::board::Board;

/// The figures of every run.
const COLUMNS: [Column; 3] = [
    Column { name: "makespan", unit: Unit::Seconds },
    Column { name: "attempts", unit: Unit::Count },
    Column { name: "p99", unit: Unit::Seconds },
];

/// A lane for each name, with so many runs in all; `at_once` is how many of them go on at the same time.
pub(crate) fn board(
    header: LanesHeader,
    names: impl IntoIterator<Item = String>,
    runs: usize,
    at_once: usize,
) -> Board {
    Board::new(header, COLUMNS.to_vec(), names.into_iter(), runs, at_once)
}

/// A run's figures, and whether it left ops undone: whoever does that is soon done, and its latencies are those of the ops
/// that went well.
fn figures(run: &Finished) -> (Vec<Option<f64>>, bool) {
    let result = &run.result;
    let short = !result.makespan_complete;
    let complete = |value: Option<f64>| value.filter(|_| !short);
    let p99_s = result.op_latency_ms.p99.map(|ms| ms / 1_000.0);
    (vec![complete(result.makespan_s), Some(result.attempts.total as f64), complete(p99_s)], short)
}

/// Shows blocks of runs on a board. Lanes are strategies.
pub(crate) struct OnLanes<'a> {
    board: &'a Board,
    blocks: Blocks<'a>,
    /// What these blocks are called, where there are others.
    name: &'a str,
}

impl<'a> OnLanes<'a> {
    /// The figures of what was shown before are over.
    pub(crate) fn new(board: &'a Board, blocks: Blocks<'a>, name: &'a str) -> Self {
        board.begin_anew();
        board.stage(name.to_owned());
        Self { board, blocks, name }
    }
}

impl Watcher for OnLanes<'_> {
    fn on_real(&self, number: usize, run: &RealRun<'_>) {
        let (block, strategy) = self.blocks.place(number);
        let comma = if self.name.is_empty() { "" } else { ", " };
        self.board.stage(format!("{}{comma}block {} of {}", self.name, block + 1, self.blocks.count()));
        self.board.goes_on(strategy, run.underway);
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        let (figures, short) = figures(&outcome.finished);
        self.board.over(self.blocks.place(number).1, &figures, short, outcome.took);
    }
}
