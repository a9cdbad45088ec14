//! What the dashboard is given and what it asks for.

use loadgen_core::Snapshot;

/// What stays the same during a run, as texts for the top line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The strategy as it was typed.
    pub strategy: String,
    /// What is to be done, e.g. `2 000 ops, Poisson 1000/s`.
    pub workload: String,
    /// Who is asked to do it, e.g. `embedded mockserver, cap 50`.
    pub target: String,
    /// Wall time per experiment time; shown when it is not 1.
    pub time_scale: f64,
    /// What the limit is called that can be changed while it runs, where the target is a mockserver that has one.
    pub adjustable_limit: Option<String>,
}

/// What the terminal's background is, which colours must be readable on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// As `COLORFGBG` says, which some terminals set; otherwise colours that can be read on both.
    #[default]
    Auto,
    /// Dark.
    Dark,
    /// Light.
    Light,
}

/// What is drawn: the run and its generator at one moment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The run.
    pub snapshot: Snapshot,
    /// The program that makes the load.
    pub generator: GeneratorState,
    /// The policies of the server's stack in their order, as far as they are known.
    pub policies: Vec<PolicyName>,
}

/// What a policy of the server is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyName {
    /// As in the stack.
    pub name: String,
    /// Whether it counts by key, so that its limit is that of one key.
    pub is_keyed: bool,
}

/// The load generator's own use of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeneratorState {
    /// Processor time per wall time: 1 is one core fully used.
    pub cpu_share: f64,
    /// Memory in use.
    pub rss_bytes: u64,
    /// Connections to the target.
    pub open_connections: u64,
}

/// What a key asks the caller to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End the run; asked again when the user insists.
    Quit,
    /// Lower the limit. Only asked when there is an [adjustable one](Header::adjustable_limit).
    LowerLimit,
    /// Raise the limit. Only asked when there is an [adjustable one](Header::adjustable_limit).
    RaiseLimit,
}

/// Whether there is more to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The run goes on.
    Running,
    /// The run has ended or was interrupted: the dashboard leaves the screen.
    Over,
}
