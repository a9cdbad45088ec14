//! Mapping from recorded configurations to strategies. It uses the user's own entries and the rules of presets.

use serde::Deserialize;
use tailback::{Preset, Rule, StrategySpec};
use vocabulary::did_you_mean;

use crate::pair::{Pair, Recording};
use crate::rule::strategy_text;

/// Mapping from recorded configurations to strategies. It consists of the entries of a user's file and the rules of presets. The rules are
/// used only for configurations without an entry.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<Entry>,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub struct Mapped {
    /// Text of the strategy, as on the command line.
    pub text: String,
    pub strategy: StrategySpec,
}

#[derive(Clone, Debug)]
struct Entry {
    /// File name of the recording, without its folder.
    file: String,
    config: String,
    mapped: Mapped,
}

/// Entry of a user's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    file: String,
    config: String,
    text: String,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    #[error("the file must be a list of `[[recorded]]` with `file`, `config` and `text`")]
    Toml(#[source] toml::de::Error),
    #[error("the entry for `{config}` of `{file}` has the strategy `{text}`")]
    Strategy {
        file: String,
        config: String,
        text: String,
        #[source]
        source: Box<tailback::SpecError>,
    },
    #[error(
        "`{config}` of `{file}` has two entries, `{first}` and `{second}`; keep one for each configuration"
    )]
    Twice { file: String, config: String, first: String, second: String },
    #[error("the entry for `{config}` of `{file}` matches no recording: {why}")]
    Unmatched { file: String, config: String, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    recorded: Vec<Recorded>,
}

impl Map {
    /// Creates a map from the rules of the given presets. If several rules match a configuration, the first of them is used.
    pub fn of_presets(presets: &[Preset]) -> Self {
        Self { entries: Vec::new(), rules: presets.iter().flat_map(|preset| preset.rules.clone()).collect() }
    }

    /// Adds the entries of a TOML file. Entries take precedence over the rules of presets.
    ///
    /// # Errors
    /// Returns the line of a syntax error, the entry whose text is not a strategy, or the configuration that has two entries.
    pub fn add_toml(&mut self, text: &str) -> Result<(), MapError> {
        let Written { recorded } = toml::from_str(text).map_err(MapError::Toml)?;
        for Recorded { file, config, text } in recorded {
            if let Some(first) = self.entry(&file, &config) {
                let first = first.mapped.text.clone();
                return Err(MapError::Twice { file, config, first, second: text });
            }
            let strategy = match text.parse() {
                Ok(strategy) => strategy,
                Err(error) => {
                    return Err(MapError::Strategy { file, config, text, source: Box::new(error) });
                }
            };
            self.entries.push(Entry { file, config, mapped: Mapped { text, strategy } });
        }
        Ok(())
    }

