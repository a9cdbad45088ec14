//! A server that serves for 100 ms and rejects in no time.

use mockserver_core::Config;
use vocabulary::Distribution;

/// With these policies, and no network.
pub(crate) fn config(policy: &str) -> Config {
    Config {
        policy: policy.parse().expect("policies"),
        service_time: Distribution::millis(100),
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    }
}
