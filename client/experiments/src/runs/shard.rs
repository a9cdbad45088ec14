//! Shard (part) of a list of runs. Other machines may execute the other shards of the list.

use std::fmt;
use std::str::FromStr;

use super::driver::Tasks;

/// Part of the tasks of a command: of N shards, task `t` belongs to shard `t` mod N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    pub fn index(self) -> u32 {
        self.index
    }

    pub fn of(self) -> u32 {
        self.of
    }

    pub fn has(self, task: u64) -> bool {
        task % u64::from(self.of) == u64::from(self.index)
    }

    /// Returns the tasks of the shard in the order of the document, and their places in the document. A shard may have no tasks.
    pub fn tasks<'t, 'a: 't>(self, all: &'t Tasks<'a>) -> (Tasks<'t>, Vec<u64>) {
        let numbered = (0..all.count()).map(|number| (all.in_document(number) as u64, number));
        let mut mine: Vec<(u64, usize)> = numbered.filter(|(task, _)| self.has(*task)).collect();
        mine.sort_unstable();
        let (tasks, numbers): (Vec<u64>, Vec<usize>) = mine.into_iter().unzip();
        (Tasks::new(numbers.len(), move |place| all.task(numbers[place])), tasks)
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
            let whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            whole.then(|| text.parse::<u32>().ok()).flatten()
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
    use loadgen_core::RunConfig;

    use super::*;
    use crate::experiment::Experiment;
    use crate::runs::blocks::Blocks;
    use crate::runs::driver::Task;
    use crate::runs::in_turn::InTurn;
    use crate::servers::server_under_test::ServerUnderTest;

    #[test]
    fn a_shard_is_one_of_so_many_from_zero() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, of: 4 }));
        for text in ["", "1", "4/4", "0/0", "-1/4", "+1/4", "1/4/5", " 1/4", "1/99999999999"] {
            assert!(text.parse::<Shard>().unwrap_err().contains("`0/4`"), "{text}");
        }
    }

    fn names(tasks: &Tasks<'_>) -> Vec<String> {
        let name = |Task { experiment, seed, .. }: Task<'_>| format!("{} {seed}", experiment.strategy);
        (0..tasks.count()).map(|number| name(tasks.task(number))).collect()
    }

    fn in_document(tasks: &Tasks<'_>) -> Vec<String> {
        names(&Shard { index: 0, of: 1 }.tasks(tasks).0)
    }

    #[test]
    fn shards_have_every_task_once_in_the_order_of_the_document() {
        let experiments = ["none", "aimd", "immediate"].map(|strategy| {
            let run = RunConfig { seed: 7, ..RunConfig::default() };
            Experiment { repeats: 2, ..Experiment::of_run(strategy.parse().unwrap(), run) }
        });
        let server_under_test = ServerUnderTest::Own(Box::default());
        let blocks = Blocks { strategies: &experiments, server_under_test: &server_under_test };
        let by_strategy = ["none 7", "none 8", "aimd 7", "aimd 8", "immediate 7", "immediate 8"];
        assert_eq!(in_document(&blocks.tasks()), by_strategy);
        assert_eq!(
            in_document(&Tasks::in_turn(vec![blocks.tasks(), blocks.tasks()])),
            [by_strategy; 2].concat()
        );
        let point = Blocks { strategies: &experiments[..2], server_under_test: &server_under_test };
        let nobody = Blocks { strategies: &experiments[..0], server_under_test: &server_under_test };
        let in_turn = InTurn::new([point, nobody, point]);
        let by_block = ["none 7", "aimd 7", "none 8", "aimd 8"];
        let all = in_turn.tasks();
        assert_eq!(in_document(&all), [by_block; 2].concat());
        let of = 3;
        let shards: Vec<_> = (0..of).map(|index| Shard { index, of }.tasks(&all)).collect();
        assert_eq!(
            shards.iter().map(|(_, numbers)| numbers.clone()).collect::<Vec<_>>(),
            [vec![0, 3, 6], vec![1, 4, 7], vec![2, 5]]
        );
        assert_eq!(names(&shards[2].0), ["none 8", "aimd 7"]);
        assert_eq!(Shard { index: 8, of: 9 }.tasks(&all).0.count(), 0, "an empty shard is one, too");
    }
}
