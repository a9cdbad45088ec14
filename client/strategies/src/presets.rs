//! Presets: strategies of production clients, stored as data with one file per preset.
mod overrides;
mod preset;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use self::overrides::expand;
pub use self::preset::{Knob, KnobValue, Preset, PresetError, PresetParameter, Rule};
pub use crate::presets::preset::{Golden, GoldenDelay};

const EMBEDDED: &[(&str, &str)] = &[
    ("aws-2025", include_str!("../presets/aws-2025.toml")),
    ("aws-2026", include_str!("../presets/aws-2026.toml")),
    ("aws-2026-botocore", include_str!("../presets/aws-2026-botocore.toml")),
    ("aws-2026-js", include_str!("../presets/aws-2026-js.toml")),
    ("aws-legacy", include_str!("../presets/aws-legacy.toml")),
    ("openai", include_str!("../presets/openai.toml")),
    ("openai-node-6", include_str!("../presets/openai-node-6.toml")),
    ("openai-node-7", include_str!("../presets/openai-node-7.toml")),
    ("anthropic", include_str!("../presets/anthropic.toml")),
    ("anthropic-node", include_str!("../presets/anthropic-node.toml")),
    ("stripe-python", include_str!("../presets/stripe-python.toml")),
    ("stripe-node", include_str!("../presets/stripe-node.toml")),
    ("stripe-go", include_str!("../presets/stripe-go.toml")),
    ("urllib3", include_str!("../presets/urllib3.toml")),
    ("urllib3-usual", include_str!("../presets/urllib3-usual.toml")),
    ("requests", include_str!("../presets/requests.toml")),
    ("kubernetes-python", include_str!("../presets/kubernetes-python.toml")),
    ("client-go", include_str!("../presets/client-go.toml")),
    ("client-go-workqueue", include_str!("../presets/client-go-workqueue.toml")),
    ("client-go-conflict", include_str!("../presets/client-go-conflict.toml")),
    ("client-go-reflector", include_str!("../presets/client-go-reflector.toml")),
    ("pygithub", include_str!("../presets/pygithub.toml")),
    ("octokit-retry", include_str!("../presets/octokit-retry.toml")),
    ("octokit-throttling", include_str!("../presets/octokit-throttling.toml")),
    ("octokit", include_str!("../presets/octokit.toml")),
    ("google-api-core", include_str!("../presets/google-api-core.toml")),
    ("google-api-client", include_str!("../presets/google-api-client.toml")),
    ("gax-go", include_str!("../presets/gax-go.toml")),
    ("azure-python", include_str!("../presets/azure-python.toml")),
    ("azure-js", include_str!("../presets/azure-js.toml")),
    ("azure-go", include_str!("../presets/azure-go.toml")),
    ("azure-net", include_str!("../presets/azure-net.toml")),
    ("grpc", include_str!("../presets/grpc.toml")),
    ("grpc-hedging", include_str!("../presets/grpc-hedging.toml")),
    ("go-retryablehttp", include_str!("../presets/go-retryablehttp.toml")),
    ("got-14", include_str!("../presets/got-14.toml")),
    ("got-16", include_str!("../presets/got-16.toml")),
    ("ky-1", include_str!("../presets/ky-1.toml")),
    ("ky-2", include_str!("../presets/ky-2.toml")),
    ("undici-7", include_str!("../presets/undici-7.toml")),
    ("undici-8", include_str!("../presets/undici-8.toml")),
    ("axios-retry", include_str!("../presets/axios-retry.toml")),
    ("node-retry", include_str!("../presets/node-retry.toml")),
    ("aiohttp-retry", include_str!("../presets/aiohttp-retry.toml")),
    ("httpx", include_str!("../presets/httpx.toml")),
    ("httpx-retries", include_str!("../presets/httpx-retries.toml")),
    ("slack", include_str!("../presets/slack.toml")),
    ("slack-rate-limited", include_str!("../presets/slack-rate-limited.toml")),
    ("shopify", include_str!("../presets/shopify.toml")),
    ("tenacity", include_str!("../presets/tenacity.toml")),
    ("backoff-python", include_str!("../presets/backoff-python.toml")),
    ("backon", include_str!("../presets/backon.toml")),
    ("reqwest-retry", include_str!("../presets/reqwest-retry.toml")),
    ("tower", include_str!("../presets/tower.toml")),
    ("tower-hedge", include_str!("../presets/tower-hedge.toml")),
    ("celery", include_str!("../presets/celery.toml")),
    ("celery-backoff", include_str!("../presets/celery-backoff.toml")),
    ("curl", include_str!("../presets/curl.toml")),
    ("wget", include_str!("../presets/wget.toml")),
    ("dotnet-standard", include_str!("../presets/dotnet-standard.toml")),
    ("dotnet-hedging", include_str!("../presets/dotnet-hedging.toml")),
    ("polly", include_str!("../presets/polly.toml")),
    ("envoy", include_str!("../presets/envoy.toml")),
    ("istio", include_str!("../presets/istio.toml")),
    ("failsafe-go", include_str!("../presets/failsafe-go.toml")),
    ("cenkalti", include_str!("../presets/cenkalti.toml")),
    ("otel-collector", include_str!("../presets/otel-collector.toml")),
    ("resilience4j", include_str!("../presets/resilience4j.toml")),
    ("spring-retry", include_str!("../presets/spring-retry.toml")),
    ("okhttp", include_str!("../presets/okhttp.toml")),
    ("lambda-async", include_str!("../presets/lambda-async.toml")),
    ("sidekiq", include_str!("../presets/sidekiq.toml")),
    ("kafka", include_str!("../presets/kafka.toml")),
    ("temporal", include_str!("../presets/temporal.toml")),
    ("vector", include_str!("../presets/vector.toml")),
    ("gax-rust", include_str!("../presets/gax-rust.toml")),
    ("reqwest", include_str!("../presets/reqwest.toml")),
    ("finagle", include_str!("../presets/finagle.toml")),
    ("finagle-breaker", include_str!("../presets/finagle-breaker.toml")),
    ("linkerd", include_str!("../presets/linkerd.toml")),
    ("linkerd-breaker", include_str!("../presets/linkerd-breaker.toml")),
    ("go-zero", include_str!("../presets/go-zero.toml")),
    ("sre-throttle", include_str!("../presets/sre-throttle.toml")),
    ("polly-breaker", include_str!("../presets/polly-breaker.toml")),
    ("resilience4j-breaker", include_str!("../presets/resilience4j-breaker.toml")),
    ("netflix", include_str!("../presets/netflix.toml")),
    ("palantir", include_str!("../presets/palantir.toml")),
];

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let preset: Preset = text.parse().unwrap_or_else(|error| panic!("preset `{name}`: {error}"));
        assert_eq!(preset.name, *name, "a preset is named as its file");
        preset
    };
    EMBEDDED.iter().map(read).collect()
});

/// Returns all presets, in the order in which listings show them.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// Returns the preset with this name. The name of a client without a version refers to the preset of the newest
/// version.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .or_else(|| PRESETS.iter().find(|preset| preset.newest_of.as_deref() == Some(name)))
}

/// Returns every name that [`preset()`] accepts.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().flat_map(|preset| std::iter::once(&*preset.name).chain(preset.newest_of.as_deref()))
}

/// Returns the number of systems that have presets. Versions and variants of one system count once.
pub fn systems() -> usize {
    let mut systems: BTreeMap<&str, u32> = BTreeMap::new();
    for preset in PRESETS.iter() {
        *systems.entry(&preset.system).or_default() += 1;
    }
    systems.len()
}

#[cfg(test)]
mod tests;
