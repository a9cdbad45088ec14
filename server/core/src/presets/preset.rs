//! One preset, as its file has it: limits, answers, and where every figure was read.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::answers::{AnswersConfig, EveryConfig, ResponseConfig};
use crate::policy::{Policy, PolicyError};
use crate::quoted::quoted;

/// A server that others run, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPreset {
    /// As typed, and the name of its file.
    pub name: String,
    /// Whose server it is, in a few words.
    pub title: String,
    /// The day on which its sources were read: `2026-11-21`.
    pub read: String,
    /// What its operator tells clients to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<String>,
    /// What a user should know that the figures do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Strategy of `loadgen` that behaves like a usual client of this server: `preset:openai`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Settings that point existing clients at another server, the most usual first.
    #[serde(default, rename = "base-url-env", skip_serializing_if = "Vec::is_empty")]
    pub base_urls: Vec<BaseUrl>,
    /// In the order in which a request meets them.
    #[serde(rename = "limit")]
    pub limits: Vec<Limit>,
    /// Where its answers and settings were read.
    #[serde(default, rename = "fact", skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Settings of the server that go with it, in the words of a change of the configuration.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub server: serde_json::Map<String, serde_json::Value>,
    /// What all answers say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub every: EveryConfig,
    /// What answers to accepted requests say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub accepted: ResponseConfig,
    /// What answers to rejected requests say, by the limit's name; `*` for all others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reject: BTreeMap<String, ResponseConfig>,
}

/// Setting that points an existing client at another server: an environment variable or an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseUrl {
    /// The client, with its language where it has several: `openai (Python)`.
    pub client: String,
    /// The setting, with `{url}`, or `{host}` and `{port}`, for the other server's address: `OPENAI_BASE_URL={url}/v1`.
    pub set: String,
    /// Documentation or source file that has the setting.
    pub source: String,
}

/// One limit: a policy of the stack, and where its figures were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it is called in the stack.
    pub name: String,
    /// What it limits, in words.
    pub about: String,
    /// Noun for what is counted, plural: `tokens`. Absent where a number with its time says enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whom or what each limit applies to: `per user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The policy, as typed.
    pub policy: String,
    /// Where its figures were read; empty where nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether all of them were read there.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub verified: bool,
    /// What of them was not, and what else is to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where something was read that answers say, or that is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The table: `every`, `accepted`, `reject.NAME`, `server`.
    pub of: String,
    /// What, in words.
    pub about: String,
    /// Where it was read; empty where nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether all of it was read there.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub verified: bool,
}

/// A text is no preset of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerPresetError {
    /// It is no TOML with the keys of a preset.
    #[error("{0}")]
    Toml(String),
    /// A limit that is no policy.
    #[error("the limit `{limit}`: {why}")]
    Limit {
        /// The limit's name.
        limit: String,
        /// What is wrong with it.
        why: Box<PolicyError>,
    },
    /// Figures that come from nowhere, and do not say so.
    #[error("`{0}` names no source and is not marked `verified = false`")]
    Unsourced(String),
    /// A table whose figures nothing speaks of.
    #[error("no `[[fact]]` says where `[{0}]` was read")]
    Unexplained(String),
    /// Something is said of a table that is not there.
    #[error("a `[[fact]]` is of `{of}`; the tables are {tables}")]
    Nothing {
        /// What it is said to be of.
        of: String,
        /// Those that there are.
        tables: String,
    },
}

impl ServerPreset {
    /// The limit of this name.
    pub(super) fn limit(&self, name: &str) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.name == name)
    }

    /// Statuses of rejections, in ascending order.
    pub fn statuses(&self) -> Vec<u16> {
        let statuses: BTreeSet<u16> = self.reject.values().filter_map(|response| response.status).collect();
        statuses.into_iter().collect()
    }

    /// What answers say.
    pub(super) fn answers(&self) -> AnswersConfig {
        AnswersConfig {
            every: self.every.clone(),
            accepted: self.accepted.clone(),
            reject: self.reject.clone(),
            ..AnswersConfig::default()
        }
    }

    /// Whether every figure of it was read where it says.
    pub fn is_verified(&self) -> bool {
        self.limits.iter().all(|limit| limit.verified) && self.facts.iter().all(|fact| fact.verified)
    }

    fn tables(&self) -> Vec<String> {
        let is_there = [
            ("every", self.every != EveryConfig::default()),
            ("accepted", self.accepted != ResponseConfig::default()),
            ("server", !self.server.is_empty()),
        ];
        let plain = is_there.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned());
        plain.chain(self.reject.keys().map(|name| format!("reject.{name}"))).collect()
    }

    /// Every figure has a source or is marked, and every table is spoken of.
    fn check(&self) -> Result<(), ServerPresetError> {
        for limit in &self.limits {
            limit
                .policy()
                .map_err(|why| ServerPresetError::Limit { limit: limit.name.clone(), why: Box::new(why) })?;
            if limit.source.is_empty() && limit.verified {
                return Err(ServerPresetError::Unsourced(limit.name.clone()));
            }
        }
        let tables = self.tables();
        for fact in &self.facts {
            if !tables.contains(&fact.of) {
                let tables = quoted(tables.iter().map(String::as_str));
                return Err(ServerPresetError::Nothing { of: fact.of.clone(), tables });
            }
            if fact.source.is_empty() && fact.verified {
                return Err(ServerPresetError::Unsourced(fact.about.clone()));
            }
        }
        match tables.into_iter().find(|table| !self.facts.iter().any(|fact| fact.of == *table)) {
            Some(table) => Err(ServerPresetError::Unexplained(table)),
            None => Ok(()),
        }
    }
}

impl BaseUrl {
    /// True if the setting is an environment variable, and not an option in a program.
    pub fn is_variable(&self) -> bool {
        let (name, _) = self.set.split_once('=').unwrap_or_default();
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || b"0123456789_".contains(&byte))
    }

    /// Returns the setting that points the client at this server.
    pub fn at(&self, address: SocketAddr) -> String {
        self.set
            .replace("{url}", &format!("http://{address}"))
            .replace("{host}", &address.ip().to_string())
            .replace("{port}", &address.port().to_string())
    }
}

impl Limit {
    /// The policy under the limit's name.
    pub(super) fn policy(&self) -> Result<Policy, PolicyError> {
        format!("{}={}", self.name, self.policy).parse()
    }
}

impl FromStr for ServerPreset {
    type Err = ServerPresetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let preset: Self =
            toml::from_str(text).map_err(|error| ServerPresetError::Toml(error.to_string()))?;
        preset.check()?;
        Ok(preset)
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
fn is_yes(verified: &bool) -> bool {
    *verified
}

fn is_default<T: Default + PartialEq>(table: &T) -> bool {
    *table == T::default()
}
