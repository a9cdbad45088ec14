//! What dashboards show of a strategy: a few numbers and what it is doing.

/// A number of a strategy that is drawn over time under a name of its own: tokens, a rate, a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaugeKind {
    /// As legends and results call it.
    pub name: &'static str,
    /// In what it is measured; empty for attempts, which share an axis with the window.
    pub unit: &'static str,
}

/// Tokens that are left, of whatever takes tokens.
pub(crate) const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };

/// Attempts per second that a strategy lets start.
pub(crate) const RATE: GaugeKind = GaugeKind { name: "rate", unit: "per s" };

/// Time between attempts, of a limiter that paces them by a gap.
pub(crate) const GAP: GaugeKind = GaugeKind { name: "gap", unit: "ms" };

/// Retries under way, of whatever limits those.
pub(crate) const RETRIES: GaugeKind = GaugeKind { name: "retries", unit: "" };

/// The share of launches that a throttle refuses.
pub(crate) const REFUSED: GaugeKind = GaugeKind { name: "refused", unit: "%" };

/// How long after an attempt its copy is sent, where that is measured.
pub(crate) const HEDGE_DELAY: GaugeKind = GaugeKind { name: "hedge-delay", unit: "ms" };

/// The most gauges of one strategy that are drawn besides its window and threshold.
pub const MOST_DRAWN: usize = 4;

/// Where a breaker is, as all of them call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerPhase {
    Closed,
    Open,
    HalfOpen,
}

impl BreakerPhase {
    const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

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
    /// What else is drawn over time, the first part's first.
    pub(crate) drawn: [Option<(&'static GaugeKind, f64)>; MOST_DRAWN],
}

impl Gauges {
    /// The smaller of two windows counts when several limiters are stacked.
    pub fn limit_window(&mut self, window: f64) {
        self.window = Some(self.window.map_or(window, |other| other.min(window)));
    }

    /// What a breaker is doing. A closed one has no say: what a limiter reported is of more interest.
    pub(crate) fn show_breaker(&mut self, phase: BreakerPhase, reason: &'static str) {
        if self.phase.is_none() || phase != BreakerPhase::Closed {
            self.phase = Some(phase.name());
            self.reason = Some(reason);
        }
    }

    /// Has a number drawn over time. Of parts that use one name the first is drawn, and nothing beyond [`MOST_DRAWN`].
    pub fn draw(&mut self, kind: &'static GaugeKind, value: f64) {
        let free = self.drawn.iter().position(|drawn| drawn.is_none_or(|(other, _)| other.name == kind.name));
        if let Some(place) = free.and_then(|free| self.drawn.get_mut(free)) {
            place.get_or_insert((kind, value));
        }
    }

    /// Replaces a number that is drawn, where it is.
    pub fn show(&mut self, kind: &'static GaugeKind, value: f64) {
        for (_, shown) in self.drawn.iter_mut().flatten().filter(|(own, _)| *own == kind) {
            *shown = value;
        }
    }

    /// What is drawn over time besides window and threshold.
    pub fn drawn(&self) -> impl Iterator<Item = (&'static GaugeKind, f64)> + '_ {
        // Without gaps: mostly there is none, and this is asked after every attempt.
        self.drawn.iter().map_while(|drawn| *drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_one_name_is_drawn_and_no_more_than_there_is_room_for() {
        const NAMES: [GaugeKind; 6] = [
            GaugeKind { name: "tokens", unit: "" },
            GaugeKind { name: "tokens", unit: "" },
            GaugeKind { name: "rate", unit: "per s" },
            GaugeKind { name: "share", unit: "%" },
            GaugeKind { name: "depth", unit: "" },
            GaugeKind { name: "more", unit: "" },
        ];
        let mut gauges = Gauges::default();
        for (kind, value) in NAMES.iter().zip([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) {
            gauges.draw(kind, value);
        }
        let drawn: Vec<_> = gauges.drawn().map(|(kind, value)| (kind.name, value)).collect();
        assert_eq!(drawn, [("tokens", 1.0), ("rate", 3.0), ("share", 4.0), ("depth", 5.0)]);
    }
}
