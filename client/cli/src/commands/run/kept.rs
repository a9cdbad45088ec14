//! What is kept of runs of one strategy while they go on: figures, and what fell short. Files get every run at once.

use experiments::runs::one_run::Finished;
use results::{Figure, RunFigures, TaskRecord};

use crate::files::exports::Exports;
use crate::shortfall::Shortfalls;
use crate::text::summary::OverSeeds;

/// More runs than that may never come.
const MOST_RESERVED: usize = 200_000;

/// Takes runs as they come.
pub(super) struct Kept<'a> {
    exports: &'a mut Exports,
    runs: Runs,
    /// The first run that was cut off, with its texts.
    cut: Option<(Finished, Vec<Vec<u8>>)>,
}

/// All runs that count.
pub(super) struct Runs {
    /// Of the runs that were complete; of the one that was cut off, if there is no other.
    pub(super) figures: RunFigures,
    pub(super) over_seeds: OverSeeds,
    pub(super) short: Shortfalls,
    /// How many were written.
    pub(super) count: usize,
    /// The run itself, where it is the only one.
    pub(super) only: Option<Finished>,
    /// Whether all counts add up in all of them.
    pub(super) conserved: bool,
    /// Whether somebody answered in all of them.
    pub(super) answered: bool,
    /// Who cut one of them off, if somebody did.
    pub(super) interrupted: Option<String>,
    /// All of them whole, where they are a share that is merged with others.
    pub(super) records: Vec<TaskRecord>,
    keeps_records: bool,
}

impl<'a> Kept<'a> {
    /// Of so many runs, if all come.
    pub(super) fn new(figures: Vec<&'static Figure>, count: usize, exports: &'a mut Exports) -> Self {
        let mut figures = RunFigures::keeping(figures);
        figures.reserve(count.min(MOST_RESERVED));
        let runs = Runs {
            figures,
            over_seeds: OverSeeds::default(),
            short: Shortfalls::default(),
            count: 0,
            only: None,
            conserved: true,
            answered: true,
            interrupted: None,
            records: Vec::new(),
            keeps_records: false,
        };
        Self { exports, runs, cut: None }
    }

    /// Keeps runs whole, too.
    pub(super) fn keep_records(&mut self) {
        self.runs.keeps_records = true;
    }

    /// Takes a run that is over; one that was cut off only counts beside others if it is said to.
    pub(super) fn take(&mut self, run: Finished, texts: Vec<Vec<u8>>, also_cut_off: bool) {
        let whole = run.result.interrupted.is_none();
        if whole {
            self.runs.figures.push(&run.result);
            self.runs.over_seeds.note(&run.result);
        }
        if whole || also_cut_off && self.runs.count > 0 {
            self.write(run, &texts);
        } else if self.cut.is_none() {
            self.cut = Some((run, texts));
        }
    }

    /// When all are over.
    pub(super) fn conclude(mut self) -> Runs {
        if self.runs.count == 0
            && let Some((run, texts)) = self.cut.take()
        {
            self.runs.figures.push(&run.result);
            self.runs.over_seeds.note(&run.result);
            self.write(run, &texts);
        }
        self.runs
    }

    fn write(&mut self, run: Finished, texts: &[Vec<u8>]) {
        self.exports.on_run(0, &run, texts);
        let runs = &mut self.runs;
        runs.short.note([&run]);
        runs.conserved &= run.conservation.holds();
        runs.answered &= run.answered;
        runs.interrupted = runs.interrupted.take().or_else(|| run.result.interrupted.clone());
        if runs.keeps_records {
            runs.records.push(TaskRecord {
                task: runs.count as u64,
                server_compared: run.conservation.server_compared,
                generator_share: run.generator_share,
                answered: run.answered,
                bottleneck: run.bottleneck,
                run: run.result.clone(),
            });
        }
        runs.count += 1;
        runs.only = (runs.count == 1).then_some(run);
    }
}
