//! Presets: what clients do that production runs, as data, one file each.

mod golden;
mod overrides;
mod preset;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use self::golden::{Golden, GoldenDelay};
pub(crate) use self::overrides::expand;
pub use self::preset::{Preset, PresetError, PresetParameter, Recorded};

/// The texts of all presets by their names, in the order in which they are listed.
const EMBEDDED: &[(&str, &str)] = &[("aws-2025", include_str!("../presets/aws-2025.toml"))];

/// All of them, read when first asked for.
static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| {
        let preset: Preset = text.parse().unwrap_or_else(|error| panic!("preset `{name}`: {error}"));
        assert_eq!(preset.name, *name, "a preset is named as its file");
        preset
    };
    EMBEDDED.iter().map(read).collect()
});

/// Every preset, in the order in which they are listed.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The preset of this name, or the newest of the clients of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .or_else(|| PRESETS.iter().find(|preset| preset.newest_of.as_deref() == Some(name)))
}

/// Every name that [`preset`] finds.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().flat_map(|preset| std::iter::once(&*preset.name).chain(preset.newest_of.as_deref()))
}

/// How many systems there are: variants of one, such as versions, count once.
pub fn systems() -> usize {
    let mut systems: BTreeMap<&str, u32> = BTreeMap::new();
    for preset in PRESETS.iter() {
        *systems.entry(&preset.system).or_default() += 1;
    }
    systems.len()
}

#[cfg(test)]
mod tests;
