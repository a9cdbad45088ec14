//! A situation: a script of the server, and what the rules use of it.

use std::collections::BTreeMap;
use std::time::Duration;

use mockserver_core::{Script, WrittenStep};
use serde::{Deserialize, Serialize};
use vocabulary::duration_text;

use crate::answers::Answers;

#[derive(Clone, Debug)]
pub struct Situation {
    pub name: String,
    /// Answers of the server in words, such as `429, Retry-After: 3`.
    pub title: String,
    pub why: String,
    /// Names of situations from which it is known whether and when the client retries: without advice, or with advice that every client
    /// understands. Delays are compared only with those after the same status.
    pub controls: Vec<String>,
    /// Rules that the situation is made for. All other rules are checked, too, but only these decide between pass and skipped. Without
    /// rules, the situation passes if the client retries and no rule is broken.
    pub rules: Vec<String>,
    pub runs: usize,
    /// Whether the idle timeout begins at the advised time. If false, it begins at the answer.
    pub waits_for_advice: bool,
    /// Number of attempts after which a run is ended.
    pub max_attempts: usize,
    /// Values of the variable `TZ`, with one run each. Without any, the variable is not set.
    pub time_zones: Vec<String>,
    /// Rules with another severity than usual in this situation.
    pub(super) levels: BTreeMap<String, Level>,
    /// Advice that only some clients read.
    pub(super) advises: Option<Advised>,
    pub table: Option<Table>,
    /// Presets of `mockserver` that send such answers. With one of them, the situation is judged.
    pub presets: Vec<String>,
    /// Rule that must be broken before the situation is run.
    pub(super) after: Option<String>,
    pub(super) steps: Vec<WrittenStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Off,
    Warn,
}

/// Table without verdicts to which a situation belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Table {
    Statuses,
    Advice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advised {
    Wait(Duration),
    /// The answer forbids retries.
    Never,
}

impl Table {
    pub(super) const ALL: [Self; 2] = [Self::Statuses, Self::Advice];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Statuses => "statuses",
            Self::Advice => "advice",
        }
    }
}

/// Longest advice for which `--patient` waits.
pub(super) const MAX_PATIENCE: Duration = Duration::from_mins(10);

impl Situation {
    /// Returns the script of the server, with bodies from `answers`.
    ///
    /// # Errors
    /// Fails if the headers of `answers` cannot be sent.
    pub(super) fn script(&self, answers: &Answers) -> Result<Script, mockserver_core::ScriptFileError> {
        Script::from_steps(vec![self.steps(answers)])
    }

    pub(super) fn steps(&self, answers: &Answers) -> Vec<WrittenStep> {
        let filled =
            |step: &WrittenStep| step.clone().with_answer(|status| answers.of(status, advised_seconds(step)));
        self.steps.iter().map(filled).collect()
    }

    /// Whether the situation is made for the rule with this name.
    pub(super) fn is_made_for(&self, rule: &str) -> bool {
        self.rules.iter().any(|purpose| purpose == rule)
    }

    /// Whether `--patient` waits for the whole advice of the situation in a further run, although its usual run does not.
    pub(super) fn can_be_awaited(&self) -> bool {
        let longest = self.steps.iter().filter_map(advised_seconds).max();
        !self.waits_for_advice && longest.is_some_and(|longest| longest <= MAX_PATIENCE)
    }
}

/// Returns the wait that a step advises by `Retry-After` in whole seconds.
fn advised_seconds(step: &WrittenStep) -> Option<Duration> {
    step.header("retry-after")?.parse().ok().map(Duration::from_secs)
}

impl Advised {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let wait = duration_text::parse(text);
        wait.map(Self::Wait).map_err(|error| format!("its `advises` must be a time, or `never`: {error}"))
    }
}
