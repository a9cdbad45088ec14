//! The server core as the client meets it in virtual time: attempts become its requests, its answers what the client hears.

use loadgen_core::{AttemptKey, Cause, Completion, Input, Launched, OperationKind, ServerSeen};
use mockserver_core::{Answer, Config, Output, Request, RequestId, Server, Step, Verdict};
use tailback::{Advice, Outcome, Status};
use vocabulary::Instant;
use vocabulary::wire::ServerStats;

use crate::event_loop::{Peer, PeerOutput};

/// A server without a network: request ids are the client's slots.
#[derive(Debug)]
pub(crate) struct SimulatedServer {
    seed: u64,
    kind: OperationKind,
    server: Server,
    /// What has not come to an end, by slot.
    under_way: Vec<Option<UnderWay>>,
    /// An attempt that was to start only if enough was free, and has not heard yet whether it did.
    looked: Option<AttemptKey>,
    /// What came while the client heard that it had started.
    first_answer: Option<Answer>,
}

/// An attempt between sending and its end.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    launched: Launched,
    step: Step,
}

impl SimulatedServer {
    pub(crate) fn new(kind: OperationKind, seed: u64, server: Config) -> Self {
        let server = Server::new(server);
        Self { seed, kind, server, under_way: Vec::new(), looked: None, first_answer: None }
    }

    /// What the server counted.
    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now, None)
    }

    fn ask(&mut self, now: Instant, launched: &Launched, step: Step) {
        let request = Request {
            id: RequestId(launched.attempt.slot),
            run: None,
            seed: self.seed,
            op: launched.op,
            attempt: launched.ordinal,
            step,
        };
        // A conditional write is the second half of an attempt that has started.
        let input = match launched.least_free {
            least if least > 0 && !matches!(step, Step::Write { .. }) => {
                mockserver_core::Input::ArriveIfFree { request, least }
            }
            _ => mockserver_core::Input::Arrive(request),
        };
        self.server.handle(now, input);
    }

    /// The server looked and started in one step, or started nothing: that answer is the first to come.
    fn hear_whether_started(&mut self, now: Instant, attempt: AttemptKey) -> Option<Input> {
        let Output::Answer(answer) = self.server.poll(now) else { return Some(Input::Started(attempt)) };
        if answer.verdict == Verdict::Deferred {
            return self.heard(now, &answer);
        }
        self.first_answer = Some(answer);
        Some(Input::Started(attempt))
    }

    /// What the client hears of an answer; nothing when its attempt goes on, or nobody waits for it.
    fn heard(&mut self, now: Instant, answer: &Answer) -> Option<Input> {
        let slot = answer.id.0 as usize;
        let under_way = self.under_way[slot].as_mut()?;
        let launched = under_way.launched;
        if under_way.step == Step::Read && answer.verdict == Verdict::Accepted {
            let step = Step::Write { if_match: answer.version };
            under_way.step = step;
            self.ask(now, &launched, step);
            return None;
        }
        self.under_way[slot] = None;
        let (outcome, cause) = meaning(answer, self.server.config());
        Some(Input::Ended(Completion {
            attempt: launched.attempt,
            sent_at: launched.due,
            outcome,
            // Who was not started learns nothing of the server.
            server: (outcome.status != Status::Deferred).then_some(ServerSeen {
                busy: answer.busy,
                cap: answer.cap,
                took: None,
            }),
            cause,
            by_gateway: false,
        }))
    }
}

impl Peer for SimulatedServer {
    fn on_send(&mut self, now: Instant, launched: Launched) {
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let slot = launched.attempt.slot as usize;
        if self.under_way.len() <= slot {
            self.under_way.resize(slot + 1, None);
        }
        self.under_way[slot] = Some(UnderWay { launched, step });
        self.ask(now, &launched, step);
        if launched.least_free > 0 {
            self.looked = Some(launched.attempt);
        }
    }

    fn on_cancel(&mut self, now: Instant, key: AttemptKey) {
        let slot = key.slot as usize;
        if self.under_way[slot].is_some_and(|held| held.launched.attempt == key) {
            self.under_way[slot] = None;
            self.server.handle(now, mockserver_core::Input::Cancel(RequestId(key.slot)));
        }
    }

    fn poll(&mut self, now: Instant) -> PeerOutput {
        if let Some(attempt) = self.looked.take()
            && let Some(input) = self.hear_whether_started(now, attempt)
        {
            return PeerOutput::Input(input);
        }
        loop {
            let answer = match self.first_answer.take() {
                Some(answer) => answer,
                None => match self.server.poll(now) {
                    Output::Answer(answer) => answer,
                    Output::WaitUntil(at) => return PeerOutput::WaitUntil(at),
                    Output::Idle => return PeerOutput::Idle,
                },
            };
            if let Some(input) = self.heard(now, &answer) {
                return PeerOutput::Input(input);
            }
        }
    }
}

/// What an answer means to the client, and what it comes to on the wire.
pub(crate) fn meaning(answer: &Answer, config: &Config) -> (Outcome, Option<Cause>) {
    let (status, code) = match answer.verdict {
        Verdict::Accepted => (Status::Succeeded, Some(200)),
        Verdict::Rejected => (Status::Rejected, Some(config.reject_status)),
        Verdict::Conflict => (Status::Rejected, Some(412)),
        // There was no answer to an attempt: there was none.
        Verdict::Deferred => (Status::Deferred, None),
    };
    let advice = answer.advice.map_or(Advice::None, Advice::After);
    (Outcome { status, advice }, code.map(Cause::Status))
}
