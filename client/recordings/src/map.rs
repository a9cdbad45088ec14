//! Which strategy a recorded configuration is: lists that presets bring along, and files with further ones.

use serde::Deserialize;
use tailback::{Recorded, StrategySpec};
use vocabulary::did_you_mean;

use crate::pair::Recording;

/// Strategies by recorded configuration; what is added later counts, so that a user's file goes before presets.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<(Recorded, StrategySpec)>,
    /// How many of the last entries are of a file, not of presets.
    of_file: usize,
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
    /// Two entries of one file for the same configuration.
    #[error(
        "`{config}` of `{file}` stands there twice, as `{first}` and as `{second}`; one entry for each configuration"
    )]
    Twice {
        /// The recording's file name.
        file: String,
        /// The configuration.
        config: String,
        /// What the first entry says that it is.
        first: String,
        /// What the second says.
        second: String,
    },
    /// An entry for what is not checked.
    #[error("its entry for `{config}` of `{file}` matches nothing: {why}")]
    Unmatched {
        /// The recording's file name.
        file: String,
        /// The configuration.
        config: String,
        /// Which of the two is not there, and what is.
        why: String,
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
    /// Names the line, the entry whose text is no strategy, or the configuration that has two entries.
    pub fn add_toml(&mut self, text: &str) -> Result<(), MapError> {
        let Written { recorded } = toml::from_str(text).map_err(MapError::Toml)?;
        for (index, entry) in recorded.iter().enumerate() {
            let same = |other: &&Recorded| other.file == entry.file && other.config == entry.config;
            if let Some(first) = recorded[..index].iter().find(same) {
                let (first, Recorded { file, config, text: second }) = (first.text.clone(), entry.clone());
                return Err(MapError::Twice { file, config, first, second });
            }
        }
        let count = recorded.len();
        self.add(recorded)?;
        self.of_file = count;
        Ok(())
    }

    /// Whether each entry of the TOML file is for one of these recordings, given with their files' names. Presets know more
    /// recordings than anybody checks at once, so theirs need not.
    ///
    /// # Errors
    /// Names the first entry that is for none of them.
    pub fn all_match(&self, recordings: &[(&str, &Recording)]) -> Result<(), MapError> {
        let first = self.entries.len() - self.of_file;
        for (Recorded { file, config, .. }, _) in &self.entries[first..] {
            let files = || recordings.iter().filter(|(name, _)| name == file);
            let configs = || files().flat_map(|(_, recording)| &recording.pairs).map(|pair| &*pair.config);
            if configs().any(|there| there == config) {
                continue;
            }
            let why = if files().next().is_none() {
                let near = did_you_mean(file, recordings.iter().map(|(name, _)| *name));
                format!("no such file is checked{near}")
            } else {
                format!("the file has no such `config`{}", did_you_mean(config, configs()))
            };
            return Err(MapError::Unmatched { file: file.clone(), config: config.clone(), why });
        }
        Ok(())
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
    fn what_a_file_says_of_a_configuration_goes_before_what_presets_say() {
        let mut map = Map::default();
        let preset = |text: &str| Recorded {
            file: "a.json".to_owned(),
            config: "c".to_owned(),
            text: text.to_owned(),
        };
        map.add([preset("none")]).unwrap();
        assert_eq!(map.strategy("a.json", "c").unwrap().0, "none");
        map.add_toml(&entry("a.json", "c", "aimd")).unwrap();
        assert_eq!(map.strategy("a.json", "c").unwrap().0, "aimd");
        assert!(map.strategy("b.json", "c").is_none() && map.strategy("a.json", "d").is_none());
    }

    fn entry(file: &str, config: &str, text: &str) -> String {
        format!("[[recorded]]\nfile = \"{file}\"\nconfig = \"{config}\"\ntext = \"{text}\"\n")
    }

    #[test]
    fn two_entries_for_one_configuration_are_refused() {
        let text =
            entry("a.json", "c", "none") + &entry("a.json", "d", "none") + &entry("a.json", "c", "aimd");
        let error = Map::default().add_toml(&text).unwrap_err().to_string();
        let words =
            "`c` of `a.json` stands there twice, as `none` and as `aimd`; one entry for each configuration";
        assert_eq!(error, words);
    }

    #[test]
    fn an_entry_of_a_file_that_matches_nothing_is_named_and_those_of_presets_are_not_asked() {
        let recording = crate::read(
            r#"{"library": "a", "version": "1", "language": "python", "runtime": "", "interception": "", "recorded": "",
                "scenarios": [{"id": "503", "config": "retries 3", "method": "GET", "steps": [{"status": 503}],
                               "attempts": 1, "n": 1, "samples": [[]], "outcome": {"type": "response 503"}}]}"#,
        )
        .unwrap();
        let checked = [("a.json", &recording)];
        let with = |text: &str| {
            let mut map = Map::default();
            let preset =
                Recorded { file: "other.json".to_owned(), config: "x".to_owned(), text: "none".to_owned() };
            map.add([preset]).unwrap();
            map.add_toml(text).unwrap();
            map.all_match(&checked).map_err(|error| error.to_string())
        };
        assert_eq!(with(&entry("a.json", "retries 3", "none")), Ok(()));
        assert_eq!(
            with(&entry("a.json", "retries 4", "none")).unwrap_err(),
            "its entry for `retries 4` of `a.json` matches nothing: the file has no such `config`; did you mean `retries 3`?"
        );
        assert_eq!(
            with(&entry("aa.json", "retries 3", "none")).unwrap_err(),
            "its entry for `retries 3` of `aa.json` matches nothing: no such file is checked; did you mean `a.json`?"
        );
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
