//! Presets: servers that others run, as data, one file each, with the source of every figure.

mod preset;
mod scaling;
mod using;
mod without;

use std::sync::LazyLock;

pub use self::preset::{Fact, Limit, ServerPreset, ServerPresetError};
pub use self::using::{Expanded, ServerPresetUseError, expand};

/// The texts of all presets by their names, in the order in which they are listed.
const EMBEDDED: &[(&str, &str)] = &[
    ("github", include_str!("../presets/github.toml")),
    ("openai", include_str!("../presets/openai.toml")),
    ("aws-api-gateway", include_str!("../presets/aws-api-gateway.toml")),
    ("google-drive", include_str!("../presets/google-drive.toml")),
    ("stripe", include_str!("../presets/stripe.toml")),
];

/// All of them, read when first asked for.
static PRESETS: LazyLock<Vec<ServerPreset>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let preset: ServerPreset = text.parse().unwrap_or_else(|error| panic!("preset `{name}`: {error}"));
        assert_eq!(preset.name, *name, "a preset is named as its file");
        preset
    };
    EMBEDDED.iter().map(read).collect()
});

/// Every preset, in the order in which they are listed.
pub fn server_presets() -> &'static [ServerPreset] {
    &PRESETS
}

/// The preset of this name.
pub fn server_preset(name: &str) -> Option<&'static ServerPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The names of all presets; none of their files is read for them.
pub fn server_preset_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests;
