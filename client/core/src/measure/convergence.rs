//! Convergence of a client to a limit of the server: whether its window or rate has been near the limit for long enough.

use std::time::Duration;

use vocabulary::Instant;

/// Maximum difference between the client's window or rate and the server's limit at which both count as equal, as a share of the limit.
pub(super) const NEAR: f64 = 0.1;

#[derive(Clone, Debug, Default)]
pub(super) struct Convergence {
    pub settled_after: Duration,
    pub fits_since: Option<Fit>,
    pub converged: Option<Fit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    at: Instant,
    pub rejected_before: u64,
}

impl Convergence {
    pub(super) fn new(settled_after: Duration) -> Self {
        Self { settled_after, ..Self::default() }
    }

    /// Advances the time to `at`.
    pub(super) fn reach(&mut self, at: Instant) {
        if let Some(fit) = self.fits_since
            && self.converged.is_none()
            && at.since(fit.at) >= self.settled_after
        {
            self.converged = Some(fit);
        }
    }

    /// Records whether the client is near the limit from `at` on.
    pub(super) fn judge(&mut self, at: Instant, fits: bool, rejected_before: u64) {
        self.fits_since = fits.then(|| self.fits_since.unwrap_or(Fit { at, rejected_before }));
    }
}

impl Fit {
    /// Returns the time from the first arrival to the fit, in seconds.
    pub(super) fn s_after(self, first_arrival: Option<Instant>) -> f64 {
        self.at.since(first_arrival.unwrap_or(Instant::ORIGIN)).as_secs_f64()
    }
}
