//! Expansion of the presets in the text of a strategy.

use super::raw::{RawPart, read};
use crate::error::SpecError;
use crate::presets::expand;

pub(super) const PRESET: &str = "preset";

/// Parses a text such as `outer over inner` into layers, the outer layer first, each with its parts. If a preset has
/// several layers, parts that are joined to the preset with `+` belong to its inner layer. `nested` is the nesting
/// depth: the number of presets that contain the text.
pub(super) fn read_layers(text: &str, nested: u32) -> Result<Vec<Vec<RawPart>>, SpecError> {
    let mut layers: Vec<Vec<RawPart>> = Vec::new();
    for layer in read(text) {
        let mut parts = Vec::new();
        for part in layer {
            if part.name != PRESET {
                parts.push(part);
                continue;
            }
            let mut expanded = expand(&part, nested, &read_layers)?;
            let inner = expanded.pop().unwrap_or_default();
            layers.append(&mut expanded);
            parts.extend(inner);
        }
        layers.push(parts);
    }
    Ok(layers)
}
