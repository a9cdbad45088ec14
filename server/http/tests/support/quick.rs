//! A server whose network, work and rejections take no time.

use mockserver::Embedded;
use mockserver::core::Config;
use vocabulary::{Distribution, TimeScale};

/// Starts the server with one slot and the given changes.
pub(crate) fn start(change: impl FnOnce(&mut Config)) -> Embedded {
    let mut config = Config {
        max_busy: 1,
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        service_time: Distribution::ZERO,
        ..Config::default()
    };
    change(&mut config);
    Embedded::start(config, TimeScale::default()).unwrap()
}