    fn entry(&self, file: &str, config: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.file == file && entry.config == config)
    }

    pub fn all_match(&self, recordings: &[(&str, &Recording)]) -> Result<(), MapError> {
        for Entry { file, config, .. } in &self.entries {
            let files = || recordings.iter().filter(|(name, _)| name == file);
            let configs = || files().flat_map(|(_, recording)| &recording.pairs).map(|pair| &*pair.config);
            if configs().any(|there| there == config) {
                continue;
            }
            let why = if files().next().is_none() {
                let near = did_you_mean(file, recordings.iter().map(|(name, _)| *name));
                format!("that file is not among the recordings{near}")
            } else {
                format!("the file has no such `config`{}", did_you_mean(config, configs()))
            };
            return Err(MapError::Unmatched { file: file.clone(), config: config.clone(), why });
        }
        Ok(())
    }

    pub fn strategy(&self, file: &str, recording: &Recording, pair: &Pair) -> Option<Mapped> {
        if let Some(entry) = self.entry(file, &pair.config) {
            return Some(entry.mapped.clone());
        }
        let text = self.rules.iter().find_map(|rule| strategy_text(rule, recording, pair))?;
        // A recorded option may have a value that the preset does not accept. The text from the preset's rule is then not a valid strategy,
        // and the preset does not represent the recorded client.
        let strategy = text.parse().ok()?;
        Some(Mapped { text, strategy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(library: &str, config: &str) -> Recording {
        let text = serde_json::json!({
            "library": library, "version": "1", "language": "python", "interception": "sleeps",
            "scenarios": [{"id": "503", "config": config, "n": 1, "samples": [[]]}],
        });
        crate::read(&text.to_string()).unwrap()
    }

    #[test]
    fn entries_of_a_file_override_the_rules_of_presets() {
        let mut map = Map::of_presets(tailback::presets());
        let text = |map: &Map, file: &str, library: &str, config: &str| {
            let recording = recording(library, config);
            map.strategy(file, &recording, &recording.pairs[0]).map(|mapped| mapped.text)
        };
        let openai = "preset:openai,max-attempts=6".to_owned();
        assert_eq!(text(&map, "a.json", "openai", "max_retries=5"), Some(openai.clone()));
        map.add_toml(&entry("a.json", "max_retries=5", "aimd")).unwrap();
        assert_eq!(text(&map, "a.json", "openai", "max_retries=5"), Some("aimd".to_owned()));
        assert_eq!(text(&map, "b.json", "openai", "max_retries=5"), Some(openai));
        assert_eq!(text(&map, "b.json", "openai", "max_retries=4294967295"), None, "more than there may be");
        assert_eq!(text(&map, "b.json", "unheard-of", "max_retries=5"), None);
    }

    fn entry(file: &str, config: &str, text: &str) -> String {
        format!("[[recorded]]\nfile = \"{file}\"\nconfig = \"{config}\"\ntext = \"{text}\"\n")
    }

    #[test]
    fn two_entries_for_one_configuration_are_refused() {
        let text =
            entry("a.json", "c", "none") + &entry("a.json", "d", "none") + &entry("a.json", "c", "aimd");
        let error = Map::default().add_toml(&text).unwrap_err().to_string();
        let words = "`c` of `a.json` has two entries, `none` and `aimd`; keep one for each configuration";
        assert_eq!(error, words);
    }

    /// Rules of presets need not match.
    #[test]
    fn an_unmatched_entry_of_a_file_is_named_in_the_error() {
        let recording = crate::read(
            r#"{"library": "a", "version": "1", "language": "python", "runtime": "", "interception": "", "recorded": "",
                "scenarios": [{"id": "503", "config": "retries 3", "method": "GET", "steps": [{"status": 503}],
                               "attempts": 1, "n": 1, "samples": [[]], "outcome": {"type": "response 503"}}]}"#,
        )
        .unwrap();
        let checked = [("a.json", &recording)];
        let with = |text: &str| {
            let mut map = Map::of_presets(tailback::presets());
            map.add_toml(text).unwrap();
            map.all_match(&checked).map_err(|error| error.to_string())
        };
        assert_eq!(with(&entry("a.json", "retries 3", "none")), Ok(()));
        assert_eq!(
            with(&entry("a.json", "retries 4", "none")).unwrap_err(),
            "the entry for `retries 4` of `a.json` matches no recording: the file has no such `config` (did you mean `retries 3`?)"
        );
        assert_eq!(
            with(&entry("aa.json", "retries 3", "none")).unwrap_err(),
            "the entry for `retries 3` of `aa.json` matches no recording: that file is not among the recordings (did you mean `a.json`?)"
        );
    }

    #[test]
    fn a_broken_map_is_refused_by_name() {
        let mut map = Map::default();
        for (text, words) in [
            ("[[recorded]]\nfile = \"a.json\"", "the file must be a list of `[[recorded]]`"),
            ("[[recordd]]", "the file must be a list of `[[recorded]]`"),
            (
                "[[recorded]]\nfile = \"a.json\"\nconfig = \"c\"\ntext = \"nonsense\"",
                "the entry for `c` of `a.json` has the strategy `nonsense`",
            ),
        ] {
            let error = map.add_toml(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
