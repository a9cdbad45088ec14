//! Serialized form of a server's answers: tables in a preset's file, and part of the recorded configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Configured answers of a server, by outcome of the request and by reason of a rejection. If none are configured, the server sends its
/// default answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnswersConfig {
    /// Content common to all answers. The table of a single answer overrides this content.
    #[serde(skip_serializing_if = "is_default")]
    pub every: EveryConfig,
    #[serde(skip_serializing_if = "is_default")]
    pub accepted: ResponseConfig,
    /// Answer to conditional writes that are rejected because the object's version has changed.
    #[serde(skip_serializing_if = "is_default")]
    pub conflict: ResponseConfig,
    /// Answers to rejected requests, by the name of the rejecting stage. The key `*` applies to all other rejections.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reject: BTreeMap<String, ResponseConfig>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EveryConfig {
    /// Templates of the header values of answers, by header name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Forms of retry advice for every answer. If the table of an answer sets forms of its own, those are used instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResponseConfig {
    /// HTTP status of the answer, from 200 to 599. `None` means the server's default status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Template of the answer's body. `None` means the server's default body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Forms of retry advice for this answer. They replace the forms of the table `every`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl AnswersConfig {
    pub fn is_empty(&self) -> bool {
        is_default(self)
    }

    /// Returns the configuration of the answers with `advice` as the retry advice of every answer. This advice replaces the advice that
    /// each answer had. Headers and bodies are kept.
    #[must_use]
    pub fn advising(mut self, advice: &str) -> Self {
        self.every.advice = Some(advice.to_owned());
        for response in [&mut self.accepted, &mut self.conflict].into_iter().chain(self.reject.values_mut()) {
            response.advice = None;
        }
        self
    }

    #[must_use]
    pub fn rejecting_alike(mut self) -> Self {
        self.reject.values_mut().for_each(|response| response.status = None);
        self
    }
}

/// Whether a table of a configuration has only default values, so that it need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(table: &T) -> bool {
    *table == T::default()
}
