//! Input of the dashboard for one run, and the actions that the dashboard requests.

use loadgen_core::Snapshot;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    pub strategy: String,
    pub workload: String,
    pub target: String,
    /// Wall time divided by experiment time. The dashboard shows the scale if it is not 1.
    pub time_scale: f64,
    /// Name of the limit that can be changed during the run, if the target is a mockserver that has one.
    pub adjustable_limit: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Background according to the variable `COLORFGBG`, which some terminals set. Without the variable, the colours
    /// are readable on both dark and light backgrounds.
    #[default]
    Auto,
    Dark,
    Light,
    /// Any background, with text in its default colour only.
    Colourless,
}

#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub snapshot: Snapshot,
    pub generator: GeneratorState,
    /// Known policies of the server, in the order of its policy stack.
    pub policies: Vec<PolicyName>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyName {
    pub name: String,
    /// True if the policy has a separate limit for each key. The limit of the policy then applies to a single key.
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
    /// Request to end the run. Each further press of the key sends this request again.
    Quit,
    /// Request to lower a limit of the server. Like [`Self::RaiseLimit`], it is only sent if the server has an
    /// [adjustable limit](Header::adjustable_limit).
    LowerLimit,
    RaiseLimit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    Running,
    Over,
}
