//! First sentence about a sweep: the best strategy at each point.

use std::cmp::Reverse;

use super::MIN_SEEDS;
use super::sentence::Sentence;

const MAX_RANGES: usize = 3;

pub struct PointWinner<'a> {
    pub value: String,
    /// Best strategy at this point; `None` if no strategy can be distinguished from all others.
    pub winner: Option<&'a str>,
}

/// Returns the first sentence about a sweep: the best strategy at each point. `key` is the varied key, or `None` if two keys are varied.
pub fn first_by_point(key: Option<&str>, points: &[PointWinner<'_>], has_intervals: bool) -> Sentence {
    let unsure = if has_intervals { String::new() } else { format!("; intervals need {MIN_SEEDS} seeds") };
    let mut winners: Vec<Option<&str>> = Vec::new();
    for point in points {
        if !winners.contains(&point.winner) {
            winners.push(point.winner);
        }
    }
    let values = |winner: Option<&str>| -> Vec<&str> {
        points.iter().filter(|point| point.winner == winner).map(|point| point.value.as_str()).collect()
    };
    winners.sort_by_key(|winner| (winner.is_none(), Reverse(values(*winner).len())));
    let all = points.len();
    let end = |sentence: Sentence| sentence.words(format!("{unsure}."));
    if let [only] = winners[..] {
        return match only {
            Some(name) => end(Sentence::default().name(name).words(format!(" is first at all {all} points"))),
            None => Sentence::default()
                .words(format!("No strategy is distinguishably first at any of {all} points.")),
        };
    }
    let named = |sentence: Sentence, winner: Option<&str>| match winner {
        Some(name) => sentence.name(name),
        None => sentence.words("no strategy"),
    };
    let ranges = 1 + points.windows(2).filter(|pair| pair[0].winner != pair[1].winner).count();
    let key = key.filter(|_| ranges <= MAX_RANGES);
    let start = Sentence::default().words(if key.is_none() { "first: " } else { "" });
    let sentence = winners.iter().enumerate().fold(start, |sentence, (place, winner)| {
        let sentence = sentence.words(if place == 0 { "" } else { ", " });
        let sentence = named(sentence, *winner);
        let values = values(*winner);
        sentence.words(match (key, place) {
            (None, 0) => format!(" at {} of {all} points", values.len()),
            (None, _) => format!(" at {}", values.len()),
            (Some("ops"), 0) => format!(" is first at {} ops", listed(&values)),
            (Some(key), 0) => format!(" is first at {key} {}", listed(&values)),
            (Some(_), _) => format!(" at {}", listed(&values)),
        })
    });
    end(sentence)
}

fn listed(values: &[&str]) -> String {
    match values {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(key: Option<&str>, points: &[(&str, Option<&str>)], has_intervals: bool) -> String {
        let point = |(value, winner): &(&str, Option<&'static str>)| PointWinner {
            value: (*value).to_owned(),
            winner: *winner,
        };
        let points: Vec<(&str, Option<&'static str>)> = points
            .iter()
            .map(|(value, winner)| (*value, winner.map(|name| if name == "a" { "a" } else { "b" })))
            .collect();
        let points: Vec<_> = points.iter().map(point).collect();
        first_by_point(key, &points, has_intervals).to_string()
    }

    #[test]
    fn few_ranges_are_listed_and_many_are_counted() {
        let (a, b) = (Some("a"), Some("b"));
        let points = [("50", b), ("100", b), ("500", a), ("2 000", a), ("5 000", a)];
        assert_eq!(
            sentence(Some("ops"), &points, true),
            "a is first at 500, 2 000 and 5 000 ops, b at 50 and 100."
        );
        assert_eq!(
            sentence(Some("max-busy"), &[("10", a), ("20", None)], true),
            "a is first at max-busy 10, no strategy at 20."
        );
        let changing = [("1", a), ("2", b), ("3", a), ("4", b), ("5", a)];
        assert_eq!(sentence(Some("ops"), &changing, true), "first: a at 3 of 5 points, b at 2.");
        assert_eq!(sentence(None, &points, true), "first: a at 3 of 5 points, b at 2.");
        assert_eq!(
            sentence(Some("ops"), &points[..2], false),
            "b is first at all 2 points; intervals need 5 seeds."
        );
        assert_eq!(
            sentence(Some("ops"), &[("1", None), ("2", None)], true),
            "No strategy is distinguishably first at any of 2 points."
        );
    }
}
