//! Strategy instance with its queue of ready ops. There is one instance per client, or a single instance that all
//! clients share.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use tailback::{Candidate, GaugeKind, LimiterView, Strategy};
use vocabulary::Instant;

use super::Waiting;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InstanceId(pub u32);

impl Index<InstanceId> for Vec<Instance> {
    type Output = Instance;

    #[inline]
    fn index(&self, id: InstanceId) -> &Instance {
        &self[id.0 as usize]
    }
}

impl IndexMut<InstanceId> for Vec<Instance> {
    #[inline]
    fn index_mut(&mut self, id: InstanceId) -> &mut Instance {
        &mut self[id.0 as usize]
    }
}

pub(super) struct Instance {
    pub in_flight: u32,
    /// Number of attempts that this strategy instance has sent. It is also the sequence number of the next attempt.
    pub next_seq: u64,
    pub sleeping: u64,
    pub strategy: Strategy,
    pub ready: VecDeque<Waiting>,
    /// Ready ops for which an outer layer of the strategy has already begun a try. They are sent before the ops in
    /// `ready`, because they occupy capacity for which other ops wait.
    pub resumed: VecDeque<Waiting>,
    /// Instant of the next poll of this strategy instance. Polls that are scheduled for other instants are outdated and
    /// ignored.
    pub armed: Option<Instant>,
    pub window: Option<f64>,
    pub ssthresh: Option<f64>,
    pub drawn: Drawn,
}

impl Instance {
    pub(super) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            ready: VecDeque::new(),
            resumed: VecDeque::new(),
            sleeping: 0,
            in_flight: 0,
            next_seq: 0,
            armed: None,
            window: None,
            ssthresh: None,
            drawn: Drawn::default(),
        }
    }

    pub(super) fn view(&self, candidate: Candidate) -> LimiterView {
        let ready = self.ready_ops();
        LimiterView { in_flight: self.in_flight, ready, sleeping: self.sleeping, candidate }
    }

    pub(super) fn ready_ops(&self) -> u64 {
        (self.ready.len() + self.resumed.len()) as u64
    }
}

/// Gauges that strategies define and name: the latest value of each strategy instance, and sums over instances.
#[derive(Debug, Default)]
pub(super) struct Drawn(Vec<(&'static GaugeKind, f64)>);

impl Drawn {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = (&'static GaugeKind, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Stores the new value of a strategy instance's gauge in `own`, and updates the sum over all instances. Returns
    /// the sum if it changed.
    pub(super) fn take(
        &mut self,
        own: &mut Self,
        alone: bool,
        kind: &'static GaugeKind,
        value: f64,
    ) -> Option<f64> {
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

    use tailback::{
        AttemptEnd, Budget, BudgetDecision, Candidate, Gauges, Outcome, Part, Permit, Rules, Status, Strategy,
    };
    use vocabulary::{Instant, Rng};

    use super::*;
    use crate::run::{AttemptResult, Completion, Input, Output, Run};
    use crate::workload::{ArrivalProcess, RunConfig, Workload};

    /// A run may have a million instances.
    #[test]
    fn an_instance_fits_in_400_bytes() {
        assert!(size_of::<Instance>() <= 400, "{}", size_of::<Instance>());
    }

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
