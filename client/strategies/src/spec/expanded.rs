//! A strategy's text with presets put in their place.

use super::raw::{RawPart, read};
use crate::error::SpecError;
use crate::presets::expand;

/// What stands before a preset's name.
pub(super) const PRESET: &str = "preset";

/// The layers of a text with their parts, the outer first, as they are typed: `outer over inner`. What is joined to a preset of
/// several layers with `+` belongs to its inner one. `nested` says how many presets the text is in.
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
