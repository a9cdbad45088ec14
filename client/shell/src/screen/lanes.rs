//! Lanes of the live display, one for each strategy: their columns, and the watcher that fills them.

use std::sync::atomic::{AtomicUsize, Ordering};

use dashboards::{Column, LanesHeader, Unit};
use experiments::runs::blocks::Blocks;
use experiments::runs::driver::{Outcome, RealRun, Watcher};
use experiments::runs::in_turn::InTurn;
use experiments::runs::one_run::Finished;

use crate::Board;

const COLUMNS: [Column; 3] = [
    Column { name: "makespan", unit: Unit::Seconds },
    Column { name: "attempts", unit: Unit::Count },
    Column { name: "p99", unit: Unit::Seconds },
];

pub fn board(
    header: LanesHeader,
    names: impl IntoIterator<Item = String>,
    runs: usize,
    at_once: usize,
) -> Board {
    Board::new(header, COLUMNS.to_vec(), names.into_iter(), runs, at_once)
}

/// Returns a run's figures, and whether the run left ops undone. A run with undone ops gets no makespan, because it ends early. It also
/// gets no 99th percentile of latency, because only successful ops have a latency.
fn figures(run: &Finished) -> (Vec<Option<f64>>, bool) {
    let result = &run.result;
    let short = !result.makespan_complete;
    let complete = |value: Option<f64>| value.filter(|_| !short);
    let p99_s = result.op_latency_ms.p99.map(|ms| ms / 1_000.0);
    (vec![complete(result.makespan_s), Some(result.attempts.total as f64), complete(p99_s)], short)
}

pub struct LaneWatcher<'a> {
    board: &'a Board,
    in_turn: InTurn<'a>,
    /// Display name of each point or server variation. The name is empty if there is only one point or variation.
    names: Vec<String>,
    shown: AtomicUsize,
}

impl<'a> LaneWatcher<'a> {
    pub fn new(board: &'a Board, in_turn: InTurn<'a>, names: Vec<String>) -> Self {
        let lanes = Self { board, in_turn, names, shown: AtomicUsize::new(usize::MAX) };
        lanes.show(0);
        lanes
    }

    pub fn in_turn(&self) -> &InTurn<'a> {
        &self.in_turn
    }

    fn show(&self, point: usize) {
        if self.shown.swap(point, Ordering::Relaxed) != point
            && let Some(name) = self.names.get(point)
        {
            self.board.begin_anew();
            self.board.stage(name.clone());
        }
    }

    fn place(&self, number: usize) -> (usize, Blocks<'a>, usize) {
        let (point, number) = self.in_turn.place(number);
        (point, self.in_turn.points()[point], number)
    }
}

impl Watcher for LaneWatcher<'_> {
    fn on_real(&self, number: usize, run: &RealRun<'_>) {
        let (point, blocks, number) = self.place(number);
        self.show(point);
        let (block, strategy) = blocks.place(number);
        let name = &self.names[point];
        let comma = if name.is_empty() { "" } else { ", " };
        self.board.stage(format!("{name}{comma}seed {} of {}", block + 1, blocks.count()));
        self.board.watch_run(strategy, run.underway);
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        let (point, blocks, number) = self.place(number);
        self.show(point);
        let (figures, short) = figures(&outcome.finished);
        self.board.over(blocks.place(number).1, &figures, short, outcome.took);
    }
}
