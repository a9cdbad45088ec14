//! Suites: files of situations, each of which is a script of the server and the rules that it is made for.

use std::collections::BTreeMap;

use mockserver_core::WrittenStep;
use serde::Deserialize;
use vocabulary::did_you_mean;

use crate::answers::Answers;
use crate::observation::MAX_ATTEMPTS;
use crate::rules::RULES;
use crate::situation::{Advised, Level, Situation, Table};

const BUILT_IN: &str = include_str!("../suites/retry-after.toml");

/// Status of situations for which any retried status will do, unless the client retries only 503.
const USUAL_STATUS: u16 = 429;

const MAX_SITUATIONS: usize = 200;
const MAX_RUNS: usize = 20;
const MAX_NAME: usize = 40;

/// Text of a suite, whose advice and status are filled in when it is parsed.
#[derive(Clone, Debug)]
pub struct SuiteText {
    text: String,
    pub(super) advice_s: u64,
    pub(super) retried: u16,
}

#[derive(Clone, Debug)]
pub struct Suite {
    pub situations: Vec<Situation>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    #[error("it is not a list of `[[situation]]`")]
    Toml(#[source] Box<toml::de::Error>),
    #[error("it has no situation; add one that begins with `[[situation]]`")]
    Empty,
    #[error("it has {0} situations; at most {MAX_SITUATIONS} are accepted")]
    Many(usize),
    #[error("situation `{name}`: {why}")]
    Situation { name: String, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    situation: Vec<WrittenSituation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WrittenSituation {
    name: String,
    title: String,
    why: String,
    #[serde(default)]
    controls: Vec<String>,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default = "one")]
    runs: usize,
    #[serde(default = "yes")]
    wait_for_advice: bool,
    #[serde(default = "max_attempts")]
    max_attempts: usize,
    #[serde(default)]
    time_zones: Vec<String>,
    #[serde(default)]
    levels: BTreeMap<String, Level>,
    advises: Option<String>,
    table: Option<Table>,
    #[serde(default)]
    presets: Vec<String>,
    after: Option<String>,
    steps: Vec<toml::Table>,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

fn max_attempts() -> usize {
    MAX_ATTEMPTS
}

impl SuiteText {
    /// Returns the built-in suite `retry-after`. Its answers advise a wait of `advice_s` seconds.
    pub fn built_in(advice_s: u64) -> Self {
        Self::new(BUILT_IN.to_owned(), advice_s)
    }

    pub fn new(text: String, advice_s: u64) -> Self {
        Self { text, advice_s, retried: USUAL_STATUS }
    }

    /// Parses the suite. `{seconds}` and `{millis}` become the advice, and `{retried}` the status that the client retries.
    ///
    /// # Errors
    /// Returns the first situation that is invalid, or the line of a syntax error.
    pub fn parse(&self) -> Result<Suite, SuiteError> {
        let retried = self.retried.to_string();
        let text = self.text.replace("\"{retried}\"", &retried).replace("{retried}", &retried);
        let text = text.replace("{seconds}", &self.advice_s.to_string());
        Suite::parse(&text.replace("{millis}", &(self.advice_s * 1000).to_string()))
    }
}

impl Suite {
    fn parse(text: &str) -> Result<Self, SuiteError> {
        let Written { situation } =
            toml::from_str(text).map_err(|error| SuiteError::Toml(Box::new(error)))?;
        match situation.len() {
            0 => return Err(SuiteError::Empty),
            1..=MAX_SITUATIONS => {}
            many => return Err(SuiteError::Many(many)),
        }
        let mut situations: Vec<Situation> = Vec::with_capacity(situation.len());
        for written in situation {
            let name = written.name.clone();
            let wrong = |why| SuiteError::Situation { name: name.chars().take(MAX_NAME).collect(), why };
            if situations.iter().any(|other| other.name == name) {
                return Err(wrong("there are two situations of this name".to_owned()));
            }
            situations.push(written.checked().map_err(wrong)?);
        }
        let suite = Self { situations };
        for Situation { name, controls, .. } in &suite.situations {
            if let Some(unknown) = controls.iter().find(|control| suite.find(control).is_none()) {
                let near = did_you_mean(unknown, suite.names());
                let why = format!("its control `{unknown}` is not a situation of the suite{near}");
                return Err(SuiteError::Situation { name: name.clone(), why });
            }
        }
        Ok(suite)
    }

    pub fn find(&self, name: &str) -> Option<&Situation> {
        self.situations.iter().find(|situation| situation.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.situations.iter().map(|situation| situation.name.as_str())
    }

    /// Whether other situations name this one as a control.
    pub(super) fn is_control(&self, situation: &Situation) -> bool {
        self.situations.iter().any(|other| other.controls.contains(&situation.name))
    }

    /// Replaces all situations that are no controls by those of the same suite with another status.
    pub(super) fn replace_others(&mut self, other: &Self) {
        for situation in &other.situations {
            let is_same = |own: &&mut Situation| own.name == situation.name;
            if !other.is_control(situation)
                && let Some(own) = self.situations.iter_mut().find(is_same)
            {
                own.clone_from(situation);
            }
        }
    }

    /// Makes the situations with answers of this preset situations with verdicts.
    pub(super) fn judge_answers_of(&mut self, preset: &str) {
        for situation in &mut self.situations {
            if situation.presets.iter().any(|one| one == preset) {
                situation.table = None;
                situation.presets.clear();
            }
        }
    }

    /// Keeps the situations that are run without `--only`: tables only with `has_tables`, and answers of presets only with their preset.
    pub(super) fn keep_usual(&mut self, has_tables: bool) {
        self.situations.retain(|situation| match situation.table {
            Some(_) => has_tables,
            None => situation.presets.is_empty(),
        });
    }

    /// Keeps the situations and tables with the given names, and the controls that they need.
    ///
    /// # Errors
    /// Returns the name that is not a situation of the suite, with a suggestion.
    pub(super) fn keep_only(&mut self, names: &[String]) -> Result<(), String> {
        let mut kept: Vec<String> = Vec::new();
        for name in names {
            let is_named = |situation: &Situation| {
                situation.name == *name || situation.table.is_some_and(|table| table.name() == name)
            };
            let before = kept.len();
            for situation in self.situations.iter_mut().filter(|situation| is_named(situation)) {
                situation.after = None;
                kept.push(situation.name.clone());
                kept.extend_from_slice(&situation.controls);
            }
            if kept.len() == before {
                let near = did_you_mean(name, self.names());
                let all: Vec<&str> = self.names().chain(Table::ALL.map(Table::name)).collect();
                return Err(format!("there is no situation `{name}`{near}; there are: {}", all.join(", ")));
            }
        }
        let controls =
            |name: &String| self.find(name).map(|situation| situation.controls.clone()).unwrap_or_default();
        let further: Vec<String> = kept.iter().flat_map(controls).collect();
        self.situations
            .retain(|situation| kept.contains(&situation.name) || further.contains(&situation.name));
        Ok(())
    }
}

impl WrittenSituation {
    fn checked(self) -> Result<Situation, String> {
        let Self {
            name, title, why, controls, rules, runs, time_zones, levels, table, presets, after, ..
        } = self;
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
            return Err(format!("its name must have 1 to {MAX_NAME} lower-case letters, digits and hyphens"));
        }
        if title.chars().any(char::is_control) {
            return Err("its title must not contain line breaks or other control characters".to_owned());
        }
        if !(1..=MAX_RUNS).contains(&runs) {
            return Err(format!("its `runs` is {runs}; it must be from 1 to {MAX_RUNS}"));
        }
        if !(1..=MAX_ATTEMPTS).contains(&self.max_attempts) {
            let most = self.max_attempts;
            return Err(format!("its `max-attempts` is {most}; it must be from 1 to {MAX_ATTEMPTS}"));
        }
        let is_known = |name: &String| {
            let names = RULES.map(|rule| rule.name);
            let unknown = || format!("its rule `{name}` does not exist{}", did_you_mean(name, names));
            names.contains(&name.as_str()).then_some(()).ok_or_else(unknown)
        };
        rules.iter().chain(&after).chain(levels.keys()).try_for_each(is_known)?;
        let step = |table: toml::Table| {
            WrittenStep::deserialize(table)
                .map_err(|error| format!("one of its `steps` is invalid: {}", error.message()))
        };
        let situation = Situation {
            steps: self.steps.into_iter().map(step).collect::<Result<_, _>>()?,
            waits_for_advice: self.wait_for_advice,
            max_attempts: self.max_attempts,
            advises: self.advises.as_deref().map(Advised::parse).transpose()?,
            name,
            title,
            why,
            controls,
            rules,
            runs,
            time_zones,
            levels,
            table,
            presets,
            after,
        };
        situation.script(&Answers::default()).map_err(|error| error.to_string())?;
        Ok(situation)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn built_in() -> Suite {
        SuiteText::built_in(3).parse().unwrap()
    }

    #[test]
    fn the_built_in_suite_has_29_usual_situations_with_reasons() {
        let mut suite = built_in();
        for Situation { name, title, why, .. } in &suite.situations {
            assert!(title.chars().count() <= 32 && !title.contains('{'), "{name}: {title}");
            assert!(why.len() > 20, "{name}");
        }
        suite.keep_usual(false);
        assert_eq!(suite.situations.iter().filter(|situation| situation.after.is_none()).count(), 29);
        let throttled = suite.find("throttled").unwrap();
        assert_eq!(throttled.title, "429, Retry-After: 3");
        let script = throttled.script(&Answers::default()).unwrap().to_string();
        assert!(script.starts_with("429 content-type:application/json retry-after:3 body:"), "{script}");
        assert!(script.ends_with("|200 content-type:application/json body:{}"), "{script}");
    }

    #[test]
    fn a_suite_is_filled_with_the_advice_and_the_retried_status() {
        let suite = SuiteText { retried: 503, ..SuiteText::built_in(6) }.parse().unwrap();
        assert_eq!(suite.find("date").unwrap().title, "503, Retry-After: date");
        let script = suite.find("milliseconds").unwrap().script(&Answers::default()).unwrap().to_string();
        assert!(script.contains("retry-after-ms:6000"), "{script}");
        let advised = suite.find("discord").unwrap().advises;
        assert_eq!(advised, Some(Advised::Wait(Duration::from_secs(6))));
    }

    #[test]
    fn only_the_named_situations_and_their_controls_are_kept() {
        let mut suite = built_in();
        suite.keep_only(&["long".to_owned()]).unwrap();
        assert_eq!(suite.names().collect::<Vec<_>>(), ["503", "429", "throttled", "unavailable", "long"]);
        let mut suite = built_in();
        suite.keep_only(&["statuses".to_owned()]).unwrap();
        assert_eq!(suite.situations.len(), 8);
        let error = built_in().keep_only(&["longg".to_owned()]).unwrap_err();
        assert!(
            error.starts_with("there is no situation `longg` (did you mean `long`?); there are: 503, "),
            "{error}"
        );
    }

    #[test]
    fn answers_of_a_preset_are_judged_with_it() {
        let kept = |preset, has_tables| {
            let mut suite = built_in();
            suite.judge_answers_of(preset);
            suite.keep_usual(has_tables);
            suite
        };
        assert!(
            kept("slack", false).find("discord").is_none() && kept("slack", true).find("quota").is_none()
        );
        assert_eq!(kept("slack", true).find("discord").unwrap().table, Some(Table::Advice));
        assert_eq!(kept("discord", true).find("discord").unwrap().table, None);
        assert!(kept("openai", false).find("quota").is_some());
    }

    #[test]
    fn an_invalid_suite_is_refused_with_the_place() {
        let one = |more: &str| {
            format!(
                "[[situation]]\nname = \"a\"\ntitle = \"t\"\nwhy = \"w\"\nsteps = [{{ status = 503 }}]\n{more}"
            )
        };
        for (text, words) in [
            (String::new(), "it has no situation"),
            ("situation = 3".to_owned(), "it is not a list of `[[situation]]`"),
            (one("color = 1"), "it is not a list of `[[situation]]`"),
            (one(&one("")), "situation `a`: there are two situations of this name"),
            (one("controls = [\"b\"]"), "situation `a`: its control `b` is not a situation of the suite"),
            (one("rules = [\"early\"]"), "situation `a`: its rule `early` does not exist"),
            (one("levels = { early = \"off\" }"), "situation `a`: its rule `early` does not exist"),
            (one("runs = 0"), "situation `a`: its `runs` is 0; it must be from 1 to 20"),
            (one("max-attempts = 51"), "situation `a`: its `max-attempts` is 51; it must be from 1 to 50"),
            (one("advises = \"soon\""), "situation `a`: its `advises` must be a time, or `never`"),
            (one("").replace("503", "99"), "situation `a`: step 1 of op 1: `status` is 99"),
            (
                one("").replace("status = 503", "stat = 1"),
                "situation `a`: one of its `steps` is invalid: unknown field `stat`",
            ),
            (one("").replace("\"a\"", "\"A b\""), "situation `A b`: its name must have 1 to 40 lower-case"),
        ] {
            let error = SuiteText::new(text.clone(), 3).parse().unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }
}
