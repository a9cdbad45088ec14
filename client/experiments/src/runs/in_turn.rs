//! Execution of runs at several points, one point after another without a pause. The runs of a point form blocks, each of which runs every
//! strategy once with one seed.

use results::Figure;

use super::blocks::{BlockRun, Blocks, Gathering, Measured};
use super::driver::{Driver, Outcome, Tasks, Watcher};
use super::stop::Stop;

/// Blocks of runs at several points, executed one point after another. In virtual time, runs of the next point begin while the last runs of
/// a point are still in progress. No thread is therefore idle at the end of a point.
pub struct InTurn<'a> {
    points: Vec<Blocks<'a>>,
    /// Number of the first run of every point, because the runs of all points are numbered consecutively. The last entry is the total
    /// number of runs.
    first: Vec<usize>,
}

impl<'a> InTurn<'a> {
    pub fn new(points: impl IntoIterator<Item = Blocks<'a>>) -> Self {
        let points: Vec<Blocks<'a>> = points.into_iter().collect();
        let mut first = vec![0];
        for blocks in &points {
            first.push(first.last().unwrap_or(&0) + blocks.runs());
        }
        Self { points, first }
    }

    pub fn points(&self) -> &[Blocks<'a>] {
        &self.points
    }

    pub fn place(&self, number: usize) -> (usize, usize) {
        // Several points can begin at the same number, because a point without runs begins where the next point begins. The last of these
        // points is taken, because only it has runs.
        let point = self.first.partition_point(|first| *first <= number) - 1;
        (point, number - self.first[point])
    }

    /// Returns all runs as tasks. In a document the runs are listed by point, then by block, then in the order of strategies.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks::in_another_order(self.first[self.points.len()], |number| {
            let (point, number) = self.place(number);
            let blocks = &self.points[point];
            let (block, strategy) = blocks.place(number);
            (blocks.task(block, strategy), self.first[point] + block * blocks.strategies.len() + strategy)
        })
    }

    /// Executes the runs and keeps the given figures of each run. Calls `passed_on` for every complete point, while runs of later points
    /// are already in progress. The runs of a point are passed on by block, and within a block in the order of strategies. After a stop, an
    /// incomplete point is dropped. If the driver lacks some runs of a point, the complete blocks of the point are passed on.
    ///
    /// # Errors
    /// Fails if a run cannot be executed, or if its counts of ops and attempts do not match.
    pub fn run(
        &self,
        driver: &dyn Driver,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        figures: &[&'static Figure],
        passed_on: &mut dyn FnMut(usize, &Measured, Vec<BlockRun>),
    ) -> anyhow::Result<()> {
        let tasks = self.tasks();
        let mut at: Option<PointRuns> = None;
        driver.drive(&tasks, stop, watcher, &mut |number, Outcome { finished, .. }| {
            finished.sound(tasks.task(number).seed)?;
            let (point, number) = self.place(number);
            let blocks = &self.points[point];
            if let Some(before) = at.take_if(|at| at.point != point) {
                before.pass_on(passed_on);
            }
            let gathered = at.get_or_insert_with(|| PointRuns {
                point,
                gathering: Gathering::new(blocks.strategies.len(), figures),
                runs: Vec::new(),
            });
            let (block, strategy) = blocks.place(number);
            let run = BlockRun { strategy, finished };
            gathered.gathering.take(block, run, &mut |run| gathered.runs.push(run));
            if number + 1 == blocks.runs()
                && let Some(complete) = at.take()
            {
                complete.pass_on(passed_on);
            }
            Ok(())
        })?;
        // At this place the last point is incomplete. After a stop, it is dropped. Without a stop, the driver lacked runs of the point, so
        // the point's complete blocks are passed on.
        if let Some(last) = at.filter(|_| stop.asked_by().is_none()) {
            last.pass_on(passed_on);
        }
        Ok(())
    }
}

struct PointRuns {
    point: usize,
    gathering: Gathering,
    runs: Vec<BlockRun>,
}

impl PointRuns {
    fn pass_on(self, passed_on: &mut dyn FnMut(usize, &Measured, Vec<BlockRun>)) {
        let Gathering { measured, cut, .. } = self.gathering;
        if !cut && measured.blocks() > 0 {
            passed_on(self.point, &measured, self.runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use loadgen_core::{RunConfig, Workload};

    use super::*;
    use crate::experiment::Experiment;
    use crate::runs::driver::Nobody;
    use crate::runs::stop::Never;
    use crate::runs::virtual_time::VirtualTime;
    use crate::servers::server_under_test::ServerUnderTest;

    struct Now;

    impl Stop for Now {
        fn asked_by(&self) -> Option<&'static str> {
            Some("SIGINT")
        }
    }

    fn small(strategy: &str) -> Experiment {
        let workload = Workload { ops: Some(30), ..Workload::default() };
        let run = RunConfig { seed: 7, workload, ..RunConfig::default() };
        Experiment { repeats: 4, ..Experiment::of_run(strategy.parse().unwrap(), run) }
    }

    #[test]
    fn points_run_in_turn_and_incomplete_ones_are_dropped() {
        let strategies = [small("none"), small("aimd")];
        let nobody: [Experiment; 0] = [];
        let server_under_test = ServerUnderTest::Own(Box::default());
        let points = [&strategies[..], &nobody, &strategies[..1]];
        let in_turn = InTurn::new(
            points.map(|strategies| Blocks { strategies, server_under_test: &server_under_test }),
        );
        assert_eq!([0, 7, 8, 11].map(|number| in_turn.place(number)), [(0, 0), (0, 7), (2, 0), (2, 3)]);
        let stops: [(&dyn Stop, _); 2] = [(&Never, vec![(0, 4), (2, 4)]), (&Now, Vec::new())];
        for (stop, expected) in stops {
            for threads in [1, 3] {
                let mut passed_on = Vec::new();
                let take = &mut |point: usize, measured: &Measured, runs: Vec<BlockRun>| {
                    assert_eq!(runs.len(), measured.runs.len() * measured.blocks());
                    passed_on.push((point, measured.blocks()));
                };
                in_turn.run(&VirtualTime { threads }, stop, &Nobody, &[], take).unwrap();
                assert_eq!(passed_on, expected);
            }
        }
    }
}
