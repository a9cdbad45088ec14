//! One drawn setting: a server and a workload, as flags of `loadgen`.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Concurrency,
    Rate,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Concurrency => "concurrency",
            Self::Rate => "rate",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Number of the setting in the order of draws, from 0. Settings with concurrency limits come first.
    pub number: u64,
    pub limit: Limit,
    pub clients: u32,
    /// Maximum number of concurrent requests. 0 if the server has a rate limit instead of a concurrency limit.
    pub slots: u32,
    /// Whether the server counts rejected requests against its rate limit.
    pub rejected_count: bool,
    pub flags: Vec<[String; 2]>,
}

impl Setting {
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.flags.iter().flatten().map(String::as_str)
    }
}
