//! What dashboards show of a strategy: a few numbers and what it is doing.

/// A snapshot of a strategy's inner state; `None` where no part has such a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Gauges {
    /// Attempts that may be in flight.
    pub window: Option<f64>,
    /// Window below which growth is exponential.
    pub ssthresh: Option<f64>,
    /// Attempts per second that may start.
    pub rate_per_s: Option<f64>,
    /// Tokens left in a budget.
    pub tokens: Option<f64>,
    /// What the strategy is doing now, e.g. `slow start`.
    pub phase: Option<&'static str>,
    /// Why it last changed its mind, e.g. `cut by a rejection`.
    pub reason: Option<&'static str>,
}

impl Gauges {
    /// The smaller of two windows counts when several limiters are stacked.
    pub fn limit_window(&mut self, window: f64) {
        self.window = Some(self.window.map_or(window, |other| other.min(window)));
    }
}
