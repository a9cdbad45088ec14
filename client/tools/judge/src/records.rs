//! Records of a situation's server: the attempts of the judged call or, if a session has many ops, of each op.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Bytes;

use crate::advice::Advice;
use crate::observation::{Attempt, BodyChange, End, MAX_ATTEMPTS, ObservedRun, OtherCall, Reply};

/// Maximum number of different calls that are listed besides the judged one.
const MAX_OTHERS: usize = 100;

/// Maximum number of bytes of first bodies that are kept.
const MAX_FIRST_BYTES: usize = 64 << 20;

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
    /// Bodies of the first attempts of the ops, as long as there is room. Later bodies are compared with them.
    first_bodies: Vec<Option<Bytes>>,
    first_bytes: usize,
    /// Requests of the judged call whose bodies are incomplete, by a number.
    arriving: BTreeMap<u64, Attempt>,
    arrived: u64,
    /// Time at which the idle timeout begins: the last request or answer, or the advised time. Counted from the start.
    pub(super) quiet_since: Duration,
    pub(super) has_requests: bool,
    /// Time at which the idle timeout of the judged call begins. Other calls do not restart it.
    pub(super) judged_quiet_since: Duration,
    /// Longest time after which the client ended an attempt by itself. It may wait as long for later ones, and some clients keep the
    /// connection of an ended attempt open while they pause.
    client_timeout: Duration,
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

    /// Restarts both idle timeouts at the beginning of a request of the judged call, and returns its number.
    pub(super) fn on_judged_arrival(&mut self, attempt: Attempt) -> u64 {
        self.on_arrival(attempt.at);
        let quiet_since = attempt.at + self.client_timeout;
        self.quiet_since = self.quiet_since.max(quiet_since);
        self.judged_quiet_since = self.judged_quiet_since.max(quiet_since);
        self.arrived += 1;
        self.arriving.insert(self.arrived, attempt);
        self.arrived
    }

    /// Records that `bytes` of a body have arrived; `arriving` is the number of a request of the judged call.
    pub(super) fn on_piece(&mut self, now: Duration, arriving: Option<u64>, bytes: usize) {
        self.on_arrival(now);
        if let Some(attempt) = arriving.and_then(|arriving| self.arriving.get_mut(&arriving)) {
            attempt.body.bytes = bytes as u64;
        }
    }

    /// Returns the request whose body has arrived, or will not arrive any more.
    pub(super) fn on_body_end(&mut self, arriving: u64) -> Option<Attempt> {
        self.arriving.remove(&arriving)
    }

    /// Returns the run of a command without any complete request of the judged call.
    pub(super) fn without_attempts(&self, end: End) -> ObservedRun {
        let call = |attempt: &Attempt| OtherCall {
            method: attempt.method.clone(),
            target: attempt.target.clone(),
            requests: 1,
            protocol: None,
        };
        let arriving = self.arriving.values().map(call);
        let others = self.others.iter().cloned().chain(arriving).take(MAX_OTHERS).collect();
        ObservedRun { others, end, ..ObservedRun::default() }
    }

    pub(super) fn on_attempt(
        &mut self,
        identity: &OpIdentity,
        mut attempt: Attempt,
        body: &Bytes,
    ) -> Recorded {
        attempt.is_after_other = std::mem::take(&mut self.has_other_since);
        let op = self.op(identity);
        attempt.body.change = self.change(op, &attempt, body);
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

    /// Compares a body with that of the op's first attempt, and keeps it if it is the first.
    fn change(&mut self, op: usize, attempt: &Attempt, body: &Bytes) -> BodyChange {
        let Some(first) = self.ops[op].attempts.first() else {
            if self.first_bodies.len() <= op {
                self.first_bodies.resize(op + 1, None);
            }
            if self.first_bytes + body.len() <= MAX_FIRST_BYTES {
                self.first_bytes += body.len();
                self.first_bodies[op] = Some(body.clone());
            }
            return BodyChange::Same;
        };
        let is_part = || {
            let known = self.first_bodies.get(op).and_then(Option::as_ref);
            body.is_empty() || known.is_some_and(|known| known.starts_with(body) || known.ends_with(body))
        };
        match () {
            () if first.body_digest == attempt.body_digest => BodyChange::Same,
            () if attempt.body.bytes < first.body.bytes && is_part() => BodyChange::Part,
            () => BodyChange::Other,
        }
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
            if reply == Reply::Open {
                self.client_timeout = self.client_timeout.max(ended.saturating_sub(attempt.at));
            }
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

    /// Makes the requests of the only op that promised more bytes than have arrived attempts without an answer.
    fn take_cut_requests(&mut self) {
        let op = OpIdentity { text: String::new(), is_stable: true };
        for mut attempt in std::mem::take(&mut self.arriving).into_values() {
            attempt.body.promised = attempt.body.promised.filter(|promised| *promised > attempt.body.bytes);
            if attempt.body.promised.is_some() {
                self.on_attempt(&op, attempt, &Bytes::new());
            }
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.ops.iter().map(|op| op.received).sum()
    }

    /// Removes all ops and returns them as runs with this end. A command that sent nothing is a run without attempts.
    pub(super) fn take(&mut self, end: End) -> Vec<ObservedRun> {
        // In a session with many ops, an incomplete request may belong to any of them.
        if end != End::Session {
            self.take_cut_requests();
        }
        self.generation += 1;
        self.current.clear();
        self.kept = 0;
        self.first_bodies.clear();
        self.first_bytes = 0;
        let others = std::mem::take(&mut self.others);
        let run = |op| ObservedRun { others: others.clone(), end, ..op };
        std::mem::take(&mut self.ops).into_iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::SentBody;

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
                let recorded = records.on_attempt(&identity("a", is_stable), attempt(1), &Bytes::new());
                records.on_answer(recorded, Duration::from_millis(2), SERVED);
            }
            let runs = records.take(End::Exited);
            assert_eq!(runs.iter().map(|run| run.received).collect::<Vec<_>>(), ops);
        }
    }

    #[test]
    fn bodies_are_compared_with_the_first_one_of_their_op() {
        let mut records = Records::new(true);
        for (number, text) in (1..).zip(["thing", "thing", "th", "ing", "", "think"]) {
            let (bytes, body_digest) = (text.len() as u64, number * u64::from(text != "thing"));
            let body = SentBody { bytes, ..SentBody::default() };
            let attempt = Attempt { body_digest, body, ..attempt(number) };
            records.on_attempt(&identity("a", true), attempt, &Bytes::from_static(text.as_bytes()));
        }
        let changes: Vec<BodyChange> =
            records.take(End::Exited)[0].attempts.iter().map(|attempt| attempt.body.change).collect();
        let [same, part] = [BodyChange::Same, BodyChange::Part];
        assert_eq!(changes, [same, same, part, part, part, BodyChange::Other]);
    }

    #[test]
    fn a_client_with_a_timeout_may_wait_as_long_for_its_next_attempt() {
        let mut records = Records::new(true);
        let first = records.on_attempt(&identity("", true), attempt(0), &Bytes::new());
        records.on_answer(first, Duration::from_secs(4), Reply::Open);
        records.on_judged_arrival(attempt(5000));
        assert_eq!(records.quiet_since, Duration::from_secs(9));
    }

    #[test]
    fn an_incomplete_request_of_the_only_op_is_an_attempt() {
        let mut records = Records::new(true);
        let body = SentBody { promised: Some(9), ..SentBody::default() };
        let number = records.on_judged_arrival(Attempt { body, ..attempt(1) });
        records.on_piece(Duration::from_millis(2), Some(number), 4);
        let [run] = records.take(End::Idle).try_into().unwrap();
        assert_eq!((run.attempts[0].body.bytes, run.attempts[0].body.promised), (4, Some(9)));
    }

    #[test]
    fn an_answer_to_a_taken_op_changes_nothing() {
        let mut records = Records::new(true);
        let early = records.on_attempt(&identity("a", true), attempt(1), &Bytes::new());
        assert_eq!(records.take(End::Exited).len(), 1);
        records.on_attempt(&identity("a", true), attempt(2), &Bytes::new());
        records.on_answer(early, Duration::from_millis(3), SERVED);
        assert_eq!(records.take(End::Exited)[0].attempts[0].reply, Reply::Open);
    }

    #[test]
    fn more_attempts_than_fit_are_only_counted() {
        let mut records = Records::new(true);
        for op in 0..3 {
            for _ in 0..=MAX_ATTEMPTS {
                records.on_attempt(&identity(&op.to_string(), true), attempt(1), &Bytes::new());
            }
        }
        assert_eq!((records.received(), records.uncounted), (153, 3));
        assert!(records.take(End::TooManyAttempts).iter().all(|run| run.attempts.len() == MAX_ATTEMPTS));
    }
}
