//! Shard (part) of the blocks of a command. Other machines may execute the other shards.

use std::fmt;
use std::str::FromStr;

use results::ShardRecord;

use super::driver::{Driver, Take, Tasks, Watcher};
use super::stop::Stop;

/// Part of the blocks of a command: of N shards, block `b` belongs to shard `b` mod N. Blocks are numbered by point, then by seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// Returns the record of this shard of a command with `blocks` blocks.
    pub fn record(self, blocks: usize) -> ShardRecord {
        ShardRecord { index: self.index, of: self.of, blocks: blocks as u64 }
    }

    pub fn has(self, block: u64) -> bool {
        block % u64::from(self.of) == u64::from(self.index)
    }
}

/// Returns a driver that executes only the blocks of a shard, or `driver` itself without a shard. A block has `strategies` runs.
pub fn of_shard(driver: Box<dyn Driver>, shard: Option<Shard>, strategies: usize) -> Box<dyn Driver> {
    match shard {
        None => driver,
        Some(shard) => Box::new(OfShard { driver, shard, strategies }),
    }
}

/// Driver that executes only the blocks of one shard. A block is one run of each strategy, with one seed at one point.
struct OfShard {
    driver: Box<dyn Driver>,
    shard: Shard,
    /// Number of runs of a block.
    strategies: usize,
}

impl Driver for OfShard {
    fn drive(
        &self,
        tasks: &Tasks<'_>,
        stop: &dyn Stop,
        watcher: &dyn Watcher,
        take: &mut Take<'_>,
    ) -> anyhow::Result<()> {
        let own = tasks.only(|number| self.shard.has((number / self.strategies.max(1)) as u64));
        self.driver.drive(&own, stop, watcher, &mut |number, outcome| {
            take(number, outcome)?;
            // A shard has no other display over HTTP.
            watcher.on_tick();
            Ok(())
        })
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            "it must be INDEX/COUNT, such as `0/4` for the first of four shards; the last of them is `3/4`"
                .to_owned()
        };
        let digits = |text: &str| {
            let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| is_whole)
        };
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let (index, of) = digits(index).zip(digits(of)).ok_or_else(wrong)?;
        if index < of { Ok(Self { index, of }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use loadgen_core::{RunConfig, Workload};

    use super::*;
    use crate::experiment::Experiment;
    use crate::runs::blocks::{BlockRun, Blocks};
    use crate::runs::driver::Nobody;
    use crate::runs::stop::Never;
    use crate::runs::virtual_time::VirtualTime;
    use crate::servers::server_under_test::ServerUnderTest;

    #[test]
    fn a_shard_is_one_of_so_many_from_zero() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, of: 4 }));
        for text in ["", "1", "4/4", "0/0", "-1/4", "+1/4", "1/4/5", " 1/4", "1/99999999999"] {
            assert!(text.parse::<Shard>().unwrap_err().contains("`0/4`"), "{text}");
        }
    }

    #[test]
    fn each_block_runs_in_one_shard_with_its_number() {
        let experiments = ["none", "aimd"].map(|strategy| {
            let workload = Workload { ops: Some(3), ..Workload::default() };
            let run = RunConfig { seed: 7, workload, ..RunConfig::default() };
            Experiment { repeats: 5, ..Experiment::of_run(strategy.parse().unwrap(), run) }
        });
        let server_under_test = ServerUnderTest::Own(Box::default());
        let blocks = Blocks { strategies: &experiments, server_under_test: &server_under_test };
        let seeds = |index, of| {
            let driver = Box::new(VirtualTime::on_threads(Some(1)));
            let driver = OfShard { driver, shard: Shard { index, of }, strategies: 2 };
            let mut seeds = Vec::new();
            let take = &mut |run: BlockRun| seeds.push((run.finished.result.seed, run.strategy));
            blocks.run(&driver, &Never, &Nobody, &[], take).unwrap();
            seeds
        };
        assert_eq!(seeds(0, 3), [(7, 0), (7, 1), (10, 0), (10, 1)]);
        assert_eq!(seeds(2, 3), [(9, 0), (9, 1)]);
        assert_eq!(seeds(8, 9), [], "an empty shard is one, too");
    }
}
