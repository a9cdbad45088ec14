//! A server that is nothing but a cap as the client meets it in virtual time: what [`SimulatedServer`](crate::simulated_server) is for
//! every other, without what such a server never does.

use loadgen_core::{AttemptKey, Completion, Input, Launched, OperationKind, Run, ServerSeen};
use mockserver_core::{Answer, CapAnswer, CapServer, Config, Request, RequestId, Step, Verdict};
use vocabulary::Instant;
use vocabulary::wire::ServerStats;

use crate::event_loop::Peer;
use crate::heard::Heard;

/// A plain cap without a network: request ids are the client's slots.
#[derive(Debug)]
pub(crate) struct SimulatedCap {
    seed: u64,
    kind: OperationKind,
    server: CapServer<Sent>,
    /// What the client hears, but for what is busy: of an answer with each verdict it is always the same.
    heard: HeardByVerdict,
    /// An attempt that was to start at this instant, only if enough was free, and has not heard yet whether it did.
    looked: Option<(Instant, AttemptKey)>,
}

/// What the server gives back of an attempt.
#[derive(Clone, Copy, Debug)]
struct Sent {
    serial: u64,
    due: Instant,
    op: u64,
    ordinal: u32,
}

#[derive(Debug)]
struct HeardByVerdict {
    accepted: Heard,
    rejected: Heard,
    conflict: Heard,
    deferred: Heard,
}

impl SimulatedCap {
    /// `None` where the configuration asks for more than a plain cap.
    pub(crate) fn new(kind: OperationKind, seed: u64, config: &Config, client: &Run) -> Option<Self> {
        let server = CapServer::new(config)?;
        let reading = client.reading();
        let heard = |verdict| {
            let answer = Answer {
                id: RequestId(0),
                verdict,
                advice: server.advice(verdict),
                at: Instant::ORIGIN,
                busy: 0,
                cap: None,
                reply: None,
                version: 0,
                extras: None,
            };
            Heard::plain(&answer, config, &reading)
        };
        let heard = HeardByVerdict {
            accepted: heard(Verdict::Accepted),
            rejected: heard(Verdict::Rejected),
            conflict: heard(Verdict::Conflict),
            deferred: heard(Verdict::Deferred),
        };
        Some(Self { seed, kind, server, heard, looked: None })
    }

    /// What the server counted.
    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now)
    }

    /// The client hears of an answer, unless its attempt goes on: then it writes what it knows now.
    #[inline]
    fn hear(&mut self, answer: &CapAnswer<Sent>, tell: &mut impl FnMut(Instant, Input)) {
        let CapAnswer { id, token, step, verdict, at, busy, cap, version } = *answer;
        if step == Step::Read && verdict == Verdict::Accepted {
            let Sent { op, ordinal, .. } = token;
            let step = Step::Write { if_match: version };
            let request = Request { id, run: None, seed: self.seed, op, attempt: ordinal, step };
            return self.server.arrive(at, &request, token);
        }
        let heard = match verdict {
            Verdict::Accepted => &self.heard.accepted,
            Verdict::Conflict => &self.heard.conflict,
            Verdict::Deferred => &self.heard.deferred,
            Verdict::Rejected | Verdict::Failed => &self.heard.rejected,
        };
        tell(
            at,
            Input::Ended(Completion {
                attempt: AttemptKey { slot: id.0, serial: token.serial },
                sent_at: token.due,
                outcome: heard.outcome,
                server: heard.server.map(|seen| ServerSeen { busy, cap: Some(cap), ..seen }),
                told: heard.told,
                cause: heard.cause,
                by_gateway: false,
            }),
        );
    }
}

impl Peer for SimulatedCap {
    #[inline]
    fn on_send(&mut self, now: Instant, launched: Launched) {
        let Launched { attempt, op, ordinal, due, least_free, .. } = launched;
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let id = RequestId(attempt.slot);
        let request = Request { id, run: None, seed: self.seed, op, attempt: ordinal, step };
        let sent = Sent { serial: attempt.serial, due, op, ordinal };
        if least_free == 0 {
            self.server.arrive(now, &request, sent);
        } else {
            self.server.arrive_if_free(now, &request, least_free, sent);
            self.looked = Some((now, attempt));
        }
    }

    fn on_cancel(&mut self, now: Instant, key: AttemptKey) {
        let id = RequestId(key.slot);
        if self.server.token(id).is_some_and(|sent| sent.serial == key.serial) {
            self.server.cancel(now, id);
        }
    }

    #[inline]
    fn next_at(&self) -> Instant {
        let next = self.server.next_at();
        self.looked.map_or(next, |(looked, _)| looked)
    }

    #[inline]
    fn go_on(
        &mut self,
        _now: Instant,
        until: Instant,
        mut tell: impl FnMut(Instant, Input),
    ) -> Option<Instant> {
        // The server looked and started in one step, or started nothing: that answer is the first to come.
        if let Some((at, attempt)) = self.looked.take() {
            let first = self.server.next_answer(at);
            if !first.is_some_and(|answer| answer.verdict == Verdict::Deferred) {
                tell(at, Input::Started(attempt));
            }
            if let Some(answer) = first {
                self.hear(&answer, &mut tell);
            }
            self.hear_until(at, &mut tell);
            return Some(at);
        }
        let first = self.server.next_answer(until)?;
        self.hear(&first, &mut tell);
        self.hear_until(first.at, &mut tell);
        Some(first.at)
    }
}

impl SimulatedCap {
    /// The client hears of everything that is due by then.
    #[inline]
    fn hear_until(&mut self, at: Instant, tell: &mut impl FnMut(Instant, Input)) {
        while self.server.next_at() <= at {
            let Some(answer) = self.server.next_answer(at) else { return };
            self.hear(&answer, tell);
        }
    }
}
