//! Runs in blocks. Each block runs every strategy once, with the same seed. The order of strategies is drawn at random for every block, so
//! that gradual changes of the machine affect all strategies alike.

use results::{Figure, RunFigures};
use vocabulary::{Purpose, draws, unit};

use super::driver::{Driver, Outcome, Task, Tasks, Watcher};
use super::stop::Stop;
use crate::experiment::Experiment;
use crate::runs::one_run::Finished;
use crate::servers::server_under_test::ServerUnderTest;

#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// Experiments that differ only in their strategies, one per strategy.
    pub strategies: &'a [Experiment],
    pub server_under_test: &'a ServerUnderTest,
}

/// Figures of all complete blocks (a block runs every strategy once with one seed). If the last block was cut off, its complete runs are
/// kept separately.
pub struct Measured {
    /// Figures of the runs, one entry per strategy. Strategies are in the order of the command line, and the runs of a strategy are in the
    /// order of blocks.
    pub runs: Vec<RunFigures>,
    /// Complete runs of the block that was cut off, in the random order that was drawn for this block.
    pub unpaired: Vec<BlockRun>,
}

pub struct BlockRun {
    /// Index of the strategy in the order of the command line.
    pub strategy: usize,
    pub finished: Finished,
}

impl Measured {
    pub fn blocks(&self) -> usize {
        self.runs.first().map_or(0, RunFigures::runs)
    }
}

pub(super) struct Gathering {
    pub(super) measured: Measured,
    /// True once a run was cut off. This run and all later runs are ignored, because they cannot complete a block.
    pub(super) cut: bool,
    block: usize,
}

impl Gathering {
    pub(super) fn new(strategies: usize, figures: &[&'static Figure]) -> Self {
        let runs = vec![RunFigures::keeping(figures.iter().copied()); strategies];
        Self { measured: Measured { runs, unpaired: Vec::new() }, cut: false, block: 0 }
    }

    /// Adds a run of the given block. Once the block is complete, calls `passed_on` for all its runs, in the order of strategies. If the
    /// driver lacks some runs of a block, the block never becomes complete and is left out.
    pub(super) fn take(&mut self, block: usize, run: BlockRun, passed_on: &mut dyn FnMut(BlockRun)) {
        self.cut |= run.finished.result.interrupted.is_some();
        if self.cut {
            return;
        }
        let Measured { runs, unpaired } = &mut self.measured;
        if std::mem::replace(&mut self.block, block) != block {
            unpaired.clear();
        }
        unpaired.push(run);
        if unpaired.len() == runs.len() {
            unpaired.sort_by_key(|run| run.strategy);
            for run in unpaired.drain(..) {
                runs[run.strategy].push(&run.finished.result);
                passed_on(run);
            }
        }
    }
}

impl<'a> Blocks<'a> {
    pub fn count(&self) -> usize {
        self.strategies.first().map_or(0, |first| first.repeats as usize)
    }

    /// Returns the block and the strategy of the run with the given number. Runs are numbered in the order in which they are executed.
    pub fn place(&self, number: usize) -> (usize, usize) {
        let block = number / self.strategies.len();
        (block, order(self.strategies.len(), self.seed(block))[number % self.strategies.len()])
    }

    pub fn seed(&self, block: usize) -> u64 {
        self.strategies.first().map_or(0, |first| first.seed(block))
    }

    pub(super) fn runs(&self) -> usize {
        self.count() * self.strategies.len()
    }

    pub(super) fn task(&self, block: usize, strategy: usize) -> Task<'a> {
        let runs_of_file = u32::try_from(self.runs()).unwrap_or(u32::MAX);
        Task {
            experiment: &self.strategies[strategy],
            server_under_test: self.server_under_test,
            seed: self.seed(block),
            runs_of_file,
        }
    }

    /// Returns all runs as tasks. The order of runs in the document differs from the order of execution. The document lists the runs by
    /// strategy, and the runs of each strategy by block.
    pub fn tasks(self) -> Tasks<'a> {
        Tasks::in_another_order(self.runs(), move |number| {
            let (block, strategy) = self.place(number);
            (self.task(block, strategy), strategy * self.count() + block)
        })
    }

    /// Executes the runs and keeps the given figures of each run. Once a block is complete, calls `passed_on` for its runs, in the order of
    /// strategies. After a stop, a run that was cut off is dropped, because its figures are not those of a whole run. Complete runs of an
    /// incomplete block are kept separately, because they have no counterparts to be paired with.
    ///
    /// # Errors
    /// Fails if a run cannot be executed, or if its counts of ops and attempts do not match.
    pub fn run(
        &self,
        driver: &dyn Driver,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(BlockRun),
    ) -> anyhow::Result<Measured> {
        let tasks = self.tasks();
        let mut gathering = Gathering::new(self.strategies.len(), figures);
        driver.drive(&tasks, stop, watcher, &mut |number, Outcome { finished, .. }| {
            finished.sound(tasks.task(number).seed)?;
            let (block, strategy) = self.place(number);
            gathering.take(block, BlockRun { strategy, finished }, passed_on);
            Ok(())
        })?;
        Ok(gathering.measured)
    }
}

