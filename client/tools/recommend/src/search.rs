//! Search: which candidates run on which servers, and which are dropped on the way.

use crate::budget::Budget;
use crate::candidate::Candidate;
use crate::decision::{mean_cost, worst_excess};
use crate::observed::{Goal, Observed, RunTable};
use crate::recommendation::LeftOut;

/// A candidate is far from the best if its worst excess is this many points above the best worst excess.
const FAR_POINTS: f64 = 10.0;
/// Limit that replaces `FAR_POINTS` once `ENOUGH_SERVERS` servers have been tried.
const NEAR_POINTS: f64 = 1.5;
const ENOUGH_SERVERS: usize = 8;
/// Once all extremes have been tried, a candidate is far from the best if it costs this many times as much as another one on average, and is
/// better than that one on none of the servers.
const FAR_COST: f64 = 1.1;
/// Ratio of the costs of two runs up to which the first is not better than the second.
const SAME_COST: f64 = 1.01;

/// Share of the budget for the first stage, so that the second stage can be made, too.
const FIRST_STAGE: f64 = 0.5;

/// State machine of a search. The caller adds the candidates of a stage, then makes the runs that [`Search::next_server`] returns and records
/// them, until it returns `None`.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub table: RunTable,
    /// Candidates that the search may choose. All other candidates run only for comparison.
    pub eligible: Vec<usize>,
    stage_first: usize,
    stages: u32,
    alive: Vec<bool>,
    servers: usize,
    /// Number of the first servers that have all extremes of the uncertain figures.
    extremes: usize,
    first_drawn: usize,
    /// Groups of servers, one for each part of the range of each uncertain figure. A candidate that is far from the best on all servers may
    /// be the best on one of these groups.
    groups: Vec<Vec<usize>>,
    server: usize,
    /// Maximum share of rejected attempts, 0 to 1. A candidate that exceeds it on any server may not be chosen.
    pub max_rejected: Option<f64>,
    pub budget: Budget,
    /// Servers and candidates that the search left out because of its budget.
    pub left_out: LeftOut,
}

impl Search {
    /// Creates a search over `servers` servers. The first `extremes` have all extremes of the uncertain figures, and those from number
    /// `first_drawn` on were drawn at random. `groups` contains the servers in
    /// each part of each uncertain figure's range. `ops` is the number of ops of a run, and `most` the maximum number of attempts of all
    /// runs.
    pub(crate) fn new(
        goal: Goal,
        (servers, extremes, first_drawn): (usize, usize, usize),
        groups: Vec<Vec<usize>>,
        (ops, most): (u64, u64),
    ) -> Self {
        Self {
            table: RunTable::new(goal),
            eligible: Vec::new(),
            stage_first: 0,
            stages: 0,
            alive: Vec::new(),
            servers,
            extremes,
            first_drawn,
            groups,
            server: 0,
            max_rejected: None,
            budget: Budget::new(most, ops),
            left_out: LeftOut::default(),
        }
    }

    /// Begins a stage of the search with new candidates. Candidate 0, today's setting, is never dropped.
    pub(crate) fn begin_stage(&mut self, candidates: &[&Candidate]) {
        self.stage_first = self.table.candidates();
        self.stages += 1;
        self.server = 0;
        for candidate in candidates {
            let row = self.table.add_row(candidate.changes.len(), self.servers);
            self.alive.push(true);
            if !candidate.is_by_code {
                self.eligible.push(row);
            }
        }
    }

    /// Returns the number of the next server of the search, and the candidates that have to run on it.
    pub(crate) fn next_server(&mut self) -> Option<(usize, Vec<usize>)> {
        let server = self.server;
        if server >= self.servers {
            return None;
        }
        let share = if self.stages == 1 { FIRST_STAGE } else { 1.0 };
        let runs_left = self.budget.runs_left(share);
        let mut running = self.running();
        if server < self.first_drawn {
            let most = (runs_left / (self.first_drawn - server)).max(2);
            self.drop_worst(running.len().saturating_sub(most), server);
            running = self.running();
        }
        if runs_left < running.len() && server > 0 {
            self.left_out.servers += self.servers - server;
            self.servers = server;
            self.first_drawn = self.first_drawn.min(server);
            return None;
        }
        self.server += 1;
        (!running.is_empty()).then_some((server, running))
    }

    /// Records the runs on one server of all candidates that [`Search::next_server`] returned. `observed` has the order of `candidates`.
    pub(crate) fn record(&mut self, server: usize, candidates: &[usize], observed: &[Observed]) {
        self.budget.spend(observed);
        for (candidate, observed) in candidates.iter().zip(observed) {
            self.table.set(*candidate, server, *observed);
            if self.max_rejected.is_some_and(|most| observed.rejected_share() > most) {
                self.eligible.retain(|other| other != candidate);
                self.alive[*candidate] &= *candidate == 0;
            }
        }
        self.drop_far(server);
    }

