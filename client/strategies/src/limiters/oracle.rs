//! `oracle`: sends each op so that it reaches the server just when a slot frees. The yardstick, never an answer.

use std::collections::VecDeque;

use crate::parameter::Parameter;
use crate::registry::{Context, Part, PartConfig, PartKind};
use crate::spec::SpecError;
use crate::{Admit, Foreknowledge, Gauges, Instant, Launch, Limiter, Until, View};

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
    /// When to send the ready ops, in the order in which they became ready: the order in which they are asked for.
    planned: VecDeque<(u64, Instant)>,
}

impl Limiter for Oracle {
    fn poll(&self, now: Instant, view: &View) -> Admit {
        match self.planned.iter().find(|(op, _)| *op == view.candidate.op) {
            Some((_, send_at)) if *send_at > now => Admit::Wait(Until::At(*send_at)),
            _ => Admit::Go,
        }
    }

    fn on_ready(&mut self, now: Instant, candidate: &Launch) {
        // A plan that did not work out (the cap was changed, or the clock slipped) is not made anew: go at once.
        let send_at = match candidate.attempt {
            1 => self.foreknowledge.plan(candidate.op, candidate.arrived).send_at,
            _ => now,
        };
        self.planned.push_back((candidate.op, send_at));
    }

    fn on_sent(&mut self, _now: Instant, view: &View) {
        let position = self.planned.iter().position(|(op, _)| *op == view.candidate.op);
        if let Some(position) = position {
            self.planned.drain(..=position);
        }
    }

    fn report(&self, gauges: &mut Gauges) {
        gauges.phase = Some("following the plan");
    }
}
