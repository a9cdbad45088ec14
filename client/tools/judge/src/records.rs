//! Records of a situation's server: the attempts of the judged call or, if a session has many ops, of each op.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::advice::Advice;
use crate::observation::{Attempt, End, MAX_ATTEMPTS, ObservedRun, OtherCall, Reply};

/// Maximum number of different calls that are listed besides the judged one.
const MAX_OTHERS: usize = 100;

/// Maximum number of attempts that a session keeps for each situation. Further attempts are only counted.
pub(super) const MAX_KEPT: usize = 100_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    ops: Vec<ObservedRun>,
    current: BTreeMap<String, usize>,
    /// Number of attempts that are kept, over all ops.
    kept: usize,
    /// Number of attempts that were not kept, because [`MAX_KEPT`] was reached.
    pub(super) uncounted: u64,
    pub(super) others: Vec<OtherCall>,
    /// Requests of the judged call whose bodies are incomplete.
    receiving: Vec<OtherCall>,
    /// Time at which the idle timeout begins: the last request or answer, or the advised time. Counted from the start.
    pub(super) quiet_since: Duration,
    pub(super) has_requests: bool,
    /// Time at which the idle timeout of the judged call begins. Other calls do not restart it.
    pub(super) judged_quiet_since: Duration,
    has_other_since: bool,
    waits_for_advice: bool,
    /// Number of times that the ops were taken. An answer to an earlier op is not recorded any more.
    generation: u32,
}

/// Attempt in the records. Ops and attempts are counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded {
    generation: u32,
    pub(super) op: usize,
    pub(super) attempt: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpIdentity {
    pub(super) text: String,
    /// Whether the identity is an id that clients keep over the attempts of an op. Without one, a success ends the op.
    pub(super) is_stable: bool,
}

impl Records {
    pub(super) fn new(waits_for_advice: bool) -> Self {
        Self { waits_for_advice, ..Self::default() }
    }

    /// Restarts the idle timeout. The body of the request may still be on its way.
    pub(super) fn on_arrival(&mut self, at: Duration) {
        self.has_requests = true;
        self.quiet_since = self.quiet_since.max(at);
    }

    /// Restarts both idle timeouts at the beginning of a request of the judged call.
    pub(super) fn on_judged_arrival(&mut self, at: Duration, call: &OtherCall) {
        self.on_arrival(at);
        self.judged_quiet_since = self.judged_quiet_since.max(at);
        // Requests whose client disconnected stay in the list.
        if self.receiving.len() < MAX_OTHERS {
            self.receiving.push(call.clone());
        }
    }

    pub(super) fn on_body_end(&mut self, call: &OtherCall) {
        if let Some(index) = self.receiving.iter().position(|receiving| receiving == call) {
            self.receiving.swap_remove(index);
        }
    }

    /// Returns the run of a command without any complete request of the judged call.
    pub(super) fn without_attempts(&self, end: End) -> ObservedRun {
        let others = self.others.iter().chain(&self.receiving).cloned().collect();
        ObservedRun { others, end, ..ObservedRun::default() }
    }

    pub(super) fn on_attempt(&mut self, identity: &OpIdentity, mut attempt: Attempt) -> Recorded {
        attempt.is_after_other = std::mem::take(&mut self.has_other_since);
        let op = self.op(identity);
        let record = &mut self.ops[op];
        let number = usize::try_from(record.received).unwrap_or(usize::MAX);
        record.received += 1;
        if record.attempts.len() < MAX_ATTEMPTS && self.kept < MAX_KEPT {
            self.kept += 1;
            record.attempts.push(attempt);
        } else {
            self.uncounted += 1;
        }
        Recorded { generation: self.generation, op, attempt: number }
    }

