//! Comparison of several strategies: their ranks, their differences, and whether the ranking holds on similar servers. The strategies are
//! measured in blocks, each of which runs every strategy once with one seed.

use results::{Answer, Compared, RankedStrategy, Score, ranked_by_share};

use super::pairs::{Pair, best_against_others, every_pair, pairs_by_share};
use super::sensitivity::{Variation, compared};
use super::standings::{first_seed, standings};
use crate::checks::Subject;
use crate::runs::blocks::{Blocks, Measured, order};

pub struct Comparison {
    pub by: Score,
    /// Strategies in the order of their ranks, best first. Strategies that cannot be ranked come last.
    pub standings: Vec<RankedStrategy>,
    /// Comparisons of every two strategies that did the same work. These strategies are compared in the score that decides the ranking.
    pub pairs: Vec<Pair>,
    /// Comparisons of the best strategy with every other strategy in a companion score. The companion of attempts is the makespan, and the
    /// companion of any other score is attempts. A second score is compared because one score alone may mislead.
    pub companion: Vec<Pair>,
    /// Comparisons of every two strategies that did not do the same work. These strategies are compared in the share of ops done or, if
    /// this share is equal, in attempts per success.
    pub by_share: Vec<Pair>,
    pub sensitivity: Vec<results::Variation>,
    pub measured: Measured,
    orders: Vec<Vec<usize>>,
    intervals: &'static str,
}

impl Comparison {
    pub fn new(blocks: Blocks<'_>, measured: Measured, by: Score) -> Option<Self> {
        if measured.blocks() == 0 {
            return None;
        }
        let seed = first_seed(blocks.strategies);
        let standings = standings(blocks.strategies, &measured, by);
        let order_of = |block| order(measured.runs.len(), blocks.seed(block));
        Some(Self {
            by,
            pairs: every_pair(&standings, by, seed),
            companion: best_against_others(&standings, by.companion(), seed),
            by_share: pairs_by_share(&standings, seed),
            sensitivity: Vec::new(),
            orders: (0..measured.blocks()).map(order_of).collect(),
            intervals: blocks.server_under_test.intervals(),
            standings,
            measured,
        })
    }

    /// Returns a result document without a ranking. Such a document is written if a stop ended the comparison before its first block was
    /// complete.
    pub fn unranked(blocks: Blocks<'_>, by: Score) -> results::Comparison {
        let intervals = blocks.server_under_test.intervals().to_owned();
        let comparison = Compared { by: by.path().to_owned(), intervals, ..Compared::default() };
        results::Comparison { runs: Vec::new(), comparison, shard: None }
    }

    pub fn vary(&mut self, variation: &Variation, blocks: Blocks<'_>, measured: &Measured) {
        let seed = first_seed(blocks.strategies);
        let standings = standings(blocks.strategies, measured, self.by);
        let mut pairs = every_pair(&standings, self.by, seed);
        pairs.extend(pairs_by_share(&standings, seed));
        let pairs_before: Vec<&Pair> = self.pairs.iter().chain(&self.by_share).collect();
        let before = (&*self.standings, &*pairs_before);
        self.sensitivity.push(compared(variation, (&standings, &pairs), before, self.by));
    }

