//! `oracle`: a schedule computed from the server's configuration, first come, first served.
//!
//! Each op is sent so that it reaches the server at the instant at which a slot becomes free. Real clients cannot know
//! the server's configuration, so the oracle is only a reference for comparisons. Its schedule is not always optimal:
//! another order of the ops may finish sooner.

use std::collections::VecDeque;

use crate::error::SpecError;
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::{Admit, Candidate, Gauges, Instant, Limiter, LimiterView, OracleSchedule, Until};
use vocabulary::parameters;

/// Name of the oracle in strategy texts. A strategy with the oracle can be built only if the caller provides a schedule
/// computed from the server's configuration.
pub const ORACLE: &str = "oracle";

parameters! {
    pub(crate) struct OracleConfig = ORACLE {}
    summary = "schedule computed from the server's configuration; only a reference";
    rule = "ops are sent in the order of their arrival, each so that it reaches the server just when a slot \
        becomes free (over HTTP, 2 ms later). No op is sent before it has arrived, nor before the op ahead \
        of it is sent. An op that fails nevertheless gets the next unused slot of the schedule. If service \
        times are random, another order may finish sooner, so this is not the lower bound on the makespan \
        that `loadgen` prints";
    source = "optimum of the scenario sync-musings (20 s); the schedule is optimal if all service times are \
        equal";
}

impl PartConfig for OracleConfig {
    const KIND: PartKind = PartKind::Limiter;

    fn build(self, context: &mut Context) -> Result<Part, SpecError> {
        let schedule = context.oracle_schedule.take().ok_or(SpecError::NoForeknowledge)?;
        Ok(Part::Limiter(Box::new(Oracle { schedule, planned: VecDeque::new() })))
    }
}

struct Oracle {
    schedule: OracleSchedule,
    /// Ready ops with their planned send times, in the order in which the ops became ready.
    planned: VecDeque<(u64, Instant)>,
}

impl Limiter for Oracle {
    fn poll(&self, now: Instant, view: &LimiterView) -> Admit {
        match self.planned.iter().find(|(planned, _)| *planned == view.candidate.op) {
            Some((_, at)) if *at > now => Admit::Wait(Until::At(*at)),
            _ => Admit::Go,
        }
    }

    fn on_ready(&mut self, now: Instant, candidate: &Candidate) {
        // An op that was sent as planned can still fail, for example because the server's cap was changed or the clock
        // slipped. Its retry is planned again and does not start at once. An immediate retry would take a slot that is
        // planned for another op. That op would then be rejected, and so on.
        let from = if candidate.last.is_none() { candidate.arrived } else { now };
        self.planned.push_back((candidate.op, self.schedule.send_at(candidate.op, from)));
    }

    fn on_sent(&mut self, _now: Instant, view: &LimiterView) {
        // Ops that were planned before the sent op are removed, too. They were given up before they could be sent.
        // The position is 0, unless ops that were planned before this op were given up.
        let op = view.candidate.op;
        if let Some(position) = self.planned.iter().position(|(planned, _)| *planned == op) {
            self.planned.drain(..=position);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.phase = Some("following the schedule");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use crate::testing::launch;

    fn every_tenth() -> OracleSchedule {
        let mut scheduled = 0;
        OracleSchedule::new(move |_op, from| {
            let send_at = from.max(Instant::from_millis(100 * scheduled));
            scheduled += 1;
            send_at
        })
    }

    fn oracle(ops: u64) -> Oracle {
        let mut oracle = Oracle { schedule: every_tenth(), planned: VecDeque::new() };
        for op in 0..ops {
            oracle.on_ready(Instant::ORIGIN, &launch(op, None));
        }
        oracle
    }

    fn view(op: u64, last: Option<Status>) -> LimiterView {
        LimiterView { in_flight: 0, ready: 1, sleeping: 0, candidate: launch(op, last) }
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
    fn a_retry_gets_the_next_slot_that_is_left() {
        let mut oracle = oracle(3);
        oracle.on_sent(Instant::ORIGIN, &view(0, None));
        let (now, retry) = (Instant::from_millis(60), view(0, Some(Status::Rejected)));
        oracle.on_ready(now, &retry.candidate);
        let left = Instant::from_millis(300);
        assert_eq!(oracle.poll(now, &retry), Admit::Wait(Until::At(left)));
        for op in [1, 2] {
            assert_eq!(oracle.poll(Instant::from_millis(100 * op), &view(op, None)), Admit::Go);
            oracle.on_sent(Instant::from_millis(100 * op), &view(op, None));
        }
        assert_eq!(oracle.poll(left, &retry), Admit::Go);
        oracle.on_sent(left, &retry);
        assert!(oracle.planned.is_empty());
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