    pub(crate) fn servers(&self) -> Vec<usize> {
        (0..self.servers).collect()
    }

    fn running(&self) -> Vec<usize> {
        (self.stage_first..self.table.candidates()).filter(|candidate| self.alive[*candidate]).collect()
    }

    /// Returns the candidates that run in the current stage, without today's setting.
    fn rivals(&self) -> impl Iterator<Item = usize> {
        self.running().into_iter().filter(|candidate| *candidate != 0)
    }

    /// Drops candidates that are far from the best, both on all servers tried so far and in each group of servers. Without the groups, no
    /// look-up could find a candidate that is the best in one part of a range and hopeless in the other.
    fn drop_far(&mut self, last_server: usize) {
        let tried: Vec<usize> = (0..=last_server).collect();
        let mut far = self.far(&tried);
        for group in &self.groups {
            let tried: Vec<usize> = group.iter().copied().filter(|server| *server <= last_server).collect();
            let far_there = self.far(&tried);
            far.retain(|candidate| far_there.contains(candidate));
        }
        far.extend(self.rivals().filter(|candidate| self.is_beaten(*candidate, &tried)));
        for candidate in far {
            self.alive[candidate] = false;
        }
    }

    /// Returns true if one other candidate is much cheaper than this one on average over the given servers, and on none of them costs more or
    /// leaves more undone.
    fn is_beaten(&self, candidate: usize, servers: &[usize]) -> bool {
        let beats = |other: &usize| {
            let pairs: Vec<_> = servers
                .iter()
                .filter_map(|server| self.table.get(candidate, *server).zip(self.table.get(*other, *server)))
                .filter(|(one, other)| other.undone <= one.undone && other.cost <= SAME_COST * one.cost)
                .collect();
            let ratio = Observed::cost_ratio(pairs.iter().copied()).unwrap_or(1.0);
            pairs.len() == servers.len() && FAR_COST * ratio <= 1.0
        };
        servers.len() >= self.extremes && self.eligible.iter().any(beats)
    }

    /// Returns the candidates of the current stage whose worst excess on the given servers is far above the best worst excess.
    fn far(&self, servers: &[usize]) -> Vec<usize> {
        let worst = |candidate: usize| worst_excess(&self.table, &self.eligible, candidate, servers);
        let in_race = self.eligible.iter().filter(|candidate| self.alive[**candidate]);
        let best = in_race.filter_map(|candidate| worst(*candidate)).reduce(f64::min);
        let Some(best) = best.filter(|_| !servers.is_empty()) else { return Vec::new() };
        let far = if servers.len() >= ENOUGH_SERVERS { NEAR_POINTS } else { FAR_POINTS };
        let is_far = |candidate: &usize| worst(*candidate).is_some_and(|excess| excess > best + far);
        self.rivals().filter(|candidate| self.eligible.contains(candidate)).filter(is_far).collect()
    }

