//! Presets of real servers, stored as data in one file each, with the source of every figure.

mod preset;
mod use_error;
mod using;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use self::preset::{BaseUrl, Fact, Limit, ServerPreset, ServerPresetError};
pub use self::use_error::ServerPresetUseError;
pub use self::using::{Expanded, expand, read_scale};

const EMBEDDED: &[(&str, &str)] = &[
    ("github", include_str!("../presets/github.toml")),
    ("openai", include_str!("../presets/openai.toml")),
    ("aws-api-gateway", include_str!("../presets/aws-api-gateway.toml")),
    ("google-drive", include_str!("../presets/google-drive.toml")),
    ("stripe", include_str!("../presets/stripe.toml")),
    ("shopify-rest", include_str!("../presets/shopify-rest.toml")),
    ("shopify-graphql", include_str!("../presets/shopify-graphql.toml")),
    ("cloudflare-api", include_str!("../presets/cloudflare-api.toml")),
    ("nginx", include_str!("../presets/nginx.toml")),
    ("kubernetes", include_str!("../presets/kubernetes.toml")),
    ("dynamodb", include_str!("../presets/dynamodb.toml")),
    ("aws-ec2", include_str!("../presets/aws-ec2.toml")),
    ("s3", include_str!("../presets/s3.toml")),
    ("lambda", include_str!("../presets/lambda.toml")),
    ("anthropic", include_str!("../presets/anthropic.toml")),
    ("azure-arm", include_str!("../presets/azure-arm.toml")),
    ("google-cloud", include_str!("../presets/google-cloud.toml")),
    ("slack", include_str!("../presets/slack.toml")),
    ("discord", include_str!("../presets/discord.toml")),
    ("envoy-local", include_str!("../presets/envoy-local.toml")),
    ("envoy-adaptive", include_str!("../presets/envoy-adaptive.toml")),
    ("envoy-ratelimit", include_str!("../presets/envoy-ratelimit.toml")),
    ("traefik", include_str!("../presets/traefik.toml")),
    ("kong", include_str!("../presets/kong.toml")),
    ("haproxy", include_str!("../presets/haproxy.toml")),
    ("tower-governor", include_str!("../presets/tower-governor.toml")),
    ("ietf", include_str!("../presets/ietf.toml")),
    ("busy", include_str!("../presets/busy.toml")),
];

static PRESETS: LazyLock<Vec<ServerPreset>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let preset: ServerPreset = text.parse().unwrap_or_else(|error| panic!("preset `{name}`: {error}"));
        assert_eq!(preset.name, *name, "a preset is named as its file");
        preset
    };
    EMBEDDED.iter().map(read).collect()
});

pub fn server_presets() -> &'static [ServerPreset] {
    &PRESETS
}

pub fn server_preset(name: &str) -> Option<&'static ServerPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// Returns the names of all presets without parsing any file.
pub fn server_preset_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}
