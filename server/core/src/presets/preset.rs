//! Preset (model of a real server) as read from its file: limits, answers, and the source of every figure.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::answers::is_default;
use crate::{AnswersConfig, EveryConfig, Policy, PolicyError, ResponseConfig, quoted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPreset {
    pub name: String,
    pub title: String,
    /// Day on which the preset's sources were read, such as `2026-11-21`.
    pub read: String,
    /// Advice that the operator of the real server gives to clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Strategy of `loadgen` that behaves like a common client of the real server, such as `preset:openai`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Settings that make existing client libraries send their requests to another server than the real one. The list begins with the most
    /// common setting.
    #[serde(default, rename = "base-url-env", skip_serializing_if = "Vec::is_empty")]
    pub base_urls: Vec<BaseUrl>,
    /// Limits of the server, in the order in which a request passes them.
    #[serde(rename = "limit")]
    pub limits: Vec<Limit>,
    /// Figures of the server that users rarely know exactly. A key is `LIMIT.PARAMETER`. Its value is a range of factors, such as `0.7..1`.
    /// The true figure is assumed to be the preset's figure times a factor from this range.
    #[serde(default, skip_serializing)]
    pub unsure: BTreeMap<String, String>,
    #[serde(default, rename = "fact", skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Settings that the preset makes on the server. They have the same keys as a request that changes the server's configuration.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub server: serde_json::Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub every: EveryConfig,
    #[serde(default, skip_serializing_if = "is_default")]
    pub accepted: ResponseConfig,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reject: BTreeMap<String, ResponseConfig>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseUrl {
    /// Client library that the setting configures, such as `openai (Python)`. The language is given if the library exists for several
    /// languages.
    pub client: String,
    /// Setting that makes a client library send its requests to another server, such as `OPENAI_BASE_URL={url}/v1`. `{url}`, or `{host}`
    /// and `{port}`, are replaced by the address of that server.
    pub set: String,
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    pub name: String,
    pub about: String,
    /// Plural noun for the things that the limit counts, such as `tokens`. Absent if the limit is clear from its number and its period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Scope of the limit, such as `per user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    pub policy: String,
    /// Source of the limit's figures; empty if the figures have no source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Whether all figures of the limit were read in the source itself.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Name of the table in the preset's file that this fact describes: `every`, `accepted`, `reject.NAME` or `server`.
    pub of: String,
    pub about: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub verified: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerPresetError {
    #[error("{0}")]
    Toml(String),
    #[error("the limit `{limit}`: {why}")]
    Limit { limit: String, why: Box<PolicyError> },
    #[error("`{0}` does not name a source; add `source`, or mark it with `verified = false`")]
    Unsourced(String),
    #[error("no `[[fact]]` states the source of `[{0}]`; add one")]
    Unexplained(String),
    #[error("a `[[fact]]` has `of = \"{of}\"`, which is not a table of this file; the tables are {tables}")]
    Nothing { of: String, tables: String },
}

impl ServerPreset {
    pub(super) fn limit(&self, name: &str) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.name == name)
    }

    pub fn statuses(&self) -> Vec<u16> {
        let statuses: BTreeSet<u16> = self.reject.values().filter_map(|response| response.status).collect();
        statuses.into_iter().collect()
    }

    pub(super) fn answers(&self) -> AnswersConfig {
        AnswersConfig {
            every: self.every.clone(),
            accepted: self.accepted.clone(),
            reject: self.reject.clone(),
            ..AnswersConfig::default()
        }
    }

    pub fn is_verified(&self) -> bool {
        self.limits.iter().all(|limit| limit.verified) && self.facts.iter().all(|fact| fact.verified)
    }

    fn tables(&self) -> Vec<String> {
        let is_there = [
            ("every", !is_default(&self.every)),
            ("accepted", !is_default(&self.accepted)),
            ("server", !self.server.is_empty()),
        ];
        let plain = is_there.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned());
        plain.chain(self.reject.keys().map(|name| format!("reject.{name}"))).collect()
    }

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
                let tables = quoted(&tables);
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
    /// True if the setting is an environment variable, false if it is an option in the program's code.
    pub fn is_variable(&self) -> bool {
        let (name, _) = self.set.split_once('=').unwrap_or_default();
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || b"0123456789_".contains(&byte))
    }

    pub fn at(&self, address: SocketAddr) -> String {
        self.set
            .replace("{url}", &format!("http://{address}"))
            .replace("{host}", &address.ip().to_string())
            .replace("{port}", &address.port().to_string())
    }
}

impl Limit {
    pub(super) fn policy(&self) -> Result<Policy, PolicyError> {
        format!("{}={}", self.name, self.policy).parse()
    }
}

impl FromStr for ServerPreset {
    type Err = ServerPresetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let preset = text.parse::<toml::Table>().and_then(Self::deserialize);
        let preset = preset.map_err(|error| ServerPresetError::Toml(error.to_string()))?;
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
