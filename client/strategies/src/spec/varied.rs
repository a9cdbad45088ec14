//! Change of one parameter in the text of a strategy, for sweeps and scenarios.

use vocabulary::split_outside;

use super::StrategySpec;
use super::expanded::{PRESET, read_layers};
use super::raw::{RawPart, layers_of};
use crate::common::COMMON;
use crate::error::SpecError;
use crate::presets::preset;

impl StrategySpec {
    /// Returns the strategy with one parameter of the part `part` changed, or `None` if the strategy has no such part.
    /// `part` is the name of a part, which may also be inside a preset, or the name of a preset.
    ///
    /// # Errors
    /// If the part has no such parameter, or the value is out of its range.
    pub fn with(&self, part: &str, key: &str, value: &str) -> Result<Option<Self>, SpecError> {
        let mut found = false;
        let mut set = |typed: &str| {
            let Some(option) = option_of(typed, part, key) else { return typed.trim().to_owned() };
            found = true;
            let (name, options) = typed.split_once(':').unwrap_or((typed, ""));
            let others = options_of(options).filter(|other| key_of(other) != option);
            let own = format!("{option}={value}");
            let options: Vec<&str> = others.chain([own.as_str()]).collect();
            format!("{}:{}", name.trim(), options.join(","))
        };
        let layers: Vec<String> = layers_of(&self.text)
            .into_iter()
            .map(|layer| split_outside(layer, '+').map(&mut set).collect::<Vec<_>>().join("+"))
            .collect();
        if !found {
            return Ok(None);
        }
        let text = layers.join(" over ");
        let varied: Self = text.parse()?;
        Ok(Some(Self { max_attempts: self.max_attempts, methods: self.methods, ..varied }))
    }

    /// Returns whether the strategy has a part with this name, so that [`with`](Self::with) can change it.
    pub fn has_part(&self, part: &str) -> bool {
        self.typed_parts().any(|typed| option_of(typed, part, "").is_some())
    }

    /// Returns whether the strategy text sets the parameter `key` of the part `part`.
    pub fn sets(&self, part: &str, key: &str) -> bool {
        self.typed_parts().any(|typed| {
            let options = typed.split_once(':').map_or("", |(_, options)| options);
            option_of(typed, part, key).is_some_and(|option| {
                options_of(options).map(key_of).any(|there| there == option || there == key)
            })
        })
    }

    fn typed_parts(&self) -> impl Iterator<Item = &str> {
        layers_of(&self.text).into_iter().flat_map(|layer| split_outside(layer, '+')).map(str::trim)
    }
}

fn option_of(typed: &str, part: &str, key: &str) -> Option<String> {
    let RawPart { name, options, .. } = RawPart::read(typed.trim());
    if name != PRESET {
        return (name == part).then(|| key.to_owned());
    }
    let found = preset(&options.first()?.0)?;
    let named = part.strip_prefix("preset:").unwrap_or(part);
    if preset(named).is_some_and(|named| named.name == found.name) {
        return Some(key.to_owned());
    }
    let layers = read_layers(typed, 0).ok()?;
    let has_it = layers.iter().flatten().any(|inside| inside.name == part);
    let is_alone = layers.len() == 1 && COMMON.iter().any(|parameter| parameter.key == key);
    has_it.then(|| if is_alone { key.to_owned() } else { format!("{part}.{key}") })
}

fn options_of(text: &str) -> impl Iterator<Item = &str> {
    split_outside(text, ',').map(str::trim).filter(|option| !option.is_empty())
}

fn key_of(option: &str) -> &str {
    option.split('=').next().unwrap_or_default().trim()
}
