//! Configuration of a server that serves in 100 ms and rejects in no time.

use mockserver_core::Config;
use vocabulary::Distribution;

pub(crate) fn config(policy: &str) -> Config {
    Config {
        policy: policy.parse().expect("policies"),
        service_time: Distribution::millis(100),
        reject_time: Distribution::ZERO,
        network_delay: Distribution::ZERO,
        ..Config::default()
    }
}
