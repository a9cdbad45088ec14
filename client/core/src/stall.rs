//! When a run that makes no progress is called stalled.

use std::time::Duration;

use vocabulary::Instant;

/// Patience with a run in which attempts go on but nothing succeeds: max(60 s, 100 × the time of one undisturbed
/// attempt, 3 × the longest back-off in use) of experiment time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StallWatch {
    last_progress: Instant,
    patience: Duration,
}

const SHORTEST_PATIENCE: Duration = Duration::from_mins(1);

impl StallWatch {
    pub(crate) fn new(undisturbed_attempt: Duration) -> Self {
        Self {
            last_progress: Instant::ORIGIN,
            patience: SHORTEST_PATIENCE.max(undisturbed_attempt.saturating_mul(100)),
        }
    }

    /// Something succeeded, or the first op after a time without any arrived.
    pub(crate) fn on_progress(&mut self, at: Instant) {
        self.last_progress = self.last_progress.max(at);
    }

    /// An op goes to sleep for this long.
    pub(crate) fn on_backoff(&mut self, delay: Duration) {
        self.patience = self.patience.max(delay.saturating_mul(3));
    }

    /// The instant at which the run is stalled if nothing succeeds before.
    pub(crate) fn stalls_at(&self) -> Instant {
        self.last_progress + self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_with_attempts_and_back_offs_and_starts_anew_with_progress() {
        let mut watch = StallWatch::new(Duration::from_millis(600));
        assert_eq!(watch.stalls_at(), Instant::from_millis(60_000));
        watch.on_backoff(Duration::from_secs(30));
        assert_eq!(watch.stalls_at(), Instant::from_millis(90_000));
        watch.on_progress(Instant::from_millis(5_000));
        assert_eq!(watch.stalls_at(), Instant::from_millis(95_000));
        assert_eq!(StallWatch::new(Duration::from_secs(2)).stalls_at(), Instant::from_millis(200_000));
    }
}
