//! Servers that differ a little from a given one, to test whether a ranking holds.

use std::time::Duration;

use mockserver::core::Config;
use vocabulary::Distribution;

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
        // 20 % of a single slot rounds to no change.
        assert_eq!(names(&Config { max_busy: 1, ..Config::default() }).len(), 2);
    }
}
