//! Runs in blocks: each strategy once with the same seed, in an order drawn anew for every block, so that drift of the
//! machine hits all alike.

use std::time::{Duration, Instant};

use loadgen_core::Bins;
use loadgen_sim::{Steer, side_by_side};
use mockserver::core::Config;
use vocabulary::{Purpose, draws, unit};

use super::lanes;
use crate::board::Board;
use crate::interrupt::Interrupt;
use crate::one_run::{Finished, Underway};
use crate::opponent::Opponent;
use crate::own_server::OwnServer;
use crate::record::{ServerRecord, config_record};
use crate::settings::Settings;
use crate::simulated;

/// Does blocks of runs, over HTTP or in virtual time.
pub(crate) struct Blocks<'a> {
    /// One per strategy; all but the strategy is the same.
    strategies: &'a [Settings],
    driver: Driver,
    interrupt: &'a Interrupt,
    board: &'a Board,
}

/// What brings runs about.
pub(crate) enum Driver {
    /// A clock that nobody waits for, on so many threads.
    Simulated { threads: usize },
    /// Real requests to a server that is started for each run, so that it is reset and idle, or to one that was given.
    Http(OwnServer),
}

/// The runs of all complete blocks, by strategy.
pub(crate) struct Measured {
    /// Strategies as typed; runs in the order of blocks.
    pub(crate) runs: Vec<Vec<Finished>>,
}

impl Measured {
    /// How many blocks are complete.
    pub(crate) fn blocks(&self) -> usize {
        self.runs.first().map_or(0, Vec::len)
    }
}

impl<'a> Blocks<'a> {
    /// What is done is reported to the board.
    pub(crate) fn new(
        strategies: &'a [Settings],
        driver: Driver,
        interrupt: &'a Interrupt,
        board: &'a Board,
    ) -> Self {
        Self { strategies, driver, interrupt, board }
    }

    /// Every block against this server, which is called so where there are several. After an interrupt, those that were
    /// complete.
    pub(crate) fn run(&self, opponent: &Opponent, name: &str) -> anyhow::Result<Measured> {
        let tasks = tasks(self.strategies);
        self.board.begin_anew();
        self.board.stage(name.to_owned());
        let interrupt = self.interrupt;
        let finished = match (opponent, &self.driver) {
            (Opponent::Own(server), Driver::Simulated { threads }) => {
                self.simulate(&tasks, server, *threads)?
            }
            (Opponent::Own(server), Driver::Http(own)) => {
                self.over_http(&tasks, name, |settings, seed, waiting| {
                    own.run(settings, server, seed, None, interrupt, waiting)
                })?
            }
            (Opponent::Given(given), _) => self.over_http(&tasks, name, |settings, seed, waiting| {
                given.run(settings, seed, interrupt, waiting)
            })?,
        };
        Ok(by_strategy(self.strategies.len(), &tasks, finished))
    }

    fn simulate(&self, tasks: &[Task], server: &Config, threads: usize) -> anyhow::Result<Vec<Finished>> {
        let (strategies, interrupt) = (self.strategies, self.interrupt);
        let all = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
        let (mut finished, mut failed) = (Vec::with_capacity(tasks.len()), None);
        side_by_side(
            tasks.len(),
            threads,
            |task| {
                let Task { strategy, seed } = tasks[task];
                let begun = Instant::now();
                (simulate(&strategies[strategy], server, seed, all, interrupt), begun.elapsed())
            },
            |taken| {
                match taken {
                    Some((Ok(over), took)) => {
                        self.over(tasks[finished.len()].strategy, &over, took);
                        finished.push(over);
                    }
                    Some((Err(error), _)) => failed = Some(error),
                    None => {}
                }
                failed.is_none() && interrupt.exit().is_none()
            },
        );
        failed.map_or(Ok(finished), Err)
    }

    /// One run after the other, each brought about by `run`.
    fn over_http(
        &self,
        tasks: &[Task],
        name: &str,
        run: impl Fn(&Settings, u64, &mut dyn FnMut(&Underway)) -> anyhow::Result<(Finished, Option<Bins>)>,
    ) -> anyhow::Result<Vec<Finished>> {
        let mut finished = Vec::with_capacity(tasks.len());
        for Task { strategy, seed } in tasks {
            if self.interrupt.exit().is_some() {
                break;
            }
            let settings = &self.strategies[*strategy];
            let block = finished.len() / self.strategies.len() + 1;
            let comma = if name.is_empty() { "" } else { ", " };
            self.board.stage(format!("{name}{comma}block {block} of {}", settings.repeats));
            let begun = Instant::now();
            let mut waiting = |underway: &Underway| self.board.goes_on(*strategy, underway);
            let (over, _) = run(settings, *seed, &mut waiting)?;
            self.over(*strategy, &over, begun.elapsed());
            finished.push(over);
        }
        Ok(finished)
    }

    fn over(&self, strategy: usize, run: &Finished, took: Duration) {
        let (figures, short) = lanes::figures(run);
        self.board.over(strategy, &figures, short, took);
    }
}

/// One run of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    strategy: usize,
    seed: u64,
}

fn tasks(strategies: &[Settings]) -> Vec<Task> {
    let Some(first) = strategies.first() else { return Vec::new() };
    (0..u64::from(first.repeats))
        .flat_map(|block| {
            let seed = first.run.seed.wrapping_add(block);
            order(strategies.len(), seed).into_iter().map(move |strategy| Task { strategy, seed })
        })
        .collect()
}

/// In which order a block with this seed runs its strategies.
pub(crate) fn order(strategies: usize, seed: u64) -> Vec<usize> {
    // No op of a run has this number, so no draw of a run is used twice.
    let key = |strategy: &usize| unit(&mut draws(seed, Purpose::Arrivals, u64::MAX - *strategy as u64, 0));
    let mut order: Vec<usize> = (0..strategies).collect();
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    order
}

/// Keeps complete blocks only: what was cut off says nothing about a whole run, and half a block has no pairs.
fn by_strategy(strategies: usize, tasks: &[Task], finished: Vec<Finished>) -> Measured {
    let whole = finished.iter().take_while(|run| run.result.interrupted.is_none()).count();
    let kept = whole - whole % strategies.max(1);
    let mut runs: Vec<Vec<Finished>> = (0..strategies).map(|_| Vec::new()).collect();
    for (task, run) in tasks.iter().zip(finished).take(kept) {
        runs[task.strategy].push(run);
    }
    Measured { runs }
}

fn simulate(
    settings: &Settings,
    server: &Config,
    seed: u64,
    all: u32,
    interrupt: &Interrupt,
) -> anyhow::Result<Finished> {
    let steer = |_: &loadgen_core::Run, _| if interrupt.exit().is_some() { Steer::Stop } else { Steer::On };
    let over = simulated::simulate(settings, server, seed, steer)?;
    // The series are thinned for as many runs as the file will hold, of all strategies.
    let many = Settings { repeats: all, ..settings.clone() };
    let mut over = simulated::result(&many, server, seed, &over, interrupt);
    let record = ServerRecord { kind: "simulated".to_owned(), target: None, model: Some(server) };
    over.result.config = config_record(settings, &record, seed);
    over.sound(seed)?;
    Ok(over)
}

#[cfg(test)]
mod tests {
    use super::*;

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
