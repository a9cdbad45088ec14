//! Parity tests of server presets: both drivers read their responses alike, and count them by the server's verdict.

use std::time::Duration;

use loadgen_core::Input;
use mockserver_core::{Config, server_presets};
use tailback::{Quota, Status, StrategySpec};
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

/// Presets whose answers state a quota of requests: its limit, its longest reset in seconds, and whether resets have whole seconds.
const QUOTAS: [(&str, u64, u64, bool); 8] = [
    ("anthropic", 1000, 60, true),
    ("cloudflare-api", 1200, 300, true),
    ("discord", 5, 5, false),
    ("envoy-ratelimit", 100, 60, true),
    ("github", 5000, 3600, true),
    ("ietf", 100, 60, true),
    ("kong", 60, 60, true),
    ("openai", 500, 60, false),
];

#[test]
fn the_quotas_of_presets_are_read_alike_in_both_drivers() {
    for preset in server_presets() {
        let name = &*preset.name;
        let mut setting = overload("tailback:initial=5,hold-max=1s,max-attempts=1");
        setting.config.workload.ops = Some(10);
        setting.server = Config { service_time: Distribution::millis(50), ..setting.server };
        setting.server = setting.server.clone().with_preset(name, None).expect("a preset");
        let real = replayed(&setting);
        let quotas = real.client.inputs.iter().filter_map(|(_, input)| match input {
            Input::AttemptEnd(end) if end.result.outcome.status == Status::Succeeded => {
                Some(end.result.outcome.quota)
            }
            _ => None,
        });
        let quotas: Vec<Option<Quota>> = quotas.collect();
        assert!(!quotas.is_empty(), "{name}");
        let Some((_, limit, longest_s, is_whole)) = QUOTAS.iter().find(|(known, ..)| *known == name) else {
            let states_slots = name == "busy";
            let is_unusable =
                |quota: &Option<Quota>| quota.map(|quota| quota.reset) == states_slots.then_some(None);
            assert!(quotas.iter().all(is_unusable), "{name}: {quotas:?}");
            continue;
        };
        let quotas: Vec<Quota> = quotas.into_iter().flatten().collect();
        assert_eq!(quotas.len() as u64, real.run.measurements().ops.succeeded, "{name}: in every answer");
        for quota in &quotas {
            let reset = quota.reset.expect("a reset");
            assert!(quota.limit == *limit && quota.remaining < *limit, "{name}: {quota:?}");
            // A reset in whole seconds is rounded up, or counts from a clock that is rounded down.
            assert!(reset <= Duration::from_secs(longest_s + 1), "{name}: {quota:?}");
        }
        let most = quotas.iter().map(|quota| quota.remaining).max();
        assert_eq!(most, Some(limit - 1), "{name}: after the first request");
        assert!(quotas.iter().any(|quota| quota.is_whole) == *is_whole, "{name}: {quotas:?}");
    }
}