    fn op(&mut self, identity: &OpIdentity) -> usize {
        match self.current.get(&identity.text) {
            Some(op) if identity.is_stable || !self.ops[*op].has_succeeded() => *op,
            // Without room for another op, the first one counts the attempt.
            _ if self.ops.len() >= MAX_KEPT => 0,
            _ => {
                self.ops.push(ObservedRun::default());
                self.current.insert(identity.text.clone(), self.ops.len() - 1);
                self.ops.len() - 1
            }
        }
    }

    pub(super) fn on_answer(&mut self, recorded: Recorded, ended: Duration, reply: Reply) {
        let advised = match reply {
            Reply::Status { advice, .. } if self.waits_for_advice => advice.and_then(Advice::wait),
            _ => None,
        };
        let quiet_since = ended + advised.unwrap_or_default();
        self.quiet_since = self.quiet_since.max(quiet_since);
        self.judged_quiet_since = self.judged_quiet_since.max(quiet_since);
        if recorded.generation != self.generation {
            return;
        }
        let op = self.ops.get_mut(recorded.op);
        if let Some(attempt) = op.and_then(|op| op.attempts.get_mut(recorded.attempt)) {
            attempt.ended = Some(ended);
            attempt.reply = reply;
        }
    }

    pub(super) fn on_other(&mut self, now: Duration, call: &OtherCall) {
        self.on_arrival(now);
        self.has_other_since = true;
        let is_same = |other: &&mut OtherCall| other.method == call.method && other.target == call.target;
        if let Some(other) = self.others.iter_mut().find(is_same) {
            other.requests += 1;
        } else if self.others.len() < MAX_OTHERS {
            self.others.push(call.clone());
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.ops.iter().map(|op| op.received).sum()
    }

    /// Removes all ops and returns them as runs with this end. A command that sent nothing is a run without attempts.
    pub(super) fn take(&mut self, end: End) -> Vec<ObservedRun> {
        self.generation += 1;
        self.current.clear();
        self.kept = 0;
        let others = std::mem::take(&mut self.others);
        let run = |op| ObservedRun { others: others.clone(), end, ..op };
        std::mem::take(&mut self.ops).into_iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(at_ms: u64) -> Attempt {
        Attempt {
            method: "GET".to_owned(),
            target: "/".to_owned(),
            at: Duration::from_millis(at_ms),
            ..Attempt::default()
        }
    }

    fn identity(text: &str, is_stable: bool) -> OpIdentity {
        OpIdentity { text: text.to_owned(), is_stable }
    }

    const SERVED: Reply = Reply::Status { code: 200, advice: None };

    #[test]
    fn a_success_ends_an_op_unless_its_id_is_stable() {
        for (is_stable, ops) in [(true, vec![2]), (false, vec![1, 1])] {
            let mut records = Records::new(true);
            for _ in 0..2 {
                let recorded = records.on_attempt(&identity("a", is_stable), attempt(1));
                records.on_answer(recorded, Duration::from_millis(2), SERVED);
            }
            let runs = records.take(End::Exited);
            assert_eq!(runs.iter().map(|run| run.received).collect::<Vec<_>>(), ops);
        }
    }

    #[test]
    fn an_answer_to_a_taken_op_changes_nothing() {
        let mut records = Records::new(true);
        let early = records.on_attempt(&identity("a", true), attempt(1));
        assert_eq!(records.take(End::Exited).len(), 1);
        records.on_attempt(&identity("a", true), attempt(2));
        records.on_answer(early, Duration::from_millis(3), SERVED);
        assert_eq!(records.take(End::Exited)[0].attempts[0].reply, Reply::Open);
    }

    #[test]
    fn more_attempts_than_fit_are_only_counted() {
        let mut records = Records::new(true);
        for op in 0..3 {
            for _ in 0..=MAX_ATTEMPTS {
                records.on_attempt(&identity(&op.to_string(), true), attempt(1));
            }
        }
        assert_eq!((records.received(), records.uncounted), (153, 3));
        assert!(records.take(End::TooManyAttempts).iter().all(|run| run.attempts.len() == MAX_ATTEMPTS));
    }
}
