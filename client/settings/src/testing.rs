//! Helpers for tests of the formats.

use crate::{FORMATS, Settings, write};

fn of(text: &str, format: &str) -> Settings {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    write(text, text.parse().unwrap(), format).unwrap()
}

pub(crate) fn written(text: &str, format: &str) -> String {
    of(text, format).text
}

pub(crate) fn left_out(text: &str, format: &str) -> String {
    of(text, format).left_out.join("\n")
}

/// Whether a text is YAML of the kind written here: indented by two spaces, each line a key, an item or a comment.
pub(crate) fn is_yaml(text: &str) -> bool {
    let mut depths = vec![0];
    let mut opens = false;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let item = line.trim_start();
        let depth = line.len() - item.len();
        let deepest = *depths.last().unwrap_or(&0);
        if depth > deepest {
            if !opens {
                return false;
            }
            depths.push(depth);
        }
        while depths.last().is_some_and(|deepest| *deepest > depth) {
            depths.pop();
        }
        if depths.last() != Some(&depth) {
            return false;
        }
        let is_item = item.starts_with("- ");
        let entry = item.trim_start_matches("- ");
        let Some((key, value)) = entry.split_once(':') else { return false };
        if key.is_empty() || key.contains(' ') || !(value.is_empty() || value.starts_with(' ')) {
            return false;
        }
        opens = value.is_empty();
        if is_item {
            depths.push(depth + 2);
        }
    }
    true
}
