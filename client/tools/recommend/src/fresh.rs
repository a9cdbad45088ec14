//! Check of the candidate that a search chose, on servers and seeds that the search has not used.

use statistics::{Bootstrap, Interval, Level};

use crate::observed::{Goal, Observed};

/// Number of fresh servers. Without ranges, as many seeds on the nominal server replace them.
pub(crate) const FRESH_SERVERS: u32 = 24;
pub(crate) const FRESH_SEEDS: u32 = 4;

const WORTH_COST: f64 = 0.05;
/// Number of resamples of the bootstrap; its intervals then vary by less than a tenth of their width.
const RESAMPLES: usize = 10_000;

/// Results on one fresh server, as means over seeds: of today's setting and of the candidate that the search chose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FreshServer {
    pub today: Observed,
    pub chosen: Observed,
}

impl FreshServer {
    fn gain(&self) -> f64 {
        100.0 * (self.today.undone - self.chosen.undone)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fresh {
    pub servers: Vec<FreshServer>,
    /// Mean over fresh servers of the share of undone ops of today's setting minus the share of the chosen candidate, in percentage points.
    pub points: f64,
    /// 95 % interval of that difference (bootstrap over servers). Differences are used and not ratios, because shares may be 0.
    pub interval: Interval,
    /// Geometric mean over servers of the ratio of the chosen candidate's cost to the cost of today's setting. Only servers on which both
    /// costs are finite and above 0 count; `None` if there is none.
    pub cost_ratio: Option<f64>,
    pub better: usize,
    pub same: usize,
    /// Indices of the fresh servers on which the chosen candidate leaves more ops undone than today's setting, by more than
    /// [`Goal::equal_points`].
    pub worse: Vec<usize>,
}

impl Fresh {
    pub(crate) fn new(servers: Vec<FreshServer>, goal: Goal, seed: u64) -> Option<Self> {
        let different = goal.equal_points();
        let gains: Vec<f64> = servers.iter().map(FreshServer::gain).collect();
        let interval = Bootstrap::of_mean(&gains, RESAMPLES, seed)?.interval(Level::P95);
        let cost_ratio = Observed::cost_ratio(servers.iter().map(|server| (&server.today, &server.chosen)));
        let worse = (0..gains.len()).filter(|server| gains[*server] < -different).collect::<Vec<_>>();
        let better = gains.iter().filter(|gain| **gain > different).count();
        Some(Self {
            points: gains.iter().sum::<f64>() / gains.len() as f64,
            interval,
            cost_ratio,
            better,
            same: gains.len() - better - worse.len(),
            worse,
            servers,
        })
    }

    /// Returns true if the chosen candidate is worth a change: costs fall by at least 5 %, or undone ops fall by at least
    /// [`Goal::equal_points`], on average or on the worst server, with an interval above 0. A candidate is not worth it if it leaves that much more undone on
    /// average, or more undone on average and on more servers than it leaves less. Neither is it if ops arrive at a rate and significantly
    /// more of them are late.
    pub(crate) fn is_worth_a_change(&self, goal: Goal) -> bool {
        let least = goal.equal_points();
        let is_cheaper = self.cost_ratio.is_some_and(|ratio| ratio <= 1.0 - WORTH_COST);
        let most = |of: fn(&FreshServer) -> f64| self.servers.iter().map(of).fold(0.0, f64::max);
        let at_worst = 100.0 * (most(|server| server.today.undone) - most(|server| server.chosen.undone));
        let does_more = self.points.max(at_worst) >= least && self.interval.low > 0.0;
        let is_significant = goal == Goal::InTime && self.interval.high < 0.0;
        let does_less =
            self.points <= -least || self.points < 0.0 && (self.worse.len() > self.better || is_significant);
        (is_cheaper || does_more) && !does_less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server((today, of_today): (f64, f64), (chosen, of_chosen): (f64, f64)) -> FreshServer {
        let observed = Observed::with_cost;
        FreshServer { today: observed(today, of_today), chosen: observed(chosen, of_chosen) }
    }

    #[test]
    fn fewer_undone_ops_or_lower_costs_are_worth_a_change() {
        let of = |today, chosen| Fresh::new(vec![server(today, chosen); 24], Goal::InTime, 1).unwrap();
        assert!(of((0.3, 10.0), (0.0, 20.0)).is_worth_a_change(Goal::InTime));
        assert!(of((0.0, 10.0), (0.0, 9.4)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.0, 10.0), (0.0, 9.6)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.005, 10.0), (0.0, 10.0)).is_worth_a_change(Goal::InTime));
        assert!(!of((0.0, f64::INFINITY), (0.0, f64::INFINITY)).is_worth_a_change(Goal::InTime));
    }

    #[test]
    fn of_a_fixed_amount_of_work_half_a_point_is_worth_a_change() {
        let fresh = Fresh::new(vec![server((0.005, 10.0), (0.0, 10.0)); 24], Goal::InTime, 1).unwrap();
        assert!(fresh.is_worth_a_change(Goal::Finish));
        let mut servers = vec![server((0.001, 10.0), (0.0, 10.0)); 20];
        servers.extend(vec![server((0.004, 10.0), (0.0, 10.0)); 4]);
        assert!(
            Fresh::new(servers, Goal::InTime, 1).unwrap().is_worth_a_change(Goal::Finish),
            "0.4 points at worst"
        );
    }

    #[test]
    fn lower_costs_never_outweigh_significantly_more_late_ops() {
        let fresh = Fresh::new(vec![server((0.0, 10.0), (0.008, 5.0)); 24], Goal::InTime, 1).unwrap();
        assert!(!fresh.is_worth_a_change(Goal::InTime));
        let rarely = Fresh::new(vec![server((0.0, 10.0), (0.001, 5.0)); 24], Goal::InTime, 1).unwrap();
        assert!(rarely.is_worth_a_change(Goal::Finish));
    }

    #[test]
    fn lower_costs_never_outweigh_more_undone_ops() {
        let mut servers = vec![server((0.0, 10.0), (0.0, 5.0)); 20];
        servers.extend(vec![server((0.0, 10.0), (0.03, 5.0)); 4]);
        assert!(!Fresh::new(servers, Goal::InTime, 1).unwrap().is_worth_a_change(Goal::InTime));
    }

    #[test]
    fn a_gain_on_one_server_of_many_is_uncertain() {
        let mut servers = vec![server((0.0, 1.0), (0.0, 1.0)); 23];
        servers.push(server((0.5, 1.0), (0.0, 1.0)));
        let fresh = Fresh::new(servers, Goal::InTime, 1).unwrap();
        assert!(fresh.points > 1.0 && fresh.interval.includes(0.0), "{fresh:?}");
        assert!(!fresh.is_worth_a_change(Goal::InTime));
        assert_eq!((fresh.better, fresh.same, fresh.worse.len()), (1, 23, 0));
    }

    #[test]
    fn servers_on_which_the_choice_is_worse_are_named() {
        let servers = vec![server((0.0, 1.0), (0.1, 1.0)), server((0.9, 1.0), (0.0, 1.0))];
        let fresh = Fresh::new(servers, Goal::InTime, 1).unwrap();
        assert_eq!((fresh.better, fresh.worse), (1, vec![0]));
        assert!((fresh.points - 40.0).abs() < 1e-9);
        assert_eq!(Fresh::new(Vec::new(), Goal::InTime, 1), None);
    }
}
