//! A strategy's text taken apart: layers, parts, options; presets are put in their place.

use vocabulary::{split_options, split_outside};

use crate::error::SpecError;
use crate::presets::expand;

/// What stands before a preset's name.
const PRESET: &str = "preset";

/// A part as it is typed: nothing is known yet of its name and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPart {
    pub(crate) name: String,
    /// Keys with their values; `None` where there is no `=`.
    pub(crate) options: Vec<(String, Option<String>)>,
    /// All of it, for errors.
    pub(crate) text: String,
}

/// The layers of a text with their parts, the outer first, as they are typed: `outer over inner`. What is joined to a preset of
/// several layers with `+` belongs to its inner one. `nested` says how many presets the text is in.
pub(crate) fn read_layers(text: &str, nested: u32) -> Result<Vec<Vec<RawPart>>, SpecError> {
    let mut layers: Vec<Vec<RawPart>> = Vec::new();
    for layer in layers_of(text) {
        let mut parts = Vec::new();
        for part in split_outside(layer, '+') {
            let part = RawPart::read(part.trim());
            if part.name != PRESET {
                parts.push(part);
                continue;
            }
            let mut expanded = expand(&part, nested)?;
            let inner = expanded.pop().unwrap_or_default();
            layers.append(&mut expanded);
            parts.extend(inner);
        }
        layers.push(parts);
    }
    Ok(layers)
}

/// The texts of the layers: the word `over` parts them.
fn layers_of(text: &str) -> Vec<&str> {
    let mut layers = Vec::new();
    let mut rest = text;
    while let Some((layer, inside)) = rest.split_once(" over ") {
        layers.push(layer);
        rest = inside;
    }
    layers.push(rest);
    layers
}

impl RawPart {
    fn read(text: &str) -> Self {
        let (name, options) = split_options(text);
        let owned = |(key, value): (&str, Option<&str>)| (key.to_owned(), value.map(str::to_owned));
        Self {
            name: name.to_owned(),
            options: options.into_iter().map(owned).collect(),
            text: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_and_parts_are_taken_apart_as_they_are_typed() {
        let names = |text: &str| -> Vec<Vec<String>> {
            let layers = read_layers(text, 0).unwrap();
            layers.into_iter().map(|layer| layer.into_iter().map(|part| part.name).collect()).collect()
        };
        assert_eq!(
            names("aimd + full-jitter:base=1s over constant"),
            [vec!["aimd", "full-jitter"], vec!["constant"]]
        );
        assert_eq!(names("constant over immediate over none").len(), 3);
        assert_eq!(names(""), [[""]]);
    }
}
