//! Inner state of a strategy for dashboards: a few numbers and its phase.

/// Named value of a strategy that is plotted over time, such as tokens, a rate or a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaugeKind {
    /// Name of the gauge in legends and results.
    pub name: &'static str,
    /// Unit of the gauge. It is empty if the value is a number of attempts, because such values are plotted on the same
    /// axis as the window (limit on in-flight attempts).
    pub unit: &'static str,
}

pub(crate) const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };

pub(crate) const RATE: GaugeKind = GaugeKind { name: "rate", unit: "per s" };

pub(crate) const GAP: GaugeKind = GaugeKind { name: "gap", unit: "ms" };

pub(crate) const RETRIES: GaugeKind = GaugeKind { name: "retries", unit: "" };

pub(crate) const REFUSED: GaugeKind = GaugeKind { name: "refused", unit: "%" };

pub(crate) const HEDGE_DELAY: GaugeKind = GaugeKind { name: "hedge-delay", unit: "ms" };

/// Maximum number of gauges that are plotted per strategy, in addition to its window and its slow start threshold.
pub const MAX_DRAWN: usize = 4;

/// Snapshot of a strategy's inner state. A field is `None` if no part of the strategy provides this value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Gauges {
    /// Limit on the number of attempts in flight.
    pub window: Option<f64>,
    /// Slow start threshold: the window below which growth is exponential.
    pub ssthresh: Option<f64>,
    /// Limit on the number of attempts sent per second.
    pub rate_per_s: Option<f64>,
    /// Number of remaining tokens of a budget.
    pub tokens: Option<f64>,
    /// Current phase of the strategy, e.g. `slow start`.
    pub phase: Option<&'static str>,
    /// Reason for the last change of state, e.g. `cut by a rejection`.
    pub reason: Option<&'static str>,
    /// Other plotted gauges, in the order of the strategy's parts.
    pub(crate) drawn: [Option<(&'static GaugeKind, f64)>; MAX_DRAWN],
}

impl Gauges {
    /// Sets the window (limit on in-flight attempts). If several limiters are stacked, the smallest window is kept.
    pub fn limit_window(&mut self, window: f64) {
        self.window = Some(self.window.map_or(window, |other| other.min(window)));
    }

    /// Sets the phase and the reason for the last change of state.
    pub(crate) fn explain(&mut self, phase: &'static str, reason: &'static str) {
        self.phase = Some(phase);
        self.reason = Some(reason);
    }

    /// Adds a gauge to plot. If several parts use the same name, only the first gauge is plotted. At most [`MAX_DRAWN`]
    /// gauges are plotted.
    pub fn draw(&mut self, kind: &'static GaugeKind, value: f64) {
        let free = self.drawn.iter().position(|drawn| drawn.is_none_or(|(other, _)| other.name == kind.name));
        if let Some(place) = free.and_then(|free| self.drawn.get_mut(free)) {
            place.get_or_insert((kind, value));
        }
    }

    /// Replaces the value of a plotted gauge. Does nothing if the gauge is not plotted.
    pub fn show(&mut self, kind: &'static GaugeKind, value: f64) {
        for (_, shown) in self.drawn.iter_mut().flatten().filter(|(own, _)| *own == kind) {
            *shown = value;
        }
    }

    /// Returns the plotted gauges and their values, without window and slow start threshold.
    pub fn drawn(&self) -> impl Iterator<Item = (&'static GaugeKind, f64)> + '_ {
        // Fast path: iteration stops at the first free entry of the array, because the array has no gaps. Usually the
        // array is empty, and this function runs after every attempt.
        self.drawn.iter().map_while(|drawn| *drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gauge_of_each_name_is_drawn_up_to_four() {
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