    pub fn subjects(&self, blocks: Blocks<'_>) -> Vec<Subject<'_>> {
        let strategies = blocks.strategies.iter().zip(&self.measured.runs);
        strategies.map(|(experiment, runs)| Subject::new(&experiment.strategy.to_string(), runs)).collect()
    }

    /// Returns the result document of the comparison. The document's list of runs is empty, because the caller has already received the
    /// runs.
    pub fn document(&self) -> results::Comparison {
        let answer = Answer::new(&self.standings, self.by);
        results::Comparison {
            runs: Vec::new(),
            shard: None,
            comparison: Compared {
                by: self.by.path().to_owned(),
                by_share: ranked_by_share(&self.standings),
                blocks: self.measured.blocks() as u64,
                order: self.orders.clone(),
                intervals: self.intervals.to_owned(),
                level: answer.has_intervals().then(|| answer.level.coverage()),
                strategies: self.standings.iter().map(|standing| answer.record(standing)).collect(),
                pairs: self
                    .pairs
                    .iter()
                    .chain(&self.companion)
                    .chain(&self.by_share)
                    .map(Pair::record)
                    .collect(),
                sensitivity: self.sensitivity.clone(),
                incomplete: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use loadgen_core::{RunConfig, Workload};
    use results::PairVerdict;

    use super::*;
    use crate::evaluation::sensitivity::variations;
    use crate::evaluation::testing::{Scripted, experiment, measured};
    use crate::experiment::Experiment;
    use crate::runs::driver::Driver;
    use crate::runs::virtual_time::VirtualTime;
    use crate::servers::server_under_test::ServerUnderTest;

    fn compared(strategies: &[Experiment], driver: &dyn Driver, by: Score) -> Comparison {
        let server_under_test = ServerUnderTest::Own(Box::default());
        let blocks = Blocks { strategies, server_under_test: &server_under_test };
        Comparison::new(blocks, measured(blocks, driver, by), by).unwrap()
    }

    #[test]
    fn what_a_driver_hands_over_is_ranked_compared_and_written() {
        let strategies = ["none", "aimd", "full-jitter"].map(|strategy| experiment(strategy, 7, 10));
        let attempts = |strategy: &str, seed: u64| match strategy {
            "none" => 0,
            "aimd" => 100 + seed % 3,
            _ => 300 + seed % 3,
        };
        let comparison = compared(&strategies, &Scripted(attempts), Score::attempts());
        let written = comparison.document();
        assert_eq!(written.comparison.blocks, 10);
        let standings: Vec<_> = written
            .comparison
            .strategies
            .iter()
            .map(|standing| (standing.strategy.as_str(), standing.rank))
            .collect();
        assert_eq!(standings, [("aimd", Some(1)), ("full-jitter", Some(2)), ("none", Some(3))]);
        let pairs = &written.comparison.pairs;
        let figures: Vec<_> = pairs.iter().map(|pair| (pair.figure.as_str(), pair.verdict)).collect();
        let none = ("done_share", PairVerdict::Incomparable);
        let lower = |figure| (figure, PairVerdict::Lower);
        assert_eq!(
            figures,
            [lower("attempts.total"), lower("makespan_s"), none, none],
            "nobody is as idle as none"
        );
        assert_eq!(pairs[0].words, "aimd needs 2.98× fewer attempts than full-jitter (95 %: 2.97–2.99)");
        assert!(written.comparison.order.iter().all(|order| order.len() == 3));
    }

    #[test]
    fn nothing_is_made_of_no_block() {
        let (strategies, server_under_test) =
            ([experiment("none", 1, 0)], ServerUnderTest::Own(Box::default()));
        let blocks = Blocks { strategies: &strategies, server_under_test: &server_under_test };
        let measured = measured(blocks, &Scripted(|_: &str, _| 1), Score::makespan());
        assert!(Comparison::new(blocks, measured, Score::makespan()).is_none());
    }

    #[test]
    fn in_virtual_time_a_ranking_is_tried_against_other_servers() {
        let strategies = ["exponential", "aimd"].map(|strategy| {
            let workload = Workload { ops: Some(150), ..Workload::default() };
            let run = RunConfig { seed: 3, workload, ..RunConfig::default() };
            Experiment { repeats: 6, ..Experiment::of_run(strategy.parse().unwrap(), run) }
        });
        let driver = VirtualTime { threads: 1 };
        let mut comparison = compared(&strategies, &driver, Score::attempts());
        assert_eq!(comparison.standings[0].strategy, "aimd");
        let own = ServerUnderTest::Own(Box::default());
        for variation in variations(own.model().unwrap()) {
            let server_under_test = ServerUnderTest::Own(Box::new(variation.server.clone()));
            let blocks = Blocks { strategies: &strategies, server_under_test: &server_under_test };
            let measured = measured(blocks, &driver, Score::attempts());
            comparison.vary(&variation, blocks, &measured);
        }
        let tried = comparison.document().comparison.sensitivity;
        let names: Vec<_> = tried.iter().map(|tried| tried.variation.as_str()).collect();
        assert_eq!(names[0], "cap −20 %: 40 slots");
        assert!(tried.iter().all(|tried| tried.stands && tried.ranking == ["aimd", "exponential"]));
    }
}
