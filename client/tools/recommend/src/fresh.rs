//! Check of the candidate that a search chose, on servers and seeds that the search has not used.

use std::collections::BTreeMap;

use statistics::{Bootstrap, Level};

use crate::budget::MAX_ATTEMPTS_PER_OP;
use crate::observed::{Goal, Observed, finite};
use crate::recommendation::{FreshFigures, FreshRuns, FreshServerRuns};

/// Number of fresh servers. Without ranges, as many seeds on the nominal server replace them.
pub(crate) const FRESH_SERVERS: u32 = 24;
pub(crate) const FRESH_SEEDS: u32 = 4;

const WORTH_COST: f64 = 0.05;
/// Number of resamples of the bootstrap; its intervals then vary by less than a tenth of their width.
const RESAMPLES: usize = 10_000;

/// Runs of one setting.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Means over seeds on each fresh server.
    pub fresh: Vec<Observed>,
    /// Runs on the servers of the search.
    pub search: Vec<Observed>,
}

impl FreshRuns {
    /// Compares today's setting with the candidate `other`. The fresh servers have the given changes. `None` if there is no fresh server.
    ///
    /// The points are the mean over fresh servers of the share of undone ops of today's setting minus the share of the other one, in
    /// percentage points, with a 95 % interval (bootstrap over servers). Differences are used and not ratios, because shares may be 0.
    /// A server is better or worse if its difference is more than [`Goal::equal_points`].
    pub(crate) fn new(
        (other, seeds): (usize, u32),
        changes: Vec<BTreeMap<String, String>>,
        [today, of_other]: &[Sample; 2],
        goal: Goal,
        seed: u64,
    ) -> Option<Self> {
        let pairs = || today.fresh.iter().zip(&of_other.fresh);
        let gains: Vec<f64> = pairs().map(|(today, other)| 100.0 * (today.undone - other.undone)).collect();
        let interval = Bootstrap::of_mean(&gains, RESAMPLES, seed)?.interval(Level::P95);
        let different = goal.equal_points();
        let worse = (0..gains.len()).filter(|server| gains[*server] < -different).collect::<Vec<_>>();
        let better = gains.iter().filter(|gain| **gain > different).count();
        let server = |(changes, (today, other)): (_, (&Observed, &Observed))| FreshServerRuns {
            changes,
            today_undone: today.undone,
            other_undone: other.undone,
            today_cost: finite(today.cost),
            other_cost: finite(other.cost),
        };
        Some(Self {
            other,
            seeds,
            servers: changes.into_iter().zip(pairs()).map(server).collect(),
            today: FreshFigures::new(today)?,
            of_other: FreshFigures::new(of_other)?,
            points: gains.iter().sum::<f64>() / gains.len() as f64,
            points_low: interval.low,
            points_high: interval.high,
            cost_ratio: Observed::cost_ratio(pairs()),
            better,
            same: gains.len() - better - worse.len(),
            worse,
        })
    }

    /// Returns true if the other candidate is worth a change: costs fall by at least 5 %, or undone ops fall by at least
    /// [`Goal::equal_points`], on average or on the worst server, with an interval above 0. A candidate is not worth it if it leaves that much more undone on
    /// average, or more undone on average and on more servers than it leaves less. Neither is it if ops arrive at a rate and significantly
    /// more of them are late.
    pub(crate) fn is_worth_a_change(&self, goal: Goal) -> bool {
        let least = goal.equal_points();
        let is_cheaper = self.cost_ratio.is_some_and(|ratio| ratio <= 1.0 - WORTH_COST);
        let most = |of: fn(&FreshServerRuns) -> f64| self.servers.iter().map(of).fold(0.0, f64::max);
        let at_worst = 100.0 * (most(|server| server.today_undone) - most(|server| server.other_undone));
        let does_more = self.points.max(at_worst) >= least && self.points_low > 0.0;
        let is_significant = goal == Goal::InTime && self.points_high < 0.0;
        let does_less =
            self.points <= -least || self.points < 0.0 && (self.worse.len() > self.better || is_significant);
        (is_cheaper || does_more) && !does_less
    }
}

