//! Gauges that strategies report: the latest values of each strategy instance, and sums over instances.

use tailback::{GaugeKind, Gauges, Strategy};
use vocabulary::Instant;

use crate::measure::Measurements;

/// Latest gauges of all strategy instances, and their sums.
pub(super) struct Gauging {
    instances: Vec<InstanceGauges>,
    /// Sum of the windows of all instances, updated at every change.
    window: f64,
    ssthresh: f64,
    drawn: Drawn,
}

#[derive(Debug, Default)]
struct InstanceGauges {
    window: Option<f64>,
    ssthresh: Option<f64>,
    drawn: Drawn,
}

impl Gauging {
    pub(super) fn new(instances: usize) -> Self {
        let instances = std::iter::repeat_with(InstanceGauges::default).take(instances).collect();
        Self { instances, window: 0.0, ssthresh: 0.0, drawn: Drawn::default() }
    }

    pub(super) fn window_of(&self, instance: u32) -> Option<f64> {
        self.instances[instance as usize].window
    }

    /// Returns whether the instance has reported a gauge that strategies define and name.
    #[inline]
    pub(super) fn draws(&self, instance: u32) -> bool {
        !self.instances[instance as usize].drawn.is_empty()
    }

    /// Returns the sums over all instances. `first` are the gauges of the first one.
    pub(super) fn sums(&self, first: Gauges) -> Gauges {
        let mut gauges = first;
        gauges.window = gauges.window.map(|_| self.window);
        gauges.ssthresh = gauges.ssthresh.map(|_| self.ssthresh);
        for (kind, sum) in self.drawn.values() {
            gauges.show(kind, sum);
        }
        gauges
    }

    /// Records the present gauges of an instance.
    pub(super) fn note(
        &mut self,
        at: Instant,
        instance: u32,
        strategy: &Strategy,
        measured: &mut Measurements,
    ) {
        let alone = self.instances.len() == 1;
        let instance = &mut self.instances[instance as usize];
        let gauges = strategy.gauges();
        for (kind, value) in gauges.drawn() {
            if let Some(sum) = self.drawn.take(&mut instance.drawn, alone, kind, value) {
                measured.series.draw(at, kind, sum);
            }
        }
        if gauges.window == instance.window && gauges.ssthresh == instance.ssthresh {
            return;
        }
        let change = |new: Option<f64>, old: Option<f64>| new.unwrap_or(0.0) - old.unwrap_or(0.0);
        if alone {
            // With a single strategy instance, the sum is set to the value itself. Adding differences instead would
            // cause rounding errors.
            self.window = gauges.window.unwrap_or(0.0);
            self.ssthresh = gauges.ssthresh.unwrap_or(0.0);
        } else {
            self.window += change(gauges.window, instance.window);
            self.ssthresh += change(gauges.ssthresh, instance.ssthresh);
        }
        // The slow-start threshold is recorded only when it changes, because the series repeats an unchanged value in
        // later buckets.
        let moved = gauges.ssthresh.is_some() && gauges.ssthresh != instance.ssthresh;
        instance.window = gauges.window;
        instance.ssthresh = gauges.ssthresh;
        measured.on_window(at, self.window);
        if moved {
            measured.series.at(at).ssthresh.set(self.ssthresh);
        }
    }
}

