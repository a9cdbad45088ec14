//! Answers as they are written down: tables of a preset's file, and a part of the configuration that is recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What answers say, by outcome and reason. Without anything, the server answers as it always does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswersConfig {
    /// What every answer says, unless its own table says otherwise.
    #[serde(skip_serializing_if = "EveryConfig::is_empty")]
    pub every: EveryConfig,
    /// Answers to what was served.
    #[serde(skip_serializing_if = "ResponseConfig::is_empty")]
    pub accepted: ResponseConfig,
    /// Answers to conditional writes that came too late.
    #[serde(skip_serializing_if = "ResponseConfig::is_empty")]
    pub conflict: ResponseConfig,
    /// Answers to what was turned away, by the name of the stage that did it; `*` for all others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reject: BTreeMap<String, ResponseConfig>,
}

/// What every answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EveryConfig {
    /// Templates by the names of headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The forms of advice where an answer's own table names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// What one kind of answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResponseConfig {
    /// 200 to 599; without it, the status that the server gives anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Templates by the names of headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A template; without it, the body that the server writes anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Forms of advice, in place of those of every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl AnswersConfig {
    /// Whether the server answers as it always does.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same answers with this advice in all of them, in place of their own. A header or a body that a table has stays.
    #[must_use]
    pub fn advising(mut self, advice: &str) -> Self {
        self.every.advice = Some(advice.to_owned());
        for response in [&mut self.accepted, &mut self.conflict].into_iter().chain(self.reject.values_mut()) {
            response.advice = None;
        }
        self
    }

    /// The same answers, with the server's own status in all rejections.
    #[must_use]
    pub fn rejecting_alike(mut self) -> Self {
        self.reject.values_mut().for_each(|response| response.status = None);
        self
    }
}

impl EveryConfig {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ResponseConfig {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
