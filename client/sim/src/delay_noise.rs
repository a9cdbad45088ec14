//! Noise for simulated delays. In a real network no two round trips take exactly the same time. If all simulated round trips
//! did, strategies that react to latencies would give degenerate results.

use std::time::Duration;

use mockserver_core::Config;
use vocabulary::Distribution;

/// Returns the server configuration with a random addition of up to `noise` to constant network and return delays. A constant network delay
/// gets noise even if it is zero. A constant return delay gets noise only if it is not zero. Random delays are unchanged.
///
/// A delay with noise is uniformly distributed. Like every other random value, it is determined by seed, op and attempt. Its minimum is the
/// constant delay, so the lower bound on the makespan is unchanged.
#[must_use]
pub fn with_delay_noise(server: &Config, noise: Duration) -> Config {
    let varied = |way: Distribution| match way {
        Distribution::Constant(low) if !noise.is_zero() => {
            Distribution::Uniform { low, high: low.saturating_add(noise) }
        }
        unchanged => unchanged,
    };
    let return_delay = server.return_delay;
    Config {
        network_delay: varied(server.network_delay),
        return_delay: if return_delay.is_zero() { return_delay } else { varied(return_delay) },
        ..server.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_costs;

    const NOISE: Duration = Duration::from_micros(200);

    /// Returns both delays of the server with noise, in text form.
    fn ways(network_delay: &str, return_delay: &str, noise: Duration) -> [String; 2] {
        let way = |text: &str| text.parse().unwrap();
        let server = Config {
            network_delay: way(network_delay),
            return_delay: way(return_delay),
            ..Config::default()
        };
        let varied = with_delay_noise(&server, noise);
        assert_eq!(varied.validate(), Ok(()));
        [varied.network_delay, varied.return_delay].map(|way| way.to_string())
    }

    #[test]
    fn noise_lengthens_only_constant_delays() {
        assert_eq!(ways("100ms", "0s", NOISE), ["uniform(100ms,100ms 200us)", "0s"]);
        assert_eq!(ways("0s", "20ms", NOISE), ["uniform(0s,200us)", "uniform(20ms,20ms 200us)"]);
        assert_eq!(ways("exp(5ms)", "normal(5ms,1ms)", NOISE), ["exp(5ms)", "normal(5ms,1ms)"]);
    }

    #[test]
    fn without_noise_every_way_is_exact() {
        assert_eq!(ways("100ms", "20ms", Duration::ZERO), ["100ms", "20ms"]);
    }

    #[test]
    fn the_lower_bound_is_that_of_the_constant_ways() {
        let server = Config { return_delay: Distribution::millis(20), ..Config::default() };
        let ways = |server: &Config| {
            let costs = least_costs(server, 1).unwrap();
            (costs.request_delay(), costs.response_delay())
        };
        assert_eq!(ways(&with_delay_noise(&server, NOISE)), ways(&server));
    }
}
