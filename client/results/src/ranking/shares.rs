//! Shares of ops done, for each strategy. Only strategies with the same share did the same work. If ops have a time limit, only ops that
//! were done within it count.

use crate::figures::run_figures::Counts;

/// Maximum difference between two shares of ops done that count as equal. A share of 1 never counts as equal to a smaller share.
const SAME: f64 = 0.001;

pub(crate) struct Shares {
    of: Vec<f64>,
    tiers: Vec<usize>,
    /// True if the strategies with the largest share of ops done did the same work, so that their makespans can be compared.
    pub(crate) same_work: bool,
    limit: Option<String>,
}

impl Shares {
    /// Compares the shares of strategies, from counts summed over the runs of each strategy. A strategy with a run that was cut off comes
    /// after all others.
    pub(crate) fn new(strategies: &[&Counts]) -> Self {
        let counts = || strategies.iter().copied();
        let at_all: Vec<f64> = counts().map(Counts::at_all).collect();
        let cut_off: Vec<bool> = counts().map(|counts| counts.cut_off() > 0).collect();
        let asked = counts().any(|counts| counts.within);
        // A deadline ends late ops, so they are usually not done. If all strategies did all ops nevertheless, the shares ignore lateness,
        // because the latency shows it.
        let in_time = asked || at_all.iter().any(|share| *share < 1.0);
        let limit = counts().find_map(|counts| counts.limit.clone()).filter(|_| in_time);
        let of: Vec<f64> = match limit {
            None => at_all.clone(),
            Some(_) => counts().map(Counts::in_time).collect(),
        };
        let tiers = tiers(&of, &cut_off);
        let top_did_all = at_all.iter().zip(&tiers).all(|(share, tier)| *tier > 0 || *share >= 1.0);
        let all_alike = || {
            let at_all = self::tiers(&at_all, &cut_off);
            let those = cut_off.iter().zip(tiers.iter().zip(&at_all)).filter(|(cut_off, _)| !**cut_off);
            those.map(|(_, tiers)| tiers).all(|tiers| tiers == (&0, &0))
        };
        let same_work = top_did_all || all_alike();
        Self { of, tiers, same_work, limit }
    }

    pub(crate) fn share(&self, number: usize) -> f64 {
        self.of[number]
    }

    pub(crate) fn tier(&self, number: usize) -> usize {
        self.tiers[number]
    }

    pub(crate) fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }
}

/// Returns a tier for each strategy's share of ops done: the number of different larger shares. A share of 1 is equal to no smaller share,
/// so even one given-up op in a million makes a difference. A strategy with a run that was cut off gets the last tier, which is at least 1.
fn tiers(shares: &[f64], cut_off: &[bool]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shares.len()).filter(|number| !cut_off[*number]).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let mut tiers = vec![0; shares.len()];
    let (mut tier, mut least) = (0, None);
    for number in order {
        let share = shares[number];
        if least.is_some_and(|least| share < least) {
            tier += 1;
            least = None;
        }
        least.get_or_insert(if share >= 1.0 { 1.0 } else { share - SAME });
        tiers[number] = tier;
    }
    for number in (0..shares.len()).filter(|number| cut_off[*number]) {
        tiers[number] = tier + 1;
    }
    tiers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::run::RunResult;
    use crate::figures::run_figures::RunFigures;
    use crate::testing::run;

    #[test]
    fn shares_that_hardly_differ_are_the_same_unless_one_is_all() {
        let tiers = |shares: &[f64]| tiers(shares, &vec![false; shares.len()]);
        assert_eq!(tiers(&[0.5, 0.9, 0.9005, 0.4995, 0.4989]), [1, 0, 0, 1, 2]);
        assert_eq!(tiers(&[0.999_999, 1.0, 1.0]), [1, 0, 0]);
        assert_eq!(tiers(&[0.0, 0.0]), [0, 0]);
        assert!(tiers(&[]).is_empty());
    }

    #[test]
    fn stopped_strategies_come_last_whatever_their_share() {
        assert_eq!(tiers(&[0.9, 0.5, 0.4], &[true, false, false]), [2, 0, 1]);
        assert_eq!(tiers(&[0.9, 0.5], &[true, true]), [1, 1]);
    }

    /// Returns the shares of two strategies. `done` counts the completed ops of ten, `in_time` is the share within ten seconds or the
    /// deadline.
    fn shares(done: [u64; 2], in_time: [f64; 2], within: bool) -> Shares {
        let runs: Vec<RunResult> = done
            .into_iter()
            .zip(in_time)
            .map(|(done, share)| {
                let mut run = run("any", 1, done, 20, 1.0);
                let limit = Some("10s".to_owned());
                *(if within { &mut run.config.within } else { &mut run.config.deadline }) = limit;
                run.done_share = Some(share);
                run
            })
            .collect();
        let kept: Vec<RunFigures> = runs.iter().map(|run| RunFigures::new([], [run])).collect();
        Shares::new(&kept.iter().map(|kept| &kept.counts).collect::<Vec<_>>())
    }

    #[test]
    fn late_ops_count_only_if_requested_or_with_undone_ops() {
        let late = shares([10, 10], [0.7, 0.8], false);
        assert_eq!((late.tiers, late.limit, late.same_work), (vec![0, 0], None, true));
        let asked = shares([10, 10], [0.7, 0.8], true);
        assert_eq!((asked.tiers, asked.limit.as_deref(), asked.same_work), (vec![1, 0], Some("10s"), true));
        let undone = shares([10, 9], [0.7, 0.8], false);
        assert_eq!((undone.tiers, undone.of, undone.same_work), (vec![1, 0], vec![0.7, 0.8], false));
    }

    #[test]
    fn the_same_share_in_time_is_not_the_same_work() {
        assert!(!shares([10, 9], [0.8, 0.8], true).same_work);
        assert!(shares([9, 9], [0.8, 0.8], true).same_work);
        assert!(shares([10, 10], [0.8, 0.8], true).same_work);
    }
}
