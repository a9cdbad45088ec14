//! Positions in a scenario file, for error messages.

use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug)]
pub struct Text {
    /// Path of the file, or name of a built-in scenario, as error messages show it.
    pub name: String,
    pub text: String,
}

impl Text {
    /// Returns the name of the text, with the line that contains a byte.
    pub(super) fn at(&self, byte: Option<usize>) -> String {
        match byte.and_then(|byte| self.text.get(..byte)) {
            Some(before) => format!("{}:{}", self.name, before.matches('\n').count() + 1),
            None => self.name.clone(),
        }
    }

    /// Returns the position in the scenario file of the key at the end of a path of keys. If the file lacks part of the path, returns the
    /// position of the last key of the path that exists.
    pub(super) fn of(&self, path: &[impl AsRef<str>]) -> String {
        let byte = DeTable::parse(&self.text).ok().and_then(|table| find(table.get_ref(), path));
        self.at(byte)
    }
}

fn find(table: &DeTable<'_>, path: &[impl AsRef<str>]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first.as_ref())?;
    let here = key.span().start;
    let deeper = match (value.get_ref(), rest) {
        (_, []) => None,
        (DeValue::Table(inner), rest) => find(inner, rest),
        (DeValue::Array(items), [index, rest @ ..]) => {
            let item = items.get(index.as_ref().parse::<usize>().ok()?)?;
            let inner = match item.get_ref() {
                DeValue::Table(inner) => find(inner, rest),
                _ => None,
            };
            inner.or(Some(item.span().start))
        }
        _ => None,
    };
    deeper.or(Some(here))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_tables_and_arrays_of_tables() {
        let text = "name = \"a\"\n[server]\nmax_busy = 1\n\n[[claim]]\nof = \"x\"\n[[claim]]\nof = \"y\"\n";
        let text = Text { name: "a.toml".to_owned(), text: text.to_owned() };
        for (path, wanted) in [
            (&["server", "max_busy"][..], "a.toml:3"),
            (&["server", "other"], "a.toml:2"),
            (&["claim", "1", "of"], "a.toml:8"),
            (&["nowhere"], "a.toml"),
        ] {
            assert_eq!(text.of(path), wanted, "{path:?}");
        }
    }
}
