//! Suites: files of situations, each of which is a script of the server and the rules that it is made for.

use std::collections::BTreeMap;

use mockserver_core::{Script, WrittenStep};
use serde::Deserialize;
use vocabulary::did_you_mean;

use crate::rule::Rule;
use crate::rules::{self, RULES};

const BUILT_IN: &str = include_str!("../suites/retry-after.toml");

/// Largest advice in seconds. A run waits for the advised time, so a longer advice would keep the user waiting.
const MAX_ADVICE_S: u64 = 60;
const MAX_SITUATIONS: usize = 200;
const MAX_RUNS: usize = 20;
const MAX_NAME: usize = 40;

#[derive(Clone, Debug)]
pub struct Suite {
    pub situations: Vec<Situation>,
}

#[derive(Clone, Debug)]
pub struct Situation {
    pub name: String,
    /// Answers of the server in words, such as `429, Retry-After: 3`.
    pub title: String,
    pub why: String,
    /// Names of situations with the same status, from which it is known whether and when the client retries: without advice, or with advice that
    /// every client understands.
    pub controls: Vec<String>,
    /// Rules that the situation is made for. All other rules are checked, too, but only these decide between pass and skipped. Without
    /// rules, the situation passes if the client retries and no rule is broken.
    pub rules: Vec<&'static Rule>,
    pub runs: usize,
    /// Whether the idle timeout begins at the advised time. If false, it begins at the answer.
    pub waits_for_advice: bool,
    steps: Vec<WrittenStep>,
}

/// Answer to a successful request, because clients parse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Default for Success {
    fn default() -> Self {
        let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
        Self { headers, body: "{}".to_owned() }
    }
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
    steps: Vec<toml::Table>,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

impl Suite {
    /// Returns the built-in suite `retry-after`. Its answers advise a wait of `advice_s` seconds.
    ///
    /// # Errors
    /// Fails if the advice is out of range.
    pub fn built_in(advice_s: u64) -> Result<Self, SuiteError> {
        Self::parse(BUILT_IN, advice_s)
    }

    /// Parses a suite. In titles and steps, `{seconds}` and `{millis}` are replaced by the advice.
    ///
    /// # Errors
    /// Returns the first situation that is invalid, or the line of a syntax error.
    pub fn parse(text: &str, advice_s: u64) -> Result<Self, SuiteError> {
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
            situations.push(Situation::parse(written, advice_s).map_err(wrong)?);
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

    /// Keeps the situations with the given names, and the controls that they need.
    ///
    /// # Errors
    /// Returns the name that is not a situation of the suite, with a suggestion.
    pub fn keep_only(&mut self, names: &[String]) -> Result<(), String> {
        let mut kept: Vec<String> = Vec::new();
        for name in names {
            let Some(situation) = self.find(name) else {
                let near = did_you_mean(name, self.names());
                let all: Vec<&str> = self.names().collect();
                return Err(format!("there is no situation `{name}`{near}; there are: {}", all.join(", ")));
            };
            kept.push(name.clone());
            kept.extend_from_slice(&situation.controls);
        }
        self.situations.retain(|situation| kept.contains(&situation.name));
        Ok(())
    }
}

impl Situation {
    fn parse(written: WrittenSituation, advice_s: u64) -> Result<Self, String> {
        let WrittenSituation { name, title, why, controls, rules, runs, wait_for_advice, steps } = written;
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=MAX_NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
            return Err(format!("its name must have 1 to {MAX_NAME} lower-case letters, digits and hyphens"));
        }
        if title.chars().any(char::is_control) {
            return Err("its title must not contain line breaks or other control characters".to_owned());
        }
        if !(1..=MAX_ADVICE_S).contains(&advice_s) {
            return Err(format!("the advice must be from 1 to {MAX_ADVICE_S} whole seconds"));
        }
        if !(1..=MAX_RUNS).contains(&runs) {
            return Err(format!("its `runs` is {runs}; it must be from 1 to {MAX_RUNS}"));
        }
        let (seconds, millis) = (advice_s.to_string(), (advice_s * 1000).to_string());
        let filled = |text: &str| text.replace("{seconds}", &seconds).replace("{millis}", &millis);
        let found = |name: &String| {
            rules::find(name).ok_or_else(|| {
                let near = did_you_mean(name, RULES.map(|rule| rule.name));
                format!("its rule `{name}` does not exist{near}")
            })
        };
        let step = |mut table: toml::Table| {
            if let Some(toml::Value::Table(headers)) = table.get_mut("headers") {
                for (_, value) in headers.iter_mut() {
                    if let toml::Value::String(text) = value {
                        *text = filled(text);
                    }
                }
            }
            WrittenStep::deserialize(table)
                .map_err(|error| format!("one of its `steps` is invalid: {}", error.message()))
        };
        let situation = Self {
            title: filled(&title),
            rules: rules.iter().map(found).collect::<Result<_, _>>()?,
            steps: steps.into_iter().map(step).collect::<Result<_, _>>()?,
            waits_for_advice: wait_for_advice,
            name,
            why,
            controls,
            runs,
        };
        situation.script(&Success::default()).map_err(|error| error.to_string())?;
        Ok(situation)
    }

    /// Returns the script of the server, with `success` as the answer to successful requests.
    ///
    /// # Errors
    /// Fails if the headers of `success` cannot be sent.
    pub fn script(&self, success: &Success) -> Result<Script, mockserver_core::ScriptFileError> {
        Script::from_steps(vec![self.steps(success)])
    }

    pub(super) fn steps(&self, success: &Success) -> Vec<WrittenStep> {
        self.steps.iter().map(|step| step.clone().with_success(&success.headers, &success.body)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_suite_has_21_situations_with_reasons() {
        let suite = Suite::built_in(3).unwrap();
        assert_eq!(suite.situations.len(), 21);
        for Situation { name, title, why, .. } in &suite.situations {
            assert!(title.chars().count() <= 32 && !title.contains('{'), "{name}: {title}");
            assert!(why.len() > 20, "{name}");
        }
        let throttled = suite.find("throttled").unwrap();
        assert_eq!(throttled.title, "429, Retry-After: 3");
        let script = throttled.script(&Success::default()).unwrap().to_string();
        assert_eq!(script, "429 retry-after:3|200 content-type:application/json body:{}");
    }

    #[test]
    fn only_the_named_situations_and_their_controls_are_kept() {
        let mut suite = Suite::built_in(3).unwrap();
        suite.keep_only(&["long".to_owned()]).unwrap();
        assert_eq!(suite.names().collect::<Vec<_>>(), ["429", "throttled", "long"]);
        let error = Suite::built_in(3).unwrap().keep_only(&["longg".to_owned()]).unwrap_err();
        assert!(
            error.starts_with("there is no situation `longg` (did you mean `long`?); there are: 503, "),
            "{error}"
        );
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
            (one("runs = 0"), "situation `a`: its `runs` is 0; it must be from 1 to 20"),
            (one("").replace("503", "99"), "situation `a`: step 1 of op 1: `status` is 99"),
            (
                one("").replace("status = 503", "stat = 1"),
                "situation `a`: one of its `steps` is invalid: unknown field `stat`",
            ),
            (one("").replace("\"a\"", "\"A b\""), "situation `A b`: its name must have 1 to 40 lower-case"),
        ] {
            let error = Suite::parse(&text, 3).unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        assert!(Suite::built_in(0).is_err() && Suite::built_in(61).is_err());
    }
}
