//! Figures that are worth looking up, because the answer depends on them.

use std::cmp::Ordering;

use crate::decision::choose;
use crate::observed::{Goal, Observed, RunTable};
use crate::range::{Plausible, Range, read};
use crate::recommendation::LookUpRecord;
use crate::servers::{PlausibleServer, Position};

pub(crate) const MAX_LOOK_UPS: usize = 2;
/// Gains from which a figure is worth looking up: undone ops fall by at least `WORTH_POINTS` percentage points, or the ratio of costs is at
/// most `WORTH_COST`.
const WORTH_POINTS: f64 = 1.0;
const WORTH_COST: f64 = 0.95;
const DONE: f64 = 0.01;

impl LookUpRecord {
    /// Returns the look-up with its gains on `servers`, or `None` if the candidate is not better there. `runs` are pairs of the chosen
    /// candidate's and of this candidate's run on each server.
    #[must_use]
    pub(crate) fn confirmed(self, goal: Goal, runs: &[(Observed, Observed)]) -> Option<Self> {
        let (of_chosen, of_candidate): (Vec<Observed>, Vec<Observed>) = runs.iter().copied().unzip();
        let (points, cost_ratio) = gain(&of_chosen, &of_candidate)?;
        // A client that gives up early has a short makespan, which is no gain.
        let does_all = Observed::mean(&of_candidate).is_some_and(|mean| mean.undone < DONE);
        let is_better =
            points >= WORTH_POINTS || does_all && points > -goal.equal_points() && cost_ratio <= WORTH_COST;
        (is_better && !runs.iter().any(Self::is_refuted_by)).then_some(Self { points, cost_ratio, ..self })
    }

    /// Returns true if the second of two runs on a server leaves so much more undone than the first that the look-up is not confirmed.
    pub(crate) fn is_refuted_by((of_chosen, of_candidate): &(Observed, Observed)) -> bool {
        100.0 * (of_candidate.undone - of_chosen.undone) > WORTH_POINTS
    }
}

/// Returns the server's uncertain figures whose values could change the answer, the largest gain first. For each part of a figure's range,
/// a candidate is chosen again from the same runs, on the servers in that part. `fresh` are servers that the search has not used.
pub(crate) fn look_ups(
    table: &RunTable,
    among: &[usize],
    chosen: usize,
    (ranges, servers, fresh): (&[Range], &[PlausibleServer], &[PlausibleServer]),
) -> Vec<LookUpRecord> {
    let mut found = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        let of_range = parts(range).into_iter().filter_map(|(condition, part)| {
            let numbers = part.servers(servers, index);
            let candidate = choose(table, among, &numbers).filter(|other| *other != chosen)?;
            let (points, cost_ratio) = gain(&table.runs(chosen, &numbers), &table.runs(candidate, &numbers))?;
            let is_worth_it =
                points >= WORTH_POINTS || (points > -table.goal.equal_points() && cost_ratio <= WORTH_COST);
            is_worth_it.then(|| LookUpRecord {
                key: range.key.clone(),
                condition,
                holds_for: None,
                candidate,
                points,
                cost_ratio,
                tried: numbers,
                servers: fresh.iter().map(|server| part.moved(server, index)).collect(),
            })
        });
        // Only the part of a range with the larger gain is named, because the other part follows from it.
        found.extend(of_range.reduce(|one, other| if by_gain(&other, &one).is_gt() { other } else { one }));
    }
    found.sort_by(|one, other| by_gain(other, one));
    found
}

pub(crate) fn groups(ranges: &[Range], servers: &[PlausibleServer]) -> Vec<Vec<usize>> {
    let of_range =
        |(index, range)| parts(range).into_iter().map(move |(_, part)| part.servers(servers, index));
    ranges.iter().enumerate().flat_map(of_range).collect()
}

fn by_gain(one: &LookUpRecord, other: &LookUpRecord) -> Ordering {
    let points = |look_up: &LookUpRecord| if look_up.points >= WORTH_POINTS { look_up.points } else { 0.0 };
    points(one).total_cmp(&points(other)).then(other.cost_ratio.total_cmp(&one.cost_ratio))
}

/// Part of a range: the values up to or from its geometric mean, or one value of a list.
#[derive(Clone, Copy, Debug)]
enum Part {
    UpTo { end: f64, nominal: f64 },
    From { end: f64, nominal: f64 },
    Listed { index: usize, nominal: usize },
}

impl Part {
    fn includes(self, position: &Position) -> bool {
        let value = |nominal: f64| match position {
            Position::At(value) => *value,
            Position::Nominal | Position::Listed(_) => nominal,
        };
        match self {
            Self::UpTo { end, nominal } => value(nominal) <= end,
            Self::From { end, nominal } => value(nominal) >= end,
            Self::Listed { index, nominal } => match position {
                Position::Listed(listed) => *listed == index,
                Position::Nominal | Position::At(_) => nominal == index,
            },
        }
    }

