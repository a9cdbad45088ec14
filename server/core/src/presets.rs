//! Presets of real servers, stored as data in one file each, with the source of every figure.

mod preset;
mod using;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use self::preset::{BaseUrl, Fact, Limit, ServerPreset, ServerPresetError};
pub use self::using::{Expanded, ServerPresetUseError, expand, read_scale};

/// Expands to the name and the text of the preset file with this name.
macro_rules! embedded {
    ($name:literal) => {
        ($name, include_str!(concat!("../presets/", $name, ".toml")))
    };
}

const EMBEDDED: &[(&str, &str)] = &[
    embedded!("github"),
    embedded!("openai"),
    embedded!("aws-api-gateway"),
    embedded!("google-drive"),
    embedded!("stripe"),
    embedded!("shopify-rest"),
    embedded!("shopify-graphql"),
    embedded!("cloudflare-api"),
    embedded!("nginx"),
    embedded!("kubernetes"),
    embedded!("dynamodb"),
    embedded!("aws-ec2"),
    embedded!("s3"),
    embedded!("lambda"),
    embedded!("anthropic"),
    embedded!("azure-arm"),
    embedded!("google-cloud"),
    embedded!("microsoft-graph"),
    embedded!("hubspot"),
    embedded!("slack"),
    embedded!("discord"),
    embedded!("envoy-local"),
    embedded!("envoy-adaptive"),
    embedded!("envoy-ratelimit"),
    embedded!("traefik"),
    embedded!("kong"),
    embedded!("haproxy"),
    embedded!("tower-governor"),
    embedded!("ietf"),
    embedded!("busy"),
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
