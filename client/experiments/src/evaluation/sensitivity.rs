//! Check whether a ranking still holds if the server differs a little.

use std::time::Duration;

use mockserver::core::Config;
use results::{Answer, RankedStrategy, Score};
use statistics::PairOutcome;
use vocabulary::Distribution;

use crate::evaluation::pairs::Pair;
use crate::record::server_model;

/// Compares the ranking on a varied server with the ranking on the original server. The ranking holds under two conditions. First, the
/// same strategies get all ops done. Second, every strategy that was ahead of another by more than chance on the original server is
/// still ahead of it.
pub fn compared(
    variation: &Variation,
    (standings, pairs): (&[RankedStrategy], &[Pair]),
    (before, pairs_before): (&[RankedStrategy], &[&Pair]),
    by: Score,
) -> results::Variation {
    let place = |name: &str| standings.iter().position(|standing| standing.strategy == name);
    let complete =
        |name: &str| standings.iter().any(|standing| standing.strategy == name && standing.is_complete());
    let mut changes = Vec::new();
    for standing in before {
        match (standing.is_complete(), complete(&standing.strategy)) {
            (true, false) => changes.push(format!("{} is incomplete", standing.strategy)),
            (false, true) => changes.push(format!("{} is complete", standing.strategy)),
            _ => {}
        }
    }
    // Pairs with a strategy that became complete or incomplete are skipped, because `changes` already lists this strategy.
    let as_before = |name: &str| {
        let of = |standings: &[RankedStrategy]| {
            let standing = standings.iter().find(|standing| standing.strategy == name);
            standing.filter(|standing| standing.rank.is_some()).map(RankedStrategy::is_complete)
        };
        of(before).is_some() && of(before) == of(standings)
    };
    for Pair { first, second, .. } in pairs_before.iter().filter(|pair| claims(pair)) {
        if as_before(first) && as_before(second) && place(first) > place(second) {
            let turned = pairs.iter().find(|pair| pair.first == *second && pair.second == *first);
            changes.push(if turned.is_some_and(claims) {
                format!("{second} is ahead of {first}")
            } else {
                format!("{first} is no longer ahead of {second}")
            });
        }
    }
    let winner_before = winner(before, by);
    let winner = winner(standings, by);
    let names = |complete: bool| {
        let those = standings.iter().filter(|standing| standing.is_complete() == complete);
        those.map(|standing| standing.strategy.clone()).collect()
    };
    results::Variation {
        variation: variation.name.clone(),
        server: server_model(&variation.server),
        ranking: names(true),
        incomplete: names(false),
        stands: changes.is_empty(),
        changes,
        name: variation.short_name().to_owned(),
        same_winner: Some(winner == winner_before),
        winner,
    }
}

/// Returns the best strategy, provided that it is distinguishable from the others. If there are too few seeds for a test, returns the first
/// strategy of the ranking.
fn winner(standings: &[RankedStrategy], by: Score) -> Option<String> {
    let answer = Answer::new(standings, by);
    let Some(lead) = answer.lead() else { return answer.ranked().next().map(|row| row.strategy.clone()) };
    (lead.is_certain || !answer.has_intervals()).then(|| lead.best.strategy.clone())
}

/// Returns true if the comparison of two strategies shows which of them is better. If there are too few repeats for a test, the order of
/// the two strategies in the ranking counts as shown.
fn claims(pair: &Pair) -> bool {
    matches!(pair.verdict(), Some(PairOutcome::Lower | PairOutcome::Higher | PairOutcome::TooFew))
}

/// Standard deviation of the logarithm of service times on the varied server whose service times are log-normal.
const SIGMA: f64 = 0.5;
/// Mean network delay of the varied server with network jitter, used if the original server has no network delay.
const SMALL_DELAY: Duration = Duration::from_millis(10);

pub struct Variation {
    pub name: String,
    pub server: Config,
}

impl Variation {
    pub fn short_name(&self) -> &str {
        match self.name.split_once(':') {
            Some((cap, _)) if cap.starts_with("cap ") => cap,
            _ if self.name.starts_with("service times") => "lognormal service",
            _ => "jittered network",
        }
    }
}

