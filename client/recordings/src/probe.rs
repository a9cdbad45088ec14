//! Probe of a strategy: the delay of its first retry after a given response, for many clients.

use mockserver_core::Script;
use tailback::{SpecError, StrategySpec};

use crate::replay::{Clients, Trial};

/// Seed of all random draws. It is fixed, so that delays after two different responses are comparable. A strategy that ignores the content
/// of responses then has the same delays after both responses.
const SEED: u64 = 1;

/// Returns the delay before the first retry, in seconds, for each of several new clients (`clients` is their number). The delay begins with
/// the script's first response. It is `None` for a client that does not retry.
///
/// # Errors
/// Fails if the strategy cannot be started.
pub fn waits(
    strategy: &StrategySpec,
    script: &Script,
    clients: usize,
) -> Result<Vec<Option<f64>>, SpecError> {
    let trial = Trial { strategy, script, clients: Clients::Fresh, ops: clients, seed: SEED };
    let ops = trial.run()?.unwrap_or_default();
    Ok(ops.iter().map(|op| op.delays.first().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_listed_per_client_and_reproducible() {
        let of = |strategy: &str, script: &str| {
            waits(&strategy.parse().unwrap(), &script.parse().unwrap(), 50).unwrap()
        };
        assert_eq!(of("constant:delay=2s", "503 retry-after:7|200"), [Some(7.0); 50]);
        assert_eq!(of("none", "503 retry-after:7|200"), [None; 50]);
        let drawn = of("full-jitter:base=1s,retry-after=ignore", "503 retry-after:7|200");
        assert!(drawn.iter().all(|wait| wait.is_some_and(|wait| (0.0..=1.0).contains(&wait))));
        assert_eq!(drawn, of("full-jitter:base=1s", "503|200"));
    }
}
