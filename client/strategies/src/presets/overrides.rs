//! Replaces a preset in the text of a strategy by the parts of the preset. Options after the preset's name override
//! options of the preset's parts.

use vocabulary::did_you_mean;

use super::{Preset, preset, preset_names};
use crate::common::COMMON;
use crate::entry::Entry;
use crate::error::SpecError;
use crate::registry::find;
use crate::spec::raw::RawPart;

const MAX_NESTED: u32 = 4;

/// Strategy parts of each layer of a strategy, the outer layer first.
type Layers = Vec<Vec<RawPart>>;

/// Function that splits a strategy text into layers. Its second argument is the nesting depth: the number of presets
/// that contain the text.
pub(crate) type Reader<'a> = &'a dyn Fn(&str, u32) -> Result<Layers, SpecError>;

const OUTER: &str = "outer";
const INNER: &str = "inner";

pub(crate) fn expand(part: &RawPart, nested: u32, read: Reader<'_>) -> Result<Layers, SpecError> {
    let mut options = part.options.iter();
    let Some((name, None)) = options.next() else {
        return Err(SpecError::PresetWithoutName { text: part.text.clone() });
    };
    let Some(preset) = preset(name).filter(|_| nested < MAX_NESTED) else {
        let suggestion = if cfg!(feature = "presets") {
            did_you_mean(name, preset_names())
        } else {
            "; this program has none, because it is built without the feature `presets` of the crate `tailback`".to_owned()
        };
        return Err(SpecError::UnknownPreset { name: name.clone(), suggestion });
    };
    let mut typed = Vec::new();
    for (key, value) in options {
        let Some(value) = value else {
            let preset = format!("preset:{name}");
            return Err(SpecError::PresetOptionWithoutValue { preset, option: key.clone() });
        };
        if typed.iter().any(|(known, _)| known == key) {
            return Err(SpecError::Twice { text: part.text.clone(), key: key.clone() });
        }
        typed.push((key.clone(), value.clone()));
    }
    let mut layers = read(&preset.strategy, nested + 1)?;
    let chosen = choices(preset, &mut typed)?;
    for (key, value) in chosen.into_iter().chain(typed) {
        set(preset, &mut layers, &key, &value)?;
    }
    Ok(layers)
}

/// Translates the preset's own parameters into options of the preset's parts. `typed` is the list of options given in
/// the strategy text. The preset's own parameters are removed from `typed`.
fn choices(preset: &Preset, typed: &mut Vec<(String, String)>) -> Result<Vec<(String, String)>, SpecError> {
    let mut options = Vec::new();
    for (key, parameter) in &preset.parameters {
        let place = typed.iter().position(|(known, _)| known == key);
        let word = place.map_or_else(|| parameter.default.clone(), |place| typed.remove(place).1);
        let Some(text) = parameter.choices.get(&word) else {
            let words: Vec<&str> = parameter.choices.keys().map(String::as_str).collect();
            return Err(SpecError::PresetChoice {
                preset: preset.name.clone(),
                option: format!("{key}={word}"),
                accepted: words.join(" or "),
            });
        };
        let chosen = vocabulary::split_options_of(text);
        options.extend(
            chosen.into_iter().map(|(key, value)| (key.to_owned(), value.unwrap_or_default().to_owned())),
        );
    }
    Ok(options)
}

/// Sets an option in the part to which it belongs. A key of the form `part.option` names the part. With the prefixes
/// `outer` and `inner`, only that layer is searched for a part that has the option. Without any prefix, all layers are
/// searched. Exactly one part must have the option. An option that every part accepts counts once per layer.
fn set(preset: &Preset, layers: &mut [Vec<RawPart>], key: &str, value: &str) -> Result<(), SpecError> {
    let (named, own) = match key.split_once('.') {
        Some((part, own)) => (Some(part), own),
        None => (None, key),
    };
    let is_common = COMMON.iter().any(|parameter| parameter.key == own);
    let last = layers.len().saturating_sub(1);
    let (named, only) = match named {
        Some(OUTER) => (None, Some(0)),
        Some(INNER) => (None, Some(last)),
        named => (named, None),
    };
    let knows = |part: &RawPart| match named {
        Some(named) => part.name == named,
        None => find(&part.name)
            .is_some_and(|entry| entry.parameters().iter().any(|parameter| parameter.key == own)),
    };
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (layer, parts) in
        layers.iter().enumerate().filter(|(layer, _)| only.is_none_or(|only| only == *layer))
    {
        if is_common && named.is_none() {
            // An option that every part accepts is set in the part that already sets it. If no part sets it, the first
            // part of the layer is used.
            let typed = parts.iter().position(|part| part.options.iter().any(|(known, _)| known == own));
            places.push((layer, typed.unwrap_or(0)));
        } else {
            let who = parts.iter().enumerate().filter(|(_, part)| knows(part));
            places.extend(who.map(|(index, _)| (layer, index)));
        }
    }
    match places[..] {
        [(layer, index)] => {
            let options = &mut layers[layer][index].options;
            options.retain(|(known, _)| known != own);
            options.push((own.to_owned(), Some(value.to_owned())));
            Ok(())
        }
        [] => {
            let entries = layers.iter().flatten().filter_map(|part| find(&part.name));
            let own = entries.flat_map(Entry::parameters).map(|parameter| parameter.key);
            let common = COMMON.iter().map(|parameter| parameter.key);
            Err(SpecError::NoSuchOverride {
                preset: preset.name.clone(),
                key: key.to_owned(),
                suggestion: SpecError::suggestion(
                    key,
                    value,
                    own.chain(common).chain(preset.parameters.keys().map(String::as_str)),
                ),
            })
        }
        _ => {
            let parts: Vec<&str> = if layers.len() > 1 {
                vec![OUTER, INNER]
            } else {
                places.iter().map(|(layer, index)| layers[*layer][*index].name.as_str()).collect()
            };
            let parts: Vec<String> = parts.iter().map(|part| format!("`{part}.{own}`")).collect();
            Err(SpecError::AmbiguousOverride {
                preset: preset.name.clone(),
                key: key.to_owned(),
                parts: parts.join(" or "),
            })
        }
    }
}
