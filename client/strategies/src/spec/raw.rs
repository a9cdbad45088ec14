//! Syntax of a strategy's text: layers, parts, options.

use vocabulary::{split_options, split_outside};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPart {
    pub(crate) name: String,
    /// Keys and values of the part's options, in the order of the text. The value is `None` if the option has no `=`.
    pub(crate) options: Vec<(String, Option<String>)>,
    pub(crate) text: String,
}

pub(super) fn read(text: &str) -> Vec<Vec<RawPart>> {
    text.split(OVER).map(|layer| split_outside(layer, '+').map(RawPart::read).collect()).collect()
}

pub(super) const OVER: &str = " over ";

impl RawPart {
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim();
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
    fn layers_and_parts_are_split_as_given() {
        let names = |text: &str| -> Vec<Vec<String>> {
            let layers = read(text);
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