    /// Returns the numbers of the servers with the figure `index` in this part.
    fn servers(self, servers: &[PlausibleServer], index: usize) -> Vec<usize> {
        (0..servers.len()).filter(|server| self.includes(&servers[*server].positions[index])).collect()
    }

    /// Returns the server with the figure `index` in this part. A value in the other half of a range is mirrored at the middle.
    fn moved(self, server: &PlausibleServer, index: usize) -> PlausibleServer {
        let mut server = server.clone();
        let position = &mut server.positions[index];
        if !self.includes(position) {
            *position = match self {
                Self::Listed { index, .. } => Position::Listed(index),
                Self::UpTo { end, .. } | Self::From { end, .. } => Position::At(match position {
                    Position::At(value) => end * end / *value,
                    Position::Nominal | Position::Listed(_) => end,
                }),
            };
        }
        server
    }
}

/// Returns the parts of a range, each with its condition in words.
fn parts(range: &Range) -> Vec<(String, Part)> {
    match &range.plausible {
        Plausible::Between { low, high, notation } => {
            let end = libm::sqrt(low * high);
            let nominal = read(&range.nominal).map_or(end, |(value, _)| value);
            let text = notation.short(end);
            vec![
                (format!("≤ {text}"), Part::UpTo { end, nominal }),
                (format!("≥ {text}"), Part::From { end, nominal }),
            ]
        }
        Plausible::Listed(values) => {
            let nominal = values.iter().position(|value| *value == range.nominal).unwrap_or(0);
            let part = |(index, value): (usize, &String)| (value.clone(), Part::Listed { index, nominal });
            values.iter().enumerate().map(part).collect()
        }
    }
}

/// Returns the undone ops saved, in percentage points, and the ratio of costs.
fn gain(of_chosen: &[Observed], of_candidate: &[Observed]) -> Option<(f64, f64)> {
    let undone = |runs: &[Observed]| Observed::mean(runs).map(|mean| 100.0 * mean.undone);
    let points = undone(of_chosen)? - undone(of_candidate)?;
    let cost_ratio = Observed::cost_ratio(of_chosen.iter().zip(of_candidate));
    Some((points, cost_ratio.unwrap_or(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::servers::search_servers;

    /// Candidate 0 is safe everywhere. Candidate 1 is twice as fast, but leaves half undone where `own` is `yes`.
    fn example() -> (Vec<Range>, Vec<PlausibleServer>, RunTable) {
        let ranges = vec![
            Range::parse("own", "yes,no", "yes").unwrap(),
            Range::parse("burst", "10..1000", "500").unwrap(),
        ];
        let servers = search_servers(&ranges, 1);
        let mut table = RunTable::new(Goal::InTime);
        for candidate in 0..2 {
            let row = table.add_row(1, servers.len());
            for (number, server) in servers.iter().enumerate() {
                let is_own = !matches!(server.positions[0], Position::Listed(1));
                let undone = if candidate == 1 && is_own { 0.5 } else { 0.0 };
                let cost = if candidate == 1 { 50.0 } else { 100.0 };
                let observed = Observed::with_cost(undone, cost);
                table.set(row, number, observed);
            }
        }
        (ranges, servers, table)
    }

    #[test]
    fn a_figure_that_changes_the_answer_is_named_with_its_gain() {
        let (ranges, servers, table) = example();
        let all: Vec<usize> = (0..servers.len()).collect();
        assert_eq!(choose(&table, &[0, 1], &all), Some(0));
        let found = look_ups(&table, &[0, 1], 0, (&ranges, &servers, &servers));
        let [look_up] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((&*look_up.key, &*look_up.condition, look_up.candidate), ("own", "no", 1));
        assert!((look_up.cost_ratio - 0.5).abs() < 1e-9 && look_up.points == 0.0);
    }

    #[test]
    fn a_look_up_is_confirmed_on_servers_in_its_part() {
        let (ranges, servers, table) = example();
        let found = look_ups(&table, &[0, 1], 0, (&ranges, &servers, &servers));
        let [look_up] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(look_up.servers.len(), servers.len());
        assert!(look_up.servers.iter().all(|server| server.positions[0] == Position::Listed(1)));
        let run = Observed::with_cost;
        let of = |candidate| look_up.clone().confirmed(Goal::InTime, &[(run(0.0, 100.0), candidate)]);
        assert!((of(run(0.0, 60.0)).unwrap().cost_ratio - 0.6).abs() < 1e-9);
        assert_eq!(of(run(0.5, 60.0)), None, "it leaves more undone");
        assert_eq!(of(run(0.0, 99.0)), None, "it costs as much");
        let gives_up = [(run(0.5, 100.0), run(0.5, 50.0))];
        assert_eq!(look_up.clone().confirmed(Goal::InTime, &gives_up), None, "giving up early is no gain");
    }

    #[test]
    fn nothing_is_looked_up_if_the_answer_is_the_same_everywhere() {
        let (ranges, servers, table) = example();
        assert_eq!(look_ups(&table, &[0], 0, (&ranges, &servers, &servers)), []);
    }
}