/// Gauges that strategies define and name.
#[derive(Debug, Default)]
struct Drawn(Vec<(&'static GaugeKind, f64)>);

impl Drawn {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn values(&self) -> impl Iterator<Item = (&'static GaugeKind, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Stores the new value of a strategy instance's gauge in `own`, and updates the sum over all instances. Returns
    /// the sum if it changed.
    fn take(&mut self, own: &mut Self, alone: bool, kind: &'static GaugeKind, value: f64) -> Option<f64> {
        let change = value - own.replace(kind, |_| value).unwrap_or(0.0);
        // With a single strategy instance, the sum is set to the value itself. Adding differences instead would cause
        // rounding errors.
        let next = |sum: Option<f64>| if alone { value } else { sum.unwrap_or(0.0) + change };
        let mut sum = value;
        let before = self.replace(kind, |before| {
            sum = next(before);
            sum
        });
        (before != Some(sum)).then_some(sum)
    }

    fn replace(&mut self, kind: &'static GaugeKind, next: impl FnOnce(Option<f64>) -> f64) -> Option<f64> {
        // Comparing the addresses first saves comparing names for every request.
        let is_kind = |there: &'static GaugeKind| std::ptr::eq(there, kind) || there == kind;
        let known = self.0.iter_mut().find(|(there, _)| is_kind(there));
        let Some((_, value)) = known else {
            self.0.push((kind, next(None)));
            return None;
        };
        let before = *value;
        *value = next(Some(before));
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tailback::{AttemptEnd, Budget, BudgetDecision, Candidate, Outcome, Part, Permit, Rules, Status};
    use vocabulary::Rng;

    use super::*;
    use crate::run::{AttemptResult, Completion, Input, Output, Run};
    use crate::workload::{ArrivalProcess, RunConfig, Workload};

    #[derive(Default)]
    struct Awakened(Option<f64>);

    impl Budget for Awakened {
        fn ask(&self, _now: Instant, _launch: &Candidate, _rng: &mut dyn Rng) -> BudgetDecision {
            BudgetDecision::Permit
        }

        fn on_ended(&mut self, _now: Instant, _ended: &AttemptEnd, outcome: &Outcome, _permit: Permit) {
            if outcome.status == Status::Rejected {
                self.0 = Some(self.0.unwrap_or(5.0) - 1.0);
            }
        }

        fn report(&self, gauges: &mut Gauges) {
            if let Some(tokens) = self.0 {
                gauges.draw(&TOKENS, tokens);
            }
        }
    }

    #[test]
    fn a_gauge_that_appears_later_is_drawn_from_then_on() {
        let arrivals = ArrivalProcess::Closed { in_flight: 1 };
        let workload = Workload { arrivals, ops: Some(4), duration: None };
        let config = RunConfig { workload, ..RunConfig::default() };
        let parts = || [Part::Budget(Box::new(Awakened::default()))];
        let strategy = |_| Ok::<_, std::convert::Infallible>(Strategy::new(1, parts(), Rules::up_to(1)));
        let mut run = Run::new(config, strategy, None).unwrap();
        for (millis, status) in [(50, Status::Succeeded), (150, Status::Rejected), (250, Status::Rejected)] {
            let Output::Send(launched) = run.poll_output(Instant::from_millis(millis - 20)) else {
                panic!("a place is free");
            };
            let result = AttemptResult::plain(status);
            let ended = Completion { attempt: launched.attempt, sent_at: launched.due, result };
            run.handle_input(Instant::from_millis(millis), Input::AttemptEnd(ended));
        }
        let [drawn] = run.measurements().series.drawn() else { panic!("tokens are drawn") };
        let bucket = |millis: u64| drawn.values[usize::try_from(millis / 10).unwrap()].value();
        assert_eq!(run.measurements().series.width(), Duration::from_millis(10));
        assert_eq!([bucket(140), bucket(150), bucket(250)], [None, Some(4.0), Some(3.0)]);
    }

    const TOKENS: GaugeKind = GaugeKind { name: "tokens", unit: "" };
    const RATE: GaugeKind = GaugeKind { name: "rate", unit: "per s" };

    #[test]
    fn values_are_summed_over_instances_by_name_and_unit() {
        let (mut sums, mut one, mut other) = (Drawn::default(), Drawn::default(), Drawn::default());
        assert_eq!(sums.take(&mut one, false, &TOKENS, 5.0), Some(5.0));
        assert_eq!(sums.take(&mut other, false, &TOKENS, 3.0), Some(8.0));
        assert_eq!(sums.take(&mut other, false, &RATE, 100.0), Some(100.0));
        assert_eq!(sums.take(&mut one, false, &TOKENS, 4.0), Some(7.0));
        assert_eq!(sums.take(&mut one, false, &TOKENS, 4.0), None, "nothing new");
        assert_eq!(sums.values().collect::<Vec<_>>(), [(&TOKENS, 7.0), (&RATE, 100.0)]);
    }

    #[test]
    fn a_single_instance_shows_its_values_exactly() {
        let (mut sums, mut own) = (Drawn::default(), Drawn::default());
        for value in [0.1, 0.7, 0.3] {
            assert_eq!(sums.take(&mut own, true, &TOKENS, value), Some(value));
        }
    }
}
