//! A server that is nothing but a cap as the client meets it in virtual time: what [`SimulatedServer`](crate::simulated_server) is for
//! every other, without what such a server never does.

use loadgen_core::{AttemptKey, Input, Launched, OperationKind, Run};
use mockserver_core::{CapAnswer, CapRequest, CapServer, Config, RequestId, Step, Verdict};
use vocabulary::Instant;
use vocabulary::wire::ServerStats;

use crate::cap_inputs::CapInputs;
use crate::event_loop::Peer;

/// A plain cap without a network: request ids are the client's slots.
#[derive(Debug)]
pub(crate) struct SimulatedCap {
    /// Of every attempt: a request, or the read of a conditional write.
    step: Step,
    server: CapServer<Sent>,
    inputs: CapInputs,
    /// When there is something to do or to tell.
    next_at: Instant,
    /// An attempt that was to start at this instant, only if enough was free, and has not heard yet whether it did.
    looked: Option<(Instant, AttemptKey)>,
}

/// What the server gives back of an attempt.
#[derive(Clone, Copy, Debug)]
struct Sent {
    serial: u64,
    due: Instant,
}

impl SimulatedCap {
    /// `None` where the configuration asks for more than a plain cap.
    pub(crate) fn new(kind: OperationKind, seed: u64, config: &Config, client: &Run) -> Option<Self> {
        let server = CapServer::new(config, seed)?;
        let step = match kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let inputs = CapInputs::new(config, &server, &client.reading());
        Some(Self { step, server, inputs, next_at: Instant::FAR_FUTURE, looked: None })
    }

    /// What the server counted.
    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now)
    }

    /// The client hears of an answer, unless its attempt goes on: then it writes what it knows now.
    #[inline]
    fn hear(&mut self, answer: &CapAnswer<Sent>, tell: &mut impl FnMut(Instant, &Input)) {
        let CapAnswer { request, token, verdict, at, busy, cap, version } = *answer;
        if request.step == Step::Read && verdict == Verdict::Accepted {
            return self.write(at, request, version, token);
        }
        let attempt = AttemptKey { slot: request.id.0, serial: token.serial };
        tell(at, self.inputs.ended(verdict, attempt, token.due, (busy, cap)));
    }

    #[inline(never)]
    fn write(&mut self, at: Instant, read: CapRequest, version: u64, sent: Sent) {
        let step = Step::Write { if_match: version };
        self.server.arrive(at, CapRequest { step, ..read }, sent);
    }

    /// The server looked and started in one step, or started nothing: that answer is the first to come.
    #[inline(never)]
    fn hear_whether_started(
        &mut self,
        at: Instant,
        attempt: AttemptKey,
        tell: &mut impl FnMut(Instant, &Input),
    ) {
        let first = self.server.next_answer(at);
        if !first.is_some_and(|answer| answer.verdict == Verdict::Deferred) {
            tell(at, &Input::Started(attempt));
        }
        if let Some(answer) = first {
            self.hear(&answer, tell);
        }
    }
}

impl Peer for SimulatedCap {
    #[inline]
    fn on_send(&mut self, now: Instant, launched: Launched) {
        let Launched { attempt, op, ordinal, due, least_free, .. } = launched;
        let request = CapRequest { id: RequestId(attempt.slot), op, attempt: ordinal, step: self.step };
        let sent = Sent { serial: attempt.serial, due };
        if least_free == 0 {
            self.server.arrive(now, request, sent);
            self.next_at = self.server.next_at();
        } else {
            self.server.arrive_if_free(now, request, least_free, sent);
            self.looked = Some((now, attempt));
            self.next_at = now;
        }
    }

    fn on_cancel(&mut self, now: Instant, key: AttemptKey) {
        let id = RequestId(key.slot);
        if self.server.token(id).is_some_and(|sent| sent.serial == key.serial) {
            self.server.cancel(now, id);
            self.next_at = self.server.next_at();
        }
    }

    #[inline]
    fn next_at(&self) -> Instant {
        self.next_at
    }

    #[inline]
    fn go_on(
        &mut self,
        _now: Instant,
        mut until: Instant,
        mut tell: impl FnMut(Instant, &Input),
    ) -> Option<Instant> {
        let mut heard_at = None;
        if let Some((at, attempt)) = self.looked.take() {
            self.hear_whether_started(at, attempt, &mut tell);
            (until, heard_at) = (at, Some(at));
        }
        loop {
            self.next_at = self.server.next_at();
            if self.next_at > until {
                return heard_at;
            }
            if let Some(answer) = self.server.next_answer(until) {
                (until, heard_at) = (answer.at, Some(answer.at));
                self.hear(&answer, &mut tell);
            }
        }
    }
}
