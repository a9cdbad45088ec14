//! Servers that a search tries, chosen by rule, and servers drawn at random.
//!
//! The rule is: the nominal server; the corners of all ranges; each end of each range alone; six servers drawn at random. A rule is used
//! because an answer found on random servers alone changes from draw to draw.

use std::collections::{BTreeMap, BTreeSet};

use vocabulary::{Purpose, draws, unit};

use crate::range::{Plausible, Range};

const DRAWN: u32 = 6;
/// Ranges of which all corners are tried. With more ranges, 16 of the corners are tried.
const FULL: usize = 4;

/// Number that distinguishes the random draws of a search's servers from the draws of fresh servers.
const OF_SEARCH: u32 = 3;
const OF_FRESH: u32 = 4;

/// Generators of the two-level fractional factorial design with eight factors in 16 runs (2⁸⁻⁴, resolution IV; Box, Hunter and Hunter,
/// "Statistics for Experimenters"). Factor 5 + i is high if an odd number of the basic factors in entry i is high.
const GENERATORS: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 2], [0, 1, 3]];

/// Value of one uncertain figure on one plausible server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Position {
    Nominal,
    /// Value within a range, in the base unit of its notation.
    At(f64),
    Listed(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlausibleServer {
    pub positions: Vec<Position>,
    pub drawn: bool,
}

impl PlausibleServer {
    pub(crate) fn changes(&self, ranges: &[Range]) -> BTreeMap<String, String> {
        let changes = self.positions.iter().zip(ranges).filter_map(|(position, range)| {
            let value = match (position, &range.plausible) {
                (Position::At(value), Plausible::Between { notation, .. }) => notation.write(*value),
                (Position::Listed(index), Plausible::Listed(values)) => values.get(*index)?.clone(),
                _ => return None,
            };
            (value != range.nominal).then(|| (range.key.clone(), value))
        });
        changes.collect()
    }
}

/// Returns the servers of a search, the nominal server first and the drawn servers last. No server is repeated.
pub(crate) fn search_servers(ranges: &[Range], seed: u64) -> Vec<PlausibleServer> {
    let nominal = PlausibleServer { positions: vec![Position::Nominal; ranges.len()], drawn: false };
    let mut servers = vec![nominal.clone()];
    servers.extend(corners(ranges));
    for (index, range) in ranges.iter().enumerate() {
        for position in all_ends(range) {
            let mut server = nominal.clone();
            server.positions[index] = position;
            servers.push(server);
        }
    }
    if !ranges.is_empty() {
        servers.extend((0..DRAWN).map(|number| draw(ranges, seed, number, OF_SEARCH)));
    }
    let mut earlier = BTreeSet::new();
    servers.retain(|server| earlier.insert(server.changes(ranges)));
    servers
}

/// Returns the number of servers of a search up to the last corner. They have all extremes of the ranges.
pub(crate) fn extremes(servers: &[PlausibleServer]) -> usize {
    let is_corner = |server: &&PlausibleServer| {
        !server.drawn && server.positions.iter().all(|position| *position != Position::Nominal)
    };
    1 + servers.iter().skip(1).take_while(is_corner).count()
}

/// Returns fresh servers, which no search with this seed has tried. Without ranges, every server is the nominal one.
pub(crate) fn drawn(ranges: &[Range], seed: u64, count: u32) -> Vec<PlausibleServer> {
    (0..count).map(|number| draw(ranges, seed, number, OF_FRESH)).collect()
}

fn all_ends(range: &Range) -> Vec<Position> {
    match &range.plausible {
        Plausible::Between { low, high, .. } => vec![Position::At(*low), Position::At(*high)],
        Plausible::Listed(values) => (0..values.len()).map(Position::Listed).collect(),
    }
}

fn corners(ranges: &[Range]) -> Vec<PlausibleServer> {
    if ranges.is_empty() {
        return Vec::new();
    }
    let corner = |number: usize| {
        let basic = |factor: usize| number >> factor & 1 == 1;
        let is_high = |factor: usize| match factor.checked_sub(FULL) {
            None => basic(factor),
            Some(derived) => {
                GENERATORS[derived % FULL].iter().filter(|factor| basic(**factor)).count() % 2 == 1
            }
        };
        let end = |(factor, range)| {
            let ends = all_ends(range);
            if is_high(factor) { ends.last().copied() } else { ends.first().copied() }
        };
        PlausibleServer { positions: ranges.iter().enumerate().filter_map(end).collect(), drawn: false }
    };
    (0..1 << ranges.len().min(FULL)).map(corner).collect()
}

/// Draws a value of each range, log-uniformly, or uniformly from a list.
fn draw(ranges: &[Range], seed: u64, number: u32, kind: u32) -> PlausibleServer {
    let mut draws = draws(seed, Purpose::Setting, number.into(), kind);
    let position = |range: &Range| match &range.plausible {
        Plausible::Between { low, high, .. } => Position::At(low * libm::pow(high / low, unit(&mut draws))),
        Plausible::Listed(values) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
            let index = (unit(&mut draws) * values.len() as f64) as usize;
            Position::Listed(index.min(values.len() - 1))
        }
    };
    PlausibleServer { positions: ranges.iter().map(position).collect(), drawn: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(count: usize) -> Vec<Range> {
        (0..count).map(|key| Range::parse(&format!("k{key}"), "10..1000", "100").unwrap()).collect()
    }

    #[test]
    fn a_search_tries_ends_corners_and_drawn_servers() {
        let count = |ranges: &[Range]| search_servers(ranges, 1).len();
        assert_eq!(count(&[]), 1);
        assert_eq!(count(&ranges(1)), 1 + 2 + 6, "the corners of one range are its ends");
        assert_eq!(count(&ranges(2)), 1 + 4 + 4 + 6);
        assert_eq!(count(&ranges(4)), 1 + 8 + 16 + 6);
        assert_eq!(count(&ranges(8)), 1 + 16 + 16 + 6);
        let with_list = [ranges(1), vec![Range::parse("own", "yes,no", "yes").unwrap()]].concat();
        assert_eq!(count(&with_list), 1 + 3 + 4 + 6 - 2, "equal servers are tried once");
    }

    #[test]
    fn the_corners_come_before_the_ends() {
        assert_eq!([0, 1, 2, 4].map(|count| extremes(&search_servers(&ranges(count), 1))), [1, 3, 5, 17]);
    }

    /// In a design of resolution IV, any three factors take all eight combinations equally often.
    #[test]
    fn any_three_of_eight_ranges_meet_in_all_corners() {
        let corners = corners(&ranges(8));
        let is_high =
            |corner: &PlausibleServer, factor: usize| corner.positions[factor] == Position::At(1000.0);
        for (one, two, three) in
            (0..8).flat_map(|one| (0..one).flat_map(move |two| (0..two).map(move |three| (one, two, three))))
        {
            let mut counts = [0; 8];
            for corner in &corners {
                let bits = [one, two, three].map(|factor| usize::from(is_high(corner, factor)));
                counts[bits[0] * 4 + bits[1] * 2 + bits[2]] += 1;
            }
            assert_eq!(counts, [2; 8], "{one} {two} {three}");
        }
    }

    #[test]
    fn drawn_values_are_log_uniform_and_depend_on_the_seed() {
        let ranges = ranges(1);
        let values = |seed| -> Vec<f64> {
            let value = |server: PlausibleServer| match server.positions[0] {
                Position::At(value) => value,
                _ => panic!(),
            };
            drawn(&ranges, seed, 2_000).into_iter().map(value).collect()
        };
        let below = values(1).iter().filter(|value| **value < 100.0).count();
        assert!((900..1100).contains(&below), "{below}");
        assert_eq!(values(1), values(1));
        assert_ne!(values(1), values(2));
        assert!(values(1).iter().all(|value| (10.0..=1000.0).contains(value)));
    }

    #[test]
    fn only_differences_from_the_nominal_server_are_changes() {
        let ranges = ranges(2);
        let server =
            PlausibleServer { positions: vec![Position::At(100.0), Position::At(10.0)], drawn: false };
        assert_eq!(server.changes(&ranges), [("k1".to_owned(), "10".to_owned())].into());
    }
}
