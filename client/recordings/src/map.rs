//! Which strategy a recorded configuration is: lists that presets bring along, and files with further ones.

use serde::Deserialize;
use tailback::{Recorded, StrategySpec};

/// Strategies by recorded configuration; of several for the same one, the last counts.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<(Recorded, StrategySpec)>,
}

/// A map that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// No TOML, or not of this form.
    #[error("it is no list of `[[recorded]]` with `file`, `config` and `text`")]
    Toml(#[source] toml::de::Error),
    /// No strategy.
    #[error("`{config}` of `{file}` is to be `{text}`")]
    Strategy {
        /// The recording's file name.
        file: String,
        /// The configuration.
        config: String,
        /// What it is to be.
        text: String,
        /// What is wrong with it.
        #[source]
        source: Box<tailback::SpecError>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    recorded: Vec<Recorded>,
}

impl Map {
    /// Puts entries behind those that are there.
    ///
    /// # Errors
    /// Names the first whose text is no strategy.
    pub fn add(&mut self, entries: impl IntoIterator<Item = Recorded>) -> Result<(), MapError> {
        for entry in entries {
            let Recorded { file, config, text } = entry.clone();
            let strategy = text.parse().map_err(|error| {
                let source = Box::new(error);
                MapError::Strategy { file, config, text, source }
            })?;
            self.entries.push((entry, strategy));
        }
        Ok(())
    }

    /// Puts those of a TOML file behind those that are there.
    ///
    /// # Errors
    /// Names the line, or the entry whose text is no strategy.
    pub fn add_toml(&mut self, text: &str) -> Result<(), MapError> {
        let written: Written = toml::from_str(text).map_err(MapError::Toml)?;
        self.add(written.recorded)
    }

    /// The strategy that this configuration of this file is, with its text as typed.
    pub fn strategy(&self, file: &str, config: &str) -> Option<(&str, &StrategySpec)> {
        let found = self.entries.iter().rev().find(|(entry, _)| entry.file == file && entry.config == config);
        found.map(|(entry, strategy)| (entry.text.as_str(), strategy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_of_a_configuration_counts() {
        let mut map = Map::default();
        let entry =
            |text: &str| format!("[[recorded]]\nfile = \"a.json\"\nconfig = \"c\"\ntext = \"{text}\"\n");
        map.add_toml(&(entry("none") + &entry("immediate"))).unwrap();
        assert_eq!(map.strategy("a.json", "c").unwrap().0, "immediate");
        map.add_toml(&entry("aimd")).unwrap();
        assert_eq!(map.strategy("a.json", "c").unwrap().0, "aimd");
        assert!(map.strategy("b.json", "c").is_none() && map.strategy("a.json", "d").is_none());
    }

    #[test]
    fn a_broken_map_is_refused_by_name() {
        let mut map = Map::default();
        for (text, words) in [
            ("[[recorded]]\nfile = \"a.json\"", "it is no list of `[[recorded]]`"),
            ("[[recordd]]", "it is no list of `[[recorded]]`"),
            (
                "[[recorded]]\nfile = \"a.json\"\nconfig = \"c\"\ntext = \"nonsense\"",
                "`c` of `a.json` is to be `nonsense`",
            ),
        ] {
            let error = map.add_toml(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