    /// Drops `count` candidates of the current stage because of the budget. Candidates that cannot be chosen are dropped first, then
    /// candidates with the largest worst excess. Of equal candidates, those with the highest costs are dropped first, then the last ones.
    fn drop_worst(&mut self, count: usize, servers: usize) {
        let servers: Vec<usize> = (0..servers).collect();
        let key = |candidate: usize| {
            let worst =
                worst_excess(&self.table, &self.eligible, candidate, &servers).unwrap_or(f64::INFINITY);
            let cost = mean_cost(&self.table, &self.eligible, candidate, &servers);
            (!self.eligible.contains(&candidate), worst, cost, candidate)
        };
        let mut running: Vec<_> = self.rivals().map(key).collect();
        running.sort_by(|one, other| {
            let by_figures = other.1.total_cmp(&one.1).then(other.2.total_cmp(&one.2));
            other.0.cmp(&one.0).then(by_figures).then(other.3.cmp(&one.3))
        });
        for (.., candidate) in running.into_iter().take(count) {
            self.alive[candidate] = false;
            self.left_out.candidates += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(undone: f64, attempts: f64) -> Observed {
        Observed { attempts, ..Observed::with_cost(undone, 1.0) }
    }

    fn candidate() -> Candidate {
        Candidate::today("none", "none".parse().unwrap(), None)
    }

    /// Runs a search in which candidate `c` leaves `undone(c, server)` of the ops undone.
    fn run(search: &mut Search, candidates: usize, undone: impl Fn(usize, usize) -> f64) -> Vec<usize> {
        let mut sizes = Vec::new();
        search.begin_stage(&vec![&candidate(); candidates]);
        while let Some((server, running)) = search.next_server() {
            let runs: Vec<Observed> =
                running.iter().map(|candidate| observed(undone(*candidate, server), 100.0)).collect();
            search.record(server, &running, &runs);
            sizes.push(running.len());
        }
        sizes
    }

    #[test]
    fn bad_candidates_are_dropped_but_never_today() {
        let mut search = Search::new(Goal::InTime, (12, 8, 10), Vec::new(), (100, 1_000_000));
        let sizes = run(&mut search, 4, |candidate, _| [0.9, 0.0, 0.05, 0.5][candidate]);
        assert_eq!(sizes, [4, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2]);
        assert!(search.table.has_all(0, &search.servers()) && search.table.has_all(1, &search.servers()));
        assert!(!search.table.has_all(2, &search.servers()));
        assert_eq!(search.left_out, LeftOut::default());
    }

    #[test]
    fn candidates_with_many_rejections_are_no_competition() {
        let mut search = Search::new(Goal::InTime, (4, 8, 4), Vec::new(), (100, 1_000_000));
        search.max_rejected = Some(0.1);
        search.begin_stage(&[&candidate(); 3]);
        while let Some((server, running)) = search.next_server() {
            let run = |candidate: &usize| {
                let undone = if *candidate == 2 { 0.5 } else { 0.0 };
                let rejected = if *candidate == 2 { 0.0 } else { 50.0 };
                Observed { rejected, ..observed(undone, 100.0) }
            };
            search.record(server, &running, &running.iter().map(run).collect::<Vec<_>>());
        }
        assert_eq!(search.eligible, [2], "it is not compared with those that are excluded");
        assert!(search.table.has_all(2, &search.servers()) && search.table.has_all(0, &search.servers()));
        assert!(!search.table.has_all(1, &search.servers()));
    }

    #[test]
    fn a_candidate_that_is_best_in_a_group_is_kept() {
        let groups = vec![vec![0, 1, 4], vec![2, 3, 5]];
        let mut search = Search::new(Goal::InTime, (6, 8, 6), groups, (100, 1_000_000));
        let undone = |candidate: usize, server: usize| match candidate {
            1 if [2, 3, 5].contains(&server) => 0.5,
            2 => 0.5,
            _ => 0.0,
        };
        assert_eq!(run(&mut search, 3, undone), [3, 3, 3, 2, 2, 2], "candidate 2 is far in both groups");
        assert!(search.table.has_all(1, &search.servers()));
    }

    #[test]
    fn a_short_budget_costs_drawn_servers_then_candidates() {
        let mut search = Search::new(Goal::InTime, (12, 8, 10), Vec::new(), (100, 10_000));
        let sizes = run(&mut search, 4, |_, _| 0.0);
        assert_eq!(sizes, [4; 12], "48 runs of 100 attempts are within half of the budget");
        let mut search = Search::new(Goal::InTime, (12, 8, 10), Vec::new(), (100, 8_500));
        assert_eq!(run(&mut search, 4, |_, _| 0.0), [4; 10]);
        assert_eq!(search.left_out, LeftOut { servers: 2, candidates: 0 });
        let mut search = Search::new(Goal::InTime, (12, 8, 10), Vec::new(), (100, 6_000));
        let sizes = run(&mut search, 4, |candidate, _| candidate as f64 * 0.001);
        assert_eq!(sizes, [3; 10]);
        assert_eq!(search.left_out, LeftOut { servers: 2, candidates: 1 });
    }

    #[test]
    fn costly_candidates_are_dropped_if_another_is_cheaper_everywhere() {
        let mut search = Search::new(Goal::Finish, (10, 8, 10), Vec::new(), (100, 1_000_000));
        search.begin_stage(&[&candidate(); 4]);
        let mut sizes = Vec::new();
        while let Some((server, running)) = search.next_server() {
            // Candidate 2 is the cheapest on one server, and candidate 3 is as cheap as today's setting on some.
            let cost = |candidate: usize| match candidate {
                2 if server == 1 => 0.5,
                3 if server < 4 => 1.0,
                0 => 1.0,
                _ => 1.3,
            };
            let runs: Vec<Observed> = running.iter().map(|it| Observed::with_cost(0.0, cost(*it))).collect();
            search.record(server, &running, &runs);
            sizes.push(running.len());
        }
        assert_eq!(sizes, [4, 4, 4, 4, 4, 4, 4, 4, 2, 2]);
        assert!(search.table.has_all(2, &search.servers()));
    }

    #[test]
    fn a_stage_competes_with_the_candidates_before_it() {
        let mut search = Search::new(Goal::InTime, (3, 8, 3), Vec::new(), (100, 1_000_000));
        run(&mut search, 2, |_, _| 0.0);
        let sizes = run(&mut search, 2, |candidate, _| if candidate == 2 { 0.5 } else { 0.0 });
        assert_eq!(sizes, [2, 1, 1]);
    }
}