impl FreshFigures {
    fn new(Sample { fresh, search }: &Sample) -> Option<Self> {
        let mean = Observed::mean(fresh)?;
        // A run of the search that was ended because of its many attempts leaves more undone than a whole run.
        let was_ended = |run: &Observed| run.attempts + 1.0 >= f64::from(MAX_ATTEMPTS_PER_OP) * run.ops;
        let runs = || fresh.iter().chain(search.iter().filter(|run| !was_ended(run)));
        Some(Self {
            undone: mean.undone,
            least_undone: runs().map(|run| run.undone).fold(1.0, f64::min),
            most_undone: runs().map(|run| run.undone).fold(0.0, f64::max),
            servers: runs().count(),
            makespan_s: finite(mean.makespan_s),
            is_cut: mean.is_cut,
            attempts_per_success: mean.attempts_per_success(),
            rejected_per_100_ops: mean.rejected_per_100_ops(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Server = (Observed, Observed);

    fn server((today, of_today): (f64, f64), (chosen, of_chosen): (f64, f64)) -> Server {
        (Observed::with_cost(today, of_today), Observed::with_cost(chosen, of_chosen))
    }

    fn runs(servers: Vec<Server>, goal: Goal) -> Option<FreshRuns> {
        let changes = vec![BTreeMap::new(); servers.len()];
        let (today, other) = servers.into_iter().unzip();
        let samples = [today, other].map(|fresh| Sample { fresh, search: Vec::new() });
        FreshRuns::new((1, 4), changes, &samples, goal, 1)
    }

    #[test]
    fn fewer_undone_ops_or_lower_costs_are_worth_a_change() {
        let of = |today, chosen| runs(vec![server(today, chosen); 24], Goal::InTime).unwrap();
        assert!(of((0.3, 10.0), (0.0, 20.0)).is_worth_a_change(Goal::InTime));
        assert!(of((0.0, 10.0), (0.0, 9.4)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.0, 10.0), (0.0, 9.6)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.005, 10.0), (0.0, 10.0)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.0, f64::INFINITY), (0.0, f64::INFINITY)).is_worth_a_change(Goal::InTime));
    }

    #[test]
    fn of_a_fixed_amount_of_work_half_a_point_is_worth_a_change() {
        let fresh = runs(vec![server((0.005, 10.0), (0.0, 10.0)); 24], Goal::InTime).unwrap();
        assert!(fresh.is_worth_a_change(Goal::Finish));
        let mut servers = vec![server((0.001, 10.0), (0.0, 10.0)); 20];
        servers.extend(vec![server((0.004, 10.0), (0.0, 10.0)); 4]);
        assert!(runs(servers, Goal::InTime).unwrap().is_worth_a_change(Goal::Finish), "0.4 points at worst");
    }

    #[test]
    fn lower_costs_never_outweigh_significantly_more_late_ops() {
        let fresh = runs(vec![server((0.0, 10.0), (0.008, 5.0)); 24], Goal::InTime).unwrap();
        assert!(!fresh.is_worth_a_change(Goal::InTime));
        let rarely = runs(vec![server((0.0, 10.0), (0.001, 5.0)); 24], Goal::InTime).unwrap();
        assert!(rarely.is_worth_a_change(Goal::Finish));
    }

    #[test]
    fn lower_costs_never_outweigh_more_undone_ops() {
        let mut servers = vec![server((0.0, 10.0), (0.0, 5.0)); 20];
        servers.extend(vec![server((0.0, 10.0), (0.03, 5.0)); 4]);
        assert!(!runs(servers, Goal::InTime).unwrap().is_worth_a_change(Goal::InTime));
    }

    #[test]
    fn a_gain_on_one_server_of_many_is_uncertain() {
        let mut servers = vec![server((0.0, 1.0), (0.0, 1.0)); 23];
        servers.push(server((0.5, 1.0), (0.0, 1.0)));
        let fresh = runs(servers, Goal::InTime).unwrap();
        assert!(fresh.points > 1.0 && (fresh.points_low..=fresh.points_high).contains(&0.0), "{fresh:?}");
        assert!(!fresh.is_worth_a_change(Goal::InTime));
        assert_eq!((fresh.better, fresh.same, fresh.worse.len()), (1, 23, 0));
    }

    #[test]
    fn servers_on_which_the_choice_is_worse_are_named() {
        let servers = vec![server((0.0, 1.0), (0.1, 1.0)), server((0.9, 1.0), (0.0, 1.0))];
        let fresh = runs(servers, Goal::InTime).unwrap();
        assert_eq!((fresh.better, fresh.worse), (1, vec![0]));
        assert!((fresh.points - 40.0).abs() < 1e-9);
        assert_eq!(runs(Vec::new(), Goal::InTime), None);
    }
}
