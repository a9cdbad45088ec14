//! Accumulator for the runs of one strategy: keeps figures, missed expectations and the runs for output files.

use experiments::runs::one_run::Finished;
use results::{Figure, RunFigures};
use shell::text::summary::OverSeeds;
use shell::{Exports, Failures};

use crate::run::Runs;

/// Maximum number of runs for which memory is reserved in advance. A command with more runs may be stopped before it has executed all of
/// them.
const MAX_RESERVED: usize = 200_000;

pub(super) struct Kept<'a> {
    exports: &'a mut Exports,
    runs: Runs,
    /// First interrupted run. It is exported only if no other run was exported.
    cut: Option<Finished>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(figures: Vec<&'static Figure>, count: usize, exports: &'a mut Exports) -> Self {
        let mut figures = RunFigures::keeping(figures);
        figures.reserve(count.min(MAX_RESERVED));
        exports.reserve(count.min(MAX_RESERVED));
        let runs = Runs {
            figures,
            over_seeds: OverSeeds::default(),
            short: Failures::default(),
            count: 0,
            only: None,
            conserved: true,
            interrupted: None,
        };
        Self { exports, runs, cut: None }
    }

    /// Adds a run. An interrupted run is left out of the figures. With `also_cut_off`, an interrupted run is exported if another run was
    /// exported before it. An interrupted run that is the only run is exported by `conclude`, which also adds it to the figures.
    pub(super) fn take(&mut self, run: Finished, also_cut_off: bool) {
        let whole = run.result.interrupted.is_none();
        if whole {
            self.runs.figures.push(&run.result);
            self.runs.over_seeds.note(&run.result);
        }
        if whole || also_cut_off && self.runs.count > 0 {
            self.write(run);
        } else if self.cut.is_none() {
            self.cut = Some(run);
        }
    }

    pub(super) fn conclude(mut self) -> Runs {
        if self.runs.count == 0
            && let Some(run) = self.cut.take()
        {
            self.runs.figures.push(&run.result);
            self.runs.over_seeds.note(&run.result);
            self.write(run);
        }
        self.runs
    }

    fn write(&mut self, run: Finished) {
        self.exports.on_run(0, &run);
        let runs = &mut self.runs;
        runs.short.note([&run]);
        runs.conserved &= run.conservation.holds();
        runs.interrupted = runs.interrupted.take().or_else(|| run.result.interrupted.clone());
        runs.count += 1;
        runs.only = (runs.count == 1).then_some(run);
    }
}