/// Returns variations of a server, each with one setting changed. A setting that the server's policy does not use is not varied.
pub fn variations(server: &Config) -> Vec<Variation> {
    let mut variations = Vec::new();
    if server.has_cap() {
        // If the server's concurrency limit already changes over time, runs experience several limits anyway. No other limits are tried
        // then.
        let percents: &[_] = if server.caps.is_empty() && server.schedule.is_empty() {
            &[('−', 80), ('+', 120)]
        } else {
            &[]
        };
        for &(sign, percent) in percents {
            let slots = (u64::from(server.max_busy) * percent + 50) / 100;
            let max_busy = u32::try_from(slots).unwrap_or(u32::MAX).clamp(1, 1_000_000);
            if max_busy != server.max_busy {
                variations.push(Variation {
                    name: format!("cap {sign}20 %: {max_busy} slots"),
                    server: Config { max_busy, ..server.clone() },
                });
            }
        }
    }
    if server.draws_service_times() {
        let service_time = Distribution::LogNormal { mean: server.service_time.mean(), sigma: SIGMA };
        variations.push(Variation {
            name: format!("service times {service_time}"),
            server: Config { service_time, ..server.clone() },
        });
    }
    let mean = if server.network_delay.is_zero() { SMALL_DELAY } else { server.network_delay.mean() };
    let network_delay = Distribution::Uniform { low: mean / 2, high: mean + mean / 2 };
    variations.push(Variation {
        name: format!("network {network_delay}"),
        server: Config { network_delay, ..server.clone() },
    });
    variations
}

#[cfg(test)]
mod tests {

    use mockserver::core::Config;

    use super::*;
    use crate::evaluation::pairs::every_pair;
    use crate::evaluation::testing::standings_of;

    fn ranking(attempts: &[(&str, Vec<u64>)]) -> (Vec<RankedStrategy>, Vec<Pair>) {
        let standings = standings_of(attempts);
        let pairs = every_pair(&standings, Score::attempts(), 1);
        (standings, pairs)
    }

    fn changes(before: &[(&str, Vec<u64>)], now: &[(&str, Vec<u64>)]) -> Vec<String> {
        let (before, pairs_before) = ranking(before);
        let (standings, pairs) = ranking(now);
        let variation = Variation { name: "another cap".to_owned(), server: Config::default() };
        let pairs_before: Vec<&Pair> = pairs_before.iter().collect();
        compared(&variation, (&standings, &pairs), (&before, &pairs_before), Score::attempts()).changes
    }

    fn about(attempts: u64) -> Vec<u64> {
        (0..10).map(|run| attempts + run % 3).collect()
    }

    #[test]
    fn a_ranking_holds_while_the_same_strategies_are_ahead() {
        let before = [("a", about(100)), ("b", about(200))];
        assert!(changes(&before, &[("a", about(150)), ("b", about(160))]).is_empty());
        assert_eq!(changes(&before, &[("a", about(200)), ("b", about(100))]), ["b is ahead of a"]);
        // The order differs, but that may be chance.
        let close =
            [("a", vec![100, 90, 110, 100, 90, 110, 101]), ("b", vec![90, 100, 110, 110, 90, 100, 100])];
        assert_eq!(changes(&before, &close), ["a is no longer ahead of b"]);
    }

    #[test]
    fn a_tie_claims_no_order_but_too_few_repeats_do() {
        let tie = [("a", vec![100, 90, 110, 100, 90, 110]), ("b", vec![90, 100, 110, 110, 90, 100])];
        assert!(changes(&tie, &[("a", about(200)), ("b", about(100))]).is_empty());
        let few = [("a", vec![100]), ("b", vec![200])];
        assert_eq!(changes(&few, &[("a", vec![200]), ("b", vec![100])]), ["b is ahead of a"]);
    }

    #[test]
    fn changes_of_completeness_are_reported() {
        let before = [("a", about(100)), ("b", about(200))];
        // No attempts mean a run in which nothing succeeded.
        let now = [("a", vec![0; 10]), ("b", about(200))];
        assert_eq!(changes(&before, &now), ["a is incomplete"]);
        assert_eq!(changes(&now, &before), ["a is complete"]);
    }

    #[test]
    fn one_thing_is_changed_at_a_time() {
        let names = |server: &Config| {
            variations(server).into_iter().map(|variation| variation.name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&Config::default()),
            [
                "cap −20 %: 40 slots",
                "cap +20 %: 60 slots",
                "service times lognormal(500ms,0.5)",
                "network uniform(50ms,150ms)"
            ]
        );
        // 20 % of a single slot rounds to no change.
        assert_eq!(names(&Config { max_busy: 1, ..Config::default() }).len(), 2);
    }
}
