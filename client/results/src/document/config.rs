//! Configuration of a run in the format of documents. It is the value of `config` in a result, and the output of `--print-config`.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{MergedLoad, Setting};

/// Configuration of a run: everything that is needed to repeat it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ConfigRecord {
    pub program: String,
    pub version: String,
    pub command_line: Vec<String>,
    /// Server of the run: `embedded`, `found`, `simulated` or its URL.
    pub server: String,
    pub target: Option<String>,
    pub strategy: Vec<PartRecord>,
    pub max_attempts: String,
    pub retry_after: String,
    pub workload: WorkloadRecord,
    pub timeout: String,
    pub deadline: Option<String>,
    pub within: Option<String>,
    pub warm_up: String,
    pub retry_failed: bool,
    pub seed: u64,
    pub repeats: u32,
    pub time_scale: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_noise: Option<String>,
    pub request: RequestRecord,
    /// Transport that sent the requests; absent for a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportRecord>,
    /// Configuration of the mockserver; null for any other server.
    pub server_model: Option<ServerModel>,
    /// Runs that sent their load together and were added up (`loadgen merge --together`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedLoad>,
    /// Settings in files of later versions of the program that have no field in this version. They are kept, because they may matter.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub more: BTreeMap<String, Setting>,
}

/// Configuration of a run in memory. Runs that differ only in their seed share the rest.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "ConfigRecord")]
pub struct SharedConfig {
    pub seed: u64,
    /// Configuration with the seed 0.
    rest: Arc<ConfigRecord>,
}

impl SharedConfig {
    pub fn record(&self) -> ConfigRecord {
        ConfigRecord { seed: self.seed, ..ConfigRecord::clone(&self.rest) }
    }

    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, rest: self.rest.clone() }
    }
}

impl From<ConfigRecord> for SharedConfig {
    fn from(record: ConfigRecord) -> Self {
        Self { seed: record.seed, rest: Arc::new(ConfigRecord { seed: 0, ..record }) }
    }
}

impl Serialize for SharedConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

impl Deref for SharedConfig {
    type Target = ConfigRecord;

    fn deref(&self) -> &ConfigRecord {
        &self.rest
    }
}

impl DerefMut for SharedConfig {
    fn deref_mut(&mut self) -> &mut ConfigRecord {
        Arc::make_mut(&mut self.rest)
    }
}

impl Default for ConfigRecord {
    /// Returns the default configuration. Its values replace keys that a results file lacks. No figure depends on these values.
    fn default() -> Self {
        Self {
            program: String::new(),
            version: String::new(),
            command_line: Vec::new(),
            server: String::new(),
            target: None,
            strategy: Vec::new(),
            max_attempts: String::new(),
            retry_after: String::new(),
            workload: WorkloadRecord::default(),
            timeout: String::new(),
            deadline: None,
            within: None,
            warm_up: String::new(),
            retry_failed: true,
            seed: 0,
            repeats: 1,
            time_scale: 1.0,
            delay_noise: None,
            request: RequestRecord::default(),
            transport: None,
            server_model: None,
            merged: Vec::new(),
            more: BTreeMap::new(),
        }
    }
}

/// One part of a strategy, such as its backoff, with the values that all parameters of the part had in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PartRecord {
    pub name: String,
    pub parameters: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WorkloadRecord {
    pub kind: String,
    pub ops: Option<u64>,
    pub duration: Option<String>,
    pub drain: Option<String>,
    pub arrivals: String,
    pub rate_per_s: Option<f64>,
    /// Arrival rate of ops in the unit in which the user gave it, such as `10/min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    pub in_flight: Option<u32>,
    pub clients: u32,
    pub share_strategy: bool,
    /// All other parameters of the workload that differ from their defaults, with values as on the command line. Because of this map, a new
    /// parameter needs no field in this type.
    #[serde(flatten)]
    pub more: BTreeMap<String, Setting>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RequestRecord {
    pub method: String,
    /// Names of the request headers. Their values are not recorded, because values may be secrets.
    pub headers: Vec<String>,
    pub body_bytes: usize,
    /// Settings in files of later versions of the program that have no field in this version. They are kept, because they may matter.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub more: BTreeMap<String, Setting>,
}

/// Transport (HTTP client library) that sent the attempts of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TransportRecord {
    /// Name of the transport: `hyper`, `reqwest` or, with `--http2`, `hyper-http2`. For `--transport auto`, the transport that was chosen.
    #[serde(deserialize_with = "transport_name")]
    pub name: String,
    pub threads: usize,
    /// Whether each request had a connection of its own (`--no-keepalive`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_keepalive: bool,
}

/// Transports that were renamed, as pairs of old and new name. For one version, old names are still accepted on command lines, in
/// `TAILBACK_TRANSPORT` and in documents.
const RENAMED_TRANSPORTS: [(&str, &str); 2] = [("lean", "hyper"), ("lean-http2", "hyper-http2")];

pub fn current_transport_name(name: &str) -> &str {
    let renamed = RENAMED_TRANSPORTS.iter().find(|(former, _)| *former == name);
    renamed.map_or(name, |(_, current)| current)
}

fn transport_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    Ok(current_transport_name(&name).to_owned())
}

/// Configuration of a mockserver, key by key, as its `GET /_mock/config` returns it. The server defines the keys, so a new flag of the
/// server needs no change in this type. Keys of older and newer servers are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(description = "A mockserver's configuration, key by key, as its `GET /_mock/config` shows it.")
)]
pub struct ServerModel(BTreeMap<String, Option<Setting>>);

impl ServerModel {
    pub fn new(config: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::from_value(serde_json::to_value(config)?)
    }

    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.0.get(key)?.as_ref()
    }

    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.0.remove(key);
        self
    }

    /// Replaces the seed, if the configuration has one.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        if let Some(own) = self.0.get_mut("seed") {
            *own = Some(Setting::Whole(seed));
        }
        self
    }

    /// Deserializes the mockserver's configuration. Returns `None` if the configuration belongs to another program.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::to_value(self).and_then(serde_json::from_value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unknown names are kept.
    #[test]
    fn former_names_of_transports_are_read_as_current_ones() {
        for (read, written) in [
            ("lean", "hyper"),
            ("lean-http2", "hyper-http2"),
            ("hyper", "hyper"),
            ("reqwest", "reqwest"),
            ("carrier-pigeon", "carrier-pigeon"),
        ] {
            let record = serde_json::json!({ "name": read, "threads": 2 });
            let record: TransportRecord = serde_json::from_value(record).unwrap();
            assert_eq!(record, TransportRecord { name: written.to_owned(), threads: 2, no_keepalive: false });
        }
    }
}
