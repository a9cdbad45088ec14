//! `oracle`: sends each op so that it reaches the server just when a slot frees. The yardstick, never an answer.

use std::collections::VecDeque;

use crate::error::SpecError;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::{Admit, Foreknowledge, Gauges, Instant, Launch, Limiter, Until, View};
use vocabulary::Parameter;

/// The oracle's name, by which a spec is known to need foreknowledge.
pub(crate) const ORACLE: &str = "oracle";

/// The oracle has no parameters: it is told everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct OracleConfig;

impl PartConfig for OracleConfig {
    const NAME: &'static str = ORACLE;
    const KIND: PartKind = PartKind::Limiter;
    const SUMMARY: &'static str = "knows cap, times and delays: the yardstick, never an answer";
    const RULE: &'static str = "send op i at max(arrival, the instant that makes it reach the server just when a slot frees, \
                                plus a margin of 0 in virtual time and 2 ms over HTTP)";
    const SOURCE: &'static str = "the optimum that seed 000 compares with (20 s)";
    const PARAMETERS: &'static [Parameter<Self>] = &[];

    fn build(self, context: &mut Context) -> Result<Part, SpecError> {
        let foreknowledge = context.foreknowledge.take().ok_or(SpecError::NoForeknowledge)?;
        Ok(Part::Limiter(Box::new(Oracle { foreknowledge, planned: VecDeque::new() })))
    }
}

struct Oracle {
    foreknowledge: Box<dyn Foreknowledge>,
    /// When to send the ops that were not tried yet, in order of arrival, which is the order of their numbers.
    planned: VecDeque<(u64, Instant)>,
}

impl Oracle {
    /// Where an op's plan is: in front, unless ops before it were given up or clients share the oracle.
    fn position(&self, op: u64) -> Result<usize, usize> {
        match self.planned.front() {
            Some((first, _)) if *first == op => Ok(0),
            _ => self.planned.binary_search_by_key(&op, |(planned, _)| *planned),
        }
    }
}

impl Limiter for Oracle {
    fn poll(&self, now: Instant, view: &View) -> Admit {
        // A plan that did not work out (the cap was changed, or the clock slipped) is not made anew: go at once.
        if view.candidate.last.is_some() {
            return Admit::Go;
        }
        match self.position(view.candidate.op) {
            Ok(position) if self.planned[position].1 > now => {
                Admit::Wait(Until::At(self.planned[position].1))
            }
            _ => Admit::Go,
        }
    }

    fn on_ready(&mut self, _now: Instant, candidate: &Launch) {
        if candidate.last.is_some() {
            return;
        }
        if let Err(position) = self.position(candidate.op) {
            let plan = self.foreknowledge.plan(candidate.op, candidate.arrived);
            self.planned.insert(position, (candidate.op, plan.send_at));
        }
    }

    fn on_sent(&mut self, _now: Instant, view: &View) {
        // What was passed over was given up before it could be sent.
        if view.candidate.last.is_none()
            && let Ok(position) = self.position(view.candidate.op)
        {
            self.planned.drain(..=position);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.phase = Some("following the plan");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::launch;
    use crate::{Plan, Status};

    /// One op each 100 ms, counted from the origin.
    struct EveryTenth {
        plans: u64,
    }

    impl Foreknowledge for EveryTenth {
        fn plan(&mut self, op: u64, arrived: Instant) -> Plan {
            assert_eq!(op, self.plans, "asked once for each, in order");
            self.plans += 1;
            let send_at = arrived.max(Instant::from_millis(100 * op));
            Plan { send_at, finish: Instant::FAR_FUTURE }
        }
    }

    fn oracle(ops: u64) -> Oracle {
        let mut oracle =
            Oracle { foreknowledge: Box::new(EveryTenth { plans: 0 }), planned: VecDeque::new() };
        for op in 0..ops {
            oracle.on_ready(Instant::ORIGIN, &launch(op, None));
        }
        oracle
    }

    fn view(op: u64, last: Option<Status>) -> View {
        View { in_flight: 0, ready: 1, sleeping: 0, candidate: launch(op, last), sensed: None }
    }

    #[test]
    fn each_op_waits_for_its_own_instant() {
        let mut oracle = oracle(3);
        for op in 0..3 {
            let due = Instant::from_millis(100 * op);
            if op > 0 {
                let early = Instant::from_millis(100 * op - 1);
                assert_eq!(oracle.poll(early, &view(op, None)), Admit::Wait(Until::At(due)));
            }
            assert_eq!(oracle.poll(due, &view(op, None)), Admit::Go);
            oracle.on_sent(due, &view(op, None));
        }
        assert!(oracle.planned.is_empty());
    }

    #[test]
    fn retries_go_at_once_and_are_not_planned_again() {
        let mut oracle = oracle(3);
        let retry = view(0, Some(Status::Rejected));
        oracle.on_sent(Instant::ORIGIN, &view(0, None));
        oracle.on_ready(Instant::ORIGIN, &retry.candidate);
        assert_eq!(oracle.poll(Instant::ORIGIN, &retry), Admit::Go);
        oracle.on_sent(Instant::ORIGIN, &retry);
        assert_eq!(oracle.planned.len(), 2);
    }

    #[test]
    fn ops_that_are_given_up_unsent_leave_nothing_behind() {
        let mut oracle = oracle(10);
        assert_eq!(
            oracle.poll(Instant::ORIGIN, &view(7, None)),
            Admit::Wait(Until::At(Instant::from_millis(700)))
        );
        oracle.on_sent(Instant::from_millis(700), &view(7, None));
        assert_eq!(oracle.planned.len(), 2);
    }
}
