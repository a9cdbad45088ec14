//! The server's clock: experiment time since it started.

use std::time::{Duration, Instant as RealInstant};

use vocabulary::{Instant, TimeScale};

/// Maps real time to the server's experiment time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: RealInstant,
    pub(crate) scale: TimeScale,
}

impl Clock {
    pub(crate) fn start(scale: TimeScale) -> Self {
        Self { origin: RealInstant::now(), scale }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ORIGIN + self.scale.to_experiment(self.origin.elapsed())
    }

    /// Real time from now until `at`; zero when it is past.
    pub(crate) fn until(&self, at: Instant) -> Duration {
        self.scale.to_real(at.since(self.now()))
    }
}
