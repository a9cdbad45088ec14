//! Input of the dashboard, and the actions that it requests.

use loadgen_core::Snapshot;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    pub strategy: String,
    pub workload: String,
    pub target: String,
    /// Wall time divided by experiment time; shown when it is not 1.
    pub time_scale: f64,
    /// Name of the limit that can be changed during the run, if the target is a mockserver that has one.
    pub adjustable_limit: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Background according to `COLORFGBG`, which some terminals set. Without it, the colours are readable on both
    /// backgrounds.
    #[default]
    Auto,
    Dark,
    Light,
}

#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub snapshot: Snapshot,
    pub generator: GeneratorState,
    /// Policies of the server, in the order of its policy stack, as far as they are known.
    pub policies: Vec<PolicyName>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyName {
    pub name: String,
    /// True if the policy counts by key, so that its limit is that of one key.
    pub is_keyed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeneratorState {
    /// Processor time divided by wall time; 1 is one core fully used.
    pub cpu_share: f64,
    pub rss_bytes: u64,
    pub open_connections: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End the run. Sent again if the user presses the key again.
    Quit,
    /// Lower the limit. Like [`Self::RaiseLimit`], only requested if there is an [adjustable one](Header::adjustable_limit).
    LowerLimit,
    RaiseLimit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    Running,
    Over,
}