pub fn order(strategies: usize, seed: u64) -> Vec<usize> {
    // Random draws are identified by an op number. The draws for the order use numbers that no op of a run has, so they are independent of
    // the draws within the run.
    let key = |strategy: &usize| unit(&mut draws(seed, Purpose::Arrivals, u64::MAX - *strategy as u64, 0));
    let mut order: Vec<usize> = (0..strategies).collect();
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    order
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use loadgen_core::{RunConfig, SampleSink, Workload};

    use super::*;
    use crate::runs::driver::Nobody;
    use crate::runs::virtual_time::VirtualTime;

    fn small(strategy: &str) -> Experiment {
        let workload = Workload { ops: Some(30), ..Workload::default() };
        let run = RunConfig { seed: 7, workload, ..RunConfig::default() };
        Experiment { repeats: 40, ..Experiment::of_run(strategy.parse().unwrap(), run) }
    }

    /// Requests a stop after this many runs.
    struct After {
        runs: usize,
        over: AtomicUsize,
    }

    impl Stop for After {
        fn asked_by(&self) -> Option<&'static str> {
            (self.over.load(Ordering::Relaxed) >= self.runs).then_some("SIGINT")
        }
    }

    impl Watcher for After {
        fn on_over(&self, _number: usize, _outcome: &Outcome) {
            self.over.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn measured(runs: usize) -> (Measured, Vec<BlockRun>) {
        let strategies = [small("none"), small("aimd"), small("full-jitter")];
        let server_under_test = ServerUnderTest::Own(Box::default());
        let stop = After { runs, over: AtomicUsize::new(0) };
        let blocks = Blocks { strategies: &strategies, server_under_test: &server_under_test };
        let mut passed_on = Vec::new();
        let mut take = |run| passed_on.push(run);
        let measured = blocks.run(&VirtualTime { threads: 1 }, &stop, &stop, &[], &mut take).unwrap();
        (measured, passed_on)
    }

    fn seeds(runs: &[BlockRun]) -> Vec<u64> {
        runs.iter().map(|run| run.finished.result.seed).collect()
    }

    #[test]
    fn every_strategy_runs_with_every_seed_in_block_order() {
        let (measured, runs) = measured(usize::MAX);
        assert_eq!(measured.runs.iter().map(RunFigures::runs).collect::<Vec<_>>(), [40; 3]);
        assert_eq!(seeds(&runs), (7..47).flat_map(|seed| [seed; 3]).collect::<Vec<u64>>());
        for run in &runs {
            assert_eq!(run.finished.result.strategy, ["none", "aimd", "full-jitter"][run.strategy]);
        }
        assert_eq!(runs.iter().map(|run| run.strategy).collect::<Vec<_>>(), [0, 1, 2].repeat(40));
    }

    #[test]
    fn what_was_cut_off_leaves_complete_blocks_only() {
        assert_eq!(measured(0).0.blocks(), 0);
        // Runs in progress end, too, but half a block does not count.
        let (measured, runs) = measured(4);
        let blocks = measured.blocks();
        assert!((1..40).contains(&blocks), "{blocks}");
        assert!(runs.len() == 3 * blocks && measured.unpaired.len() < 3);
    }

    #[test]
    fn the_first_error_of_the_consumer_ends_the_runs() {
        let (experiment, server_under_test) = (small("none"), ServerUnderTest::Own(Box::default()));
        let task =
            Task { experiment: &experiment, server_under_test: &server_under_test, seed: 1, runs_of_file: 1 };
        let mut taken = Vec::new();
        let tasks = Tasks::new(1_000, |_| task);
        let never = After { runs: usize::MAX, over: AtomicUsize::new(0) };
        let error = VirtualTime { threads: 1 }.drive(&tasks, &never, &Nobody, &mut |number, _| {
            taken.push(number);
            anyhow::ensure!(number < 2, "the disk is full at {number}");
            Ok(())
        });
        assert_eq!(error.unwrap_err().to_string(), "the disk is full at 2");
        assert_eq!(taken, [0, 1, 2], "what was begun before the error is not handed over");
    }

    #[test]
    fn a_run_that_cannot_be_done_ends_the_runs_and_is_not_watched() {
        /// Watcher that fails at the attempts of the third run.
        struct Full(After);

        impl Watcher for Full {
            fn attempts_of(&self, number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
                anyhow::ensure!(number != 2, "no room for {number}");
                Ok(None)
            }

            fn on_over(&self, number: usize, outcome: &Outcome) {
                self.0.on_over(number, outcome);
            }
        }

        let (experiment, server_under_test) = (small("none"), ServerUnderTest::Own(Box::default()));
        let task =
            Task { experiment: &experiment, server_under_test: &server_under_test, seed: 1, runs_of_file: 1 };
        let full = Full(After { runs: usize::MAX, over: AtomicUsize::new(0) });
        let mut taken = Vec::new();
        let tasks = Tasks::new(1_000, |_| task);
        let error = VirtualTime { threads: 1 }.drive(&tasks, &full.0, &full, &mut |number, _| {
            taken.push(number);
            Ok(())
        });
        assert_eq!(error.unwrap_err().to_string(), "no room for 2");
        assert_eq!((taken, full.0.over.into_inner()), (vec![0, 1], 2));
    }

    #[test]
    fn a_block_has_every_strategy_once_in_an_order_of_its_own() {
        let orders: Vec<Vec<usize>> = (1..=100).map(|seed| order(4, seed)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
        assert_eq!(orders[0], order(4, 1));
        let first = |strategy| orders.iter().filter(|order| order[0] == strategy).count();
        assert!((0..4).all(|strategy| (10..=40).contains(&first(strategy))), "{orders:?}");
    }
}
