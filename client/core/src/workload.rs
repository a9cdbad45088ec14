//! What a run is to do: how many ops, arriving how, under which limits.

use std::time::Duration;

/// When ops arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// Open loop: independent arrivals, this many a second on average.
    Poisson {
        /// Mean arrivals per second, above 0.
        rate_per_s: f64,
    },
    /// Open loop: evenly spaced.
    Uniform {
        /// Arrivals per second, above 0.
        rate_per_s: f64,
    },
    /// Open loop: all at the origin.
    Burst,
    /// Closed loop: an op arrives when a place frees. Hides waiting: what is slow is asked less.
    Closed {
        /// Most ops unfinished at once, at least 1.
        in_flight: u32,
    },
}

/// Which ops arrive, and until when. Arrivals end at whichever limit comes first; at least one is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// When ops arrive.
    pub arrivals: ArrivalProcess,
    /// How many.
    pub ops: Option<u64>,
    /// For how long.
    pub duration: Option<Duration>,
}

/// Everything that the client side of a run is told.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// Keys arrivals and every other draw.
    pub seed: u64,
    /// What is to be done.
    pub workload: Workload,
    /// Independent clients; op i belongs to client i mod `clients`.
    pub clients: u32,
    /// Whether all clients share one strategy instance, and with it one queue.
    pub share_strategy: bool,
    /// An attempt without an answer after this long has failed.
    pub timeout: Duration,
    /// An op that cannot start its next attempt within this long of its arrival gives up.
    pub deadline: Option<Duration>,
    /// How long the run goes on after a limited duration, to finish what has arrived.
    pub drain: Option<Duration>,
    /// Whether an op may try again after a failure (it always may after a rejection).
    pub retry_failed: bool,
    /// How long an attempt takes when nothing is in its way; bounds the patience with a run that stalls.
    pub undisturbed_attempt: Duration,
}

impl Default for Workload {
    fn default() -> Self {
        Self { arrivals: ArrivalProcess::Poisson { rate_per_s: 1000.0 }, ops: Some(2000), duration: None }
    }
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            workload: Workload::default(),
            clients: 1,
            share_strategy: false,
            timeout: Duration::from_secs(30),
            deadline: None,
            drain: None,
            retry_failed: true,
            undisturbed_attempt: Duration::from_millis(600),
        }
    }
}
