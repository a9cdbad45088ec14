//! Whether a ranking stands when the server is a little different.

use std::time::Duration;

use mockserver::core::Config;
use results::Standing;
use statistics::Verdict;
use vocabulary::Distribution;

use super::pair::Pair;
use experiments::record::server_model;

/// The standard deviation of the logarithm of service times.
const SIGMA: f64 = 0.5;
/// The mean of a jittered network where there was none.
const SMALL_DELAY: Duration = Duration::from_millis(10);

/// Another server to rank against.
pub(super) struct Variation {
    /// What is different.
    pub(super) name: String,
    pub(super) server: Config,
}

/// The server with one thing changed at a time: what its policy has no use for is left as it is.
pub(super) fn variations(server: &Config) -> Vec<Variation> {
    let mut variations = Vec::new();
    if server.has_slots() {
        // A cap that changes by itself is other caps already.
        let percents: &[_] = if server.caps.is_empty() { &[('−', 80), ('+', 120)] } else { &[] };
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

/// What became of the ranking against another server.
pub(super) struct Outcome {
    pub(super) variation: Variation,
    standings: Vec<Standing>,
    /// What is different now; empty when the ranking stands.
    pub(super) changes: Vec<String>,
}

impl Outcome {
    /// A ranking stands when the same strategies are complete, and whoever was ahead, and more than by luck, still is.
    pub(super) fn new(
        variation: Variation,
        standings: Vec<Standing>,
        pairs: &[Pair],
        before: &[Standing],
        pairs_before: &[Pair],
    ) -> Self {
        let place = |name: &str| standings.iter().position(|one| one.strategy == name);
        let complete = |name: &str| standings.iter().any(|one| one.strategy == name && one.is_complete());
        let mut changes = Vec::new();
        for one in before {
            match (one.is_complete(), complete(&one.strategy)) {
                (true, false) => changes.push(format!("{} is incomplete", one.strategy)),
                (false, true) => changes.push(format!("{} is complete", one.strategy)),
                _ => {}
            }
        }
        for Pair { first, second, .. } in pairs_before.iter().filter(|pair| claims(pair)) {
            if complete(first) && complete(second) && place(first) > place(second) {
                let turned = pairs.iter().find(|pair| pair.first == *second && pair.second == *first);
                changes.push(if turned.is_some_and(claims) {
                    format!("{second} is ahead of {first}")
                } else {
                    format!("{first} is no longer ahead of {second}")
                });
            }
        }
        Self { variation, standings, changes }
    }

    /// As it is written.
    pub(super) fn record(&self) -> results::Variation {
        let names = |complete: bool| {
            let those = self.standings.iter().filter(|one| one.is_complete() == complete);
            those.map(|one| one.strategy.clone()).collect()
        };
        results::Variation {
            variation: self.variation.name.clone(),
            server: server_model(&self.variation.server),
            ranking: names(true),
            incomplete: names(false),
            stands: self.changes.is_empty(),
            changes: self.changes.clone(),
        }
    }
}

/// Whether the order of these two was claimed; of too few repeats, the order is all there is.
fn claims(pair: &Pair) -> bool {
    matches!(pair.verdict(), Some(Verdict::Lower | Verdict::Higher | Verdict::TooFew))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // A single slot is a single slot.
        assert_eq!(names(&Config { max_busy: 1, ..Config::default() }).len(), 2);
    }
}
