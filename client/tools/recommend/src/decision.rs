//! Choice of the recommended candidate: by its result on its worst server, then by its number of changes.

use crate::observed::RunTable;

/// Largest ratio of mean costs at which a candidate counts as equal to the one with the least.
const EQUAL_COST: f64 = 1.03;

/// Returns the excess of a candidate on a server, in percentage points. It is the candidate's share of undone ops minus the least share of
/// the candidates `among` on the same server. `None` if the candidate did not run on the server.
pub(crate) fn excess(table: &RunTable, among: &[usize], candidate: usize, server: usize) -> Option<f64> {
    let undone = table.get(candidate, server)?.undone;
    let all = among.iter().filter_map(|other| table.get(*other, server)).map(|observed| observed.undone);
    Some(100.0 * (undone - all.fold(undone, f64::min)))
}

/// Returns the worst excess of a candidate, which is its largest `excess` on the given servers. `None` if the candidate did not run on all
/// of the servers.
pub(super) fn worst_excess(
    table: &RunTable,
    among: &[usize],
    candidate: usize,
    servers: &[usize],
) -> Option<f64> {
    servers
        .iter()
        .try_fold(0.0_f64, |worst, server| Some(worst.max(excess(table, among, candidate, *server)?)))
}

/// Returns the geometric mean, over the given servers, of the ratio of a candidate's cost to the least cost of the candidates in `kept` on the
/// same server.
pub(super) fn mean_cost(table: &RunTable, kept: &[usize], candidate: usize, servers: &[usize]) -> f64 {
    let ratio = |server: &usize| {
        let cost = |candidate: usize| table.get(candidate, *server).map_or(f64::INFINITY, |run| run.cost);
        let least = kept.iter().map(|other| cost(*other)).fold(f64::INFINITY, f64::min);
        if least.is_infinite() { 1.0 } else { cost(candidate) / least }
    };
    let sum: f64 = servers.iter().map(|server| libm::log(ratio(server))).sum();
    libm::exp(sum / servers.len().max(1) as f64)
}

/// Chooses a candidate. Candidates that did not run on all servers are left out.
///
/// Candidates are discarded if their worst excess is more than [`Goal::equal_points`](super::Goal::equal_points) above the least one. From the rest,
/// candidates are discarded if their mean cost is more than 3 % above the least one. The remaining candidate with the fewest changes is
/// chosen. If several candidates have the fewest changes, the lower worst excess decides, then the lower mean cost, then the order of the
/// candidates.
pub(crate) fn choose(table: &RunTable, among: &[usize], servers: &[usize]) -> Option<usize> {
    let known: Vec<(usize, f64)> = among
        .iter()
        .filter_map(|candidate| Some((*candidate, worst_excess(table, among, *candidate, servers)?)))
        .collect();
    let least = known.iter().map(|(_, excess)| *excess).reduce(f64::min)?;
    let kept = || known.iter().filter(|(_, excess)| *excess <= least + table.goal.equal_points());
    let all: Vec<usize> = kept().map(|(candidate, _)| *candidate).collect();
    let costs: Vec<(usize, f64, f64)> = kept()
        .map(|(candidate, excess)| (*candidate, *excess, mean_cost(table, &all, *candidate, servers)))
        .collect();
    let least = costs.iter().map(|(.., cost)| *cost).reduce(f64::min)?;
    costs
        .into_iter()
        .filter(|(.., cost)| *cost <= least * EQUAL_COST)
        .min_by(|(one, excess, cost), (other, of_other, cost_of_other)| {
            let by_figures = excess.total_cmp(of_other).then(cost.total_cmp(cost_of_other));
            table.changes[*one].cmp(&table.changes[*other]).then(by_figures).then(one.cmp(other))
        })
        .map(|(candidate, ..)| candidate)
}

/// Returns the candidates, the best first. Each entry is the candidate that `choose` selects from the candidates that are not in the list
/// yet.
pub(crate) fn ordered(table: &RunTable, among: &[usize], servers: &[usize]) -> Vec<usize> {
    let mut left = among.to_vec();
    let mut ordered = Vec::new();
    while let Some(best) = choose(table, &left, servers) {
        left.retain(|candidate| *candidate != best);
        ordered.push(best);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Goal, Observed};

    fn table(changes: &[usize], rows: &[&[(f64, f64)]]) -> RunTable {
        let mut table = RunTable::new(Goal::InTime);
        for (row, changes) in rows.iter().zip(changes) {
            let candidate = table.add_row(*changes, row.len());
            for (server, (undone, cost)) in row.iter().enumerate() {
                table.set(candidate, server, Observed::with_cost(*undone, *cost));
            }
        }
        table
    }

    #[test]
    fn the_least_worst_excess_is_chosen_not_the_least_mean() {
        let table = table(&[0, 1], &[&[(0.0, 1.0), (0.5, 1.0)], &[(0.2, 1.0), (0.2, 1.0)]]);
        assert_eq!(excess(&table, &[0, 1], 0, 1), Some(30.0));
        assert_eq!(choose(&table, &[0, 1], &[0, 1]), Some(1));
        assert_eq!(choose(&table, &[0, 1], &[0]), Some(0));
    }

    #[test]
    fn equal_shares_are_decided_by_cost_and_then_by_changes() {
        let table = table(&[0, 2, 1, 1], &[&[(0.0, 10.0)], &[(0.005, 5.0)], &[(0.0, 5.1)], &[(0.5, 1.0)]]);
        assert_eq!(choose(&table, &[0, 1, 2, 3], &[0]), Some(2));
        assert_eq!(ordered(&table, &[0, 1, 2, 3], &[0]), [2, 1, 0, 3]);
    }

    #[test]
    fn of_a_fixed_amount_of_work_a_fifth_of_a_point_decides() {
        let mut table =
            table(&[0, 1, 1, 1], &[&[(0.0, 10.0)], &[(0.003, 5.0)], &[(0.002, 9.0)], &[(0.001, 9.1)]]);
        assert_eq!(choose(&table, &[0, 1, 2, 3], &[0]), Some(1));
        table.goal = Goal::Finish;
        assert_eq!(choose(&table, &[0, 1, 2, 3], &[0]), Some(3));
    }

    #[test]
    fn candidates_without_all_runs_are_never_chosen() {
        let mut table = table(&[0], &[&[(0.3, 1.0), (0.3, 1.0)]]);
        let dropped = table.add_row(1, 2);
        table.set(dropped, 0, Observed::with_cost(0.0, 1.0));
        assert_eq!(choose(&table, &[0, dropped], &[0, 1]), Some(0));
        assert_eq!(choose(&table, &[0, dropped], &[0]), Some(dropped));
        assert_eq!(choose(&table, &[], &[0]), None);
    }

    #[test]
    fn the_answer_follows_the_runs_when_candidates_are_permuted() {
        let rows: Vec<Vec<(f64, f64)>> = (0..6_u32)
            .map(|row| {
                (0..5_u32)
                    .map(|server| (f64::from((row * 7 + server * 3 + row * row) % 31) / 31.0, 1.0))
                    .collect()
            })
            .collect();
        let table = table(&[1; 6], &rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let all: Vec<usize> = (0..6).collect();
        let best = choose(&table, &all, &[0, 1, 2, 3, 4]).unwrap();
        for turn in 1..6 {
            let order: Vec<usize> = (0..6).map(|row| (row + turn) % 6).collect();
            let found = choose(&table.permuted(&order), &all, &[0, 1, 2, 3, 4]).unwrap();
            assert_eq!(order[found], best);
        }
    }
}
