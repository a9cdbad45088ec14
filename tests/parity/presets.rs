//! Parity tests of server presets: both drivers read their responses alike, and count them by the server's verdict.

use mockserver_core::{Config, server_presets};
use tailback::StrategySpec;
use vocabulary::Distribution;

use crate::replayed::{overload, rejected, replayed};

/// Strategy with at most three attempts that obeys advice unless it is too long for a test.
const STRATEGY: &str = "backoff:base=20ms,cap=200ms,spread=full,max-attempts=3,retry-after=exact,advice-limit=300ms,advice-beyond=give-up";

#[test]
fn every_preset_is_the_same_in_both_drivers() {
    for preset in server_presets() {
        let mut setting = overload(STRATEGY);
        setting.config.workload.ops = Some(120);
        // Small enough to reject some of so few requests.
        let scale = match &*preset.name {
            "aws-api-gateway" | "s3" => 0.002,
            "google-drive" => 0.0001,
            "dynamodb" => 0.001,
            "kubernetes" | "lambda" => 0.005,
            _ => 0.02,
        };
        let base = Config { service_time: Distribution::millis(50), ..setting.server };
        setting.server = base.with_preset(&preset.name, Some(scale)).expect("a preset");
        let real = replayed(&setting);
        let (counted, stats) = (real.run.measurements(), &real.server.stats.counts);
        assert!(rejected(&real) > 0, "{}", preset.name);
        assert!(stats.accepted > 0, "{}", preset.name);
        assert_eq!(
            (counted.attempts.rejected, counted.attempts.succeeded),
            (stats.rejected, stats.accepted),
            "{}",
            preset.name
        );
    }
}

#[test]
fn the_usual_client_of_every_preset_is_a_strategy() {
    for preset in server_presets() {
        let strategy = preset.strategy.as_deref().unwrap_or("aimd").parse::<StrategySpec>();
        assert!(strategy.is_ok(), "{}: {strategy:?}", preset.name);
    }
}
