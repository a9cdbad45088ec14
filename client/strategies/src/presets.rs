//! Presets: strategies of production clients, stored as data with one file per preset.
mod overrides;
mod preset;

use std::collections::BTreeSet;
#[cfg(feature = "presets")]
use std::sync::LazyLock;

pub(crate) use self::overrides::expand;
pub use self::preset::{Golden, Knob, KnobValue, Preset, PresetError, PresetParameter, Rule};

#[cfg(feature = "presets")]
const EMBEDDED: &[&str] = &[
    include_str!("../presets/aws-2025.toml"),
    include_str!("../presets/aws-2026.toml"),
    include_str!("../presets/aws-2026-botocore.toml"),
    include_str!("../presets/aws-2026-js.toml"),
    include_str!("../presets/aws-legacy.toml"),
    include_str!("../presets/openai.toml"),
    include_str!("../presets/openai-node-6.toml"),
    include_str!("../presets/openai-node-7.toml"),
    include_str!("../presets/anthropic.toml"),
    include_str!("../presets/anthropic-node.toml"),
    include_str!("../presets/google-genai.toml"),
    include_str!("../presets/google-genai-node.toml"),
    include_str!("../presets/huggingface-hub.toml"),
    include_str!("../presets/stripe-python.toml"),
    include_str!("../presets/stripe-node.toml"),
    include_str!("../presets/stripe-go.toml"),
    include_str!("../presets/urllib3.toml"),
    include_str!("../presets/urllib3-usual.toml"),
    include_str!("../presets/requests.toml"),
    include_str!("../presets/kubernetes-python.toml"),
    include_str!("../presets/client-go.toml"),
    include_str!("../presets/client-go-workqueue.toml"),
    include_str!("../presets/client-go-conflict.toml"),
    include_str!("../presets/client-go-reflector.toml"),
    include_str!("../presets/pygithub.toml"),
    include_str!("../presets/octokit-retry.toml"),
    include_str!("../presets/octokit-throttling.toml"),
    include_str!("../presets/octokit.toml"),
    include_str!("../presets/google-api-core.toml"),
    include_str!("../presets/google-api-client.toml"),
    include_str!("../presets/gax-go.toml"),
    include_str!("../presets/azure-python.toml"),
    include_str!("../presets/azure-js.toml"),
    include_str!("../presets/azure-go.toml"),
    include_str!("../presets/azure-net.toml"),
    include_str!("../presets/azure-storage-python.toml"),
    include_str!("../presets/azure-storage-js.toml"),
    include_str!("../presets/grpc.toml"),
    include_str!("../presets/grpc-hedging.toml"),
    include_str!("../presets/go-retryablehttp.toml"),
    include_str!("../presets/got-14.toml"),
    include_str!("../presets/got-16.toml"),
    include_str!("../presets/ky-1.toml"),
    include_str!("../presets/ky-2.toml"),
    include_str!("../presets/undici-7.toml"),
    include_str!("../presets/undici-8.toml"),
    include_str!("../presets/axios-retry.toml"),
    include_str!("../presets/gaxios.toml"),
    include_str!("../presets/retry-request.toml"),
    include_str!("../presets/node-retry.toml"),
    include_str!("../presets/exponential-backoff.toml"),
    include_str!("../presets/tanstack-query.toml"),
    include_str!("../presets/aiohttp-retry.toml"),
    include_str!("../presets/httpx.toml"),
    include_str!("../presets/httpx-retries.toml"),
    include_str!("../presets/slack.toml"),
    include_str!("../presets/slack-rate-limited.toml"),
    include_str!("../presets/slack-node.toml"),
    include_str!("../presets/shopify.toml"),
    include_str!("../presets/supabase.toml"),
    include_str!("../presets/notion.toml"),
    include_str!("../presets/tenacity.toml"),
    include_str!("../presets/backoff-python.toml"),
    include_str!("../presets/backon.toml"),
    include_str!("../presets/reqwest-retry.toml"),
    include_str!("../presets/tower.toml"),
    include_str!("../presets/tower-hedge.toml"),
    include_str!("../presets/celery.toml"),
    include_str!("../presets/celery-backoff.toml"),
    include_str!("../presets/curl.toml"),
    include_str!("../presets/curl-7.toml"),
    include_str!("../presets/wget.toml"),
    include_str!("../presets/dotnet-standard.toml"),
    include_str!("../presets/dotnet-hedging.toml"),
    include_str!("../presets/polly.toml"),
    include_str!("../presets/envoy.toml"),
    include_str!("../presets/istio.toml"),
    include_str!("../presets/failsafe-go.toml"),
    include_str!("../presets/cenkalti.toml"),
    include_str!("../presets/otel-collector.toml"),
    include_str!("../presets/resilience4j.toml"),
    include_str!("../presets/spring-retry.toml"),
    include_str!("../presets/okhttp.toml"),
    include_str!("../presets/lambda-async.toml"),
    include_str!("../presets/sidekiq.toml"),
    include_str!("../presets/kafka.toml"),
    include_str!("../presets/temporal.toml"),
    include_str!("../presets/vector.toml"),
    include_str!("../presets/gax-rust.toml"),
    include_str!("../presets/reqwest.toml"),
    include_str!("../presets/finagle.toml"),
    include_str!("../presets/finagle-breaker.toml"),
    include_str!("../presets/linkerd.toml"),
    include_str!("../presets/linkerd-breaker.toml"),
    include_str!("../presets/go-zero.toml"),
    include_str!("../presets/sre-throttle.toml"),
    include_str!("../presets/polly-breaker.toml"),
    include_str!("../presets/resilience4j-breaker.toml"),
    include_str!("../presets/netflix.toml"),
    include_str!("../presets/palantir.toml"),
];

#[cfg(feature = "presets")]
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |text: &&str| {
        text.parse().unwrap_or_else(|error| {
            panic!("a preset is invalid: {error}; it begins {:?}", text.lines().next())
        })
    };
    EMBEDDED.iter().map(read).collect()
});

#[cfg(not(feature = "presets"))]
static PRESETS: Vec<Preset> = Vec::new();

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
    PRESETS.iter().map(|preset| &preset.system).collect::<BTreeSet<_>>().len()
}

#[cfg(all(test, feature = "presets"))]
mod tests;
