//! Simulated server, which connects the server core to the client in virtual time. It turns the client's attempts into requests, and the
//! server's responses into ends of attempts.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadgen_core::{AttemptKey, AttemptResult, Input, OperationKind, Run, SentAttempt};
use mockserver_core::{Answer, AnswerSet, Config, Fault, Request, RequestId, Server, ServerDecision, Step};
use tailback::ResponseParser;
use vocabulary::{Instant, WallTime};
use wire::ServerStats;

use crate::event_loop::Peer;
use crate::request_details::RequestDetails;
use crate::simulated_response::{PlainResults, ResponseForm, StepClassifiers};

/// Serial number of no attempt.
const NONE: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct SimulatedServer {
    seed: u64,
    kind: OperationKind,
    server: Server,
    details: Option<RequestDetails>,
    answers: Option<AnswerSet>,
    understanding: StepClassifiers,
    reading: Arc<ResponseParser>,
    plain: PlainResults,
    /// Serial numbers of the unfinished attempts, by slot; [`NONE`] if no attempt with this slot is unfinished. The slot of an attempt is
    /// also the id of its requests.
    serials: Vec<u64>,
    /// Attempt with carrier sense that was sent at the current instant. It is set as long as the client does not know whether the attempt
    /// was started or deferred.
    sensed: Option<(Instant, AttemptKey)>,
    /// Responses with slow bodies, ordered by the instant at which they are complete and by the attempt's serial number.
    dripping: BTreeMap<(Instant, u64), (Request, Answer)>,
}

impl SimulatedServer {
    pub(crate) fn new(kind: OperationKind, seed: u64, server: Config, client: &Run, method: &str) -> Self {
        let understanding = StepClassifiers::new(client.rejected_when(), &server);
        // Reading the templates cannot fail, because invalid templates were rejected earlier.
        let answers = server.answer_set().ok().flatten();
        let server = Server::new(server);
        let details = RequestDetails::new(client.requests().clone(), seed, method, server.wants());
        let reading = client.reading();
        let form = response_form(&server, answers.as_ref(), &understanding, &reading);
        Self {
            plain: PlainResults::new(&form),
            seed,
            kind,
            server,
            details,
            answers,
            understanding,
            reading,
            serials: Vec::new(),
            sensed: None,
            dripping: BTreeMap::new(),
        }
    }

    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now, None)
    }

    #[inline]
    fn ask(&mut self, now: Instant, launched: &SentAttempt, step: Step) {
        let id = RequestId(launched.attempt.slot);
        let request =
            Request { id, run: None, seed: self.seed, op: launched.op, attempt: launched.ordinal, step };
        let details = self.details.as_mut().map(|details| details.of(launched, step));
        self.server.receive(now, &request, launched.min_free, details);
    }

    /// Reports to the client that an attempt with carrier sense was started, unless the server deferred it. The server checks for free
    /// slots and starts the attempt in one step, so a deferral is always its first response.
    fn report_start(&mut self, at: Instant, attempt: AttemptKey, run: &mut Run) {
        let id = self.server.next_answer(at);
        if id.is_none_or(|id| self.server.answered(id).1.verdict != ServerDecision::Deferred) {
            run.handle_input(at, Input::Started(attempt));
        }
        if let Some(id) = id {
            self.take_other(id, run);
        }
    }

    /// Handles the next response that is due by `until`, and returns its instant.
    #[inline]
    fn take_next(&mut self, until: Instant, run: &mut Run) -> Option<Instant> {
        let id = self.server.next_answer(until)?;
        let (request, answer) = self.server.answered(id);
        let at = answer.at;
        if let Some(result) = self.plain.of(request, answer) {
            let serial = std::mem::replace(&mut self.serials[id.0 as usize], NONE);
            if serial != NONE {
                run.on_attempt_end(at, AttemptKey { slot: id.0, serial }, None, result);
            }
        } else {
            self.take_other(id, run);
        }
        Some(at)
    }

    /// Handles the start of a response, unless the attempt was withdrawn. If the response body is slow, the attempt ends later.
    #[inline(never)]
    fn take_other(&mut self, id: RequestId, run: &mut Run) {
        let (request, answer) = self.server.answered(id);
        let (at, serial) = (answer.at, self.serials[id.0 as usize]);
        if serial == NONE {
            return;
        }
        if let Some(Fault::SlowBody(later)) = answer.fault() {
            self.dripping.insert((at + later, serial), (*request, answer.clone()));
        } else {
            let (request, result) = (*request, self.result(request, answer));
            self.deliver(at, &request, &result, run);
        }
    }

    #[inline]
    fn first_dripping(&self) -> Instant {
        self.dripping.first_key_value().map_or(Instant::FAR_FUTURE, |((whole, _), _)| *whole)
    }

    fn deliver_dripping(&mut self, at: Instant, run: &mut Run) {
        let Some(((_, serial), (request, answer))) = self.dripping.pop_first() else { return };
        // The attempt may have been withdrawn, and its request id may be in use by another attempt now.
        if self.serials[request.id.0 as usize] == serial {
            let result = self.result(&request, &answer);
            self.deliver(at, &request, &result, run);
        }
    }

    /// Returns the result of the attempt that received this response. If the response ended the read of a conditional write, returns the
    /// write, which is still to be sent.
    fn result(&self, request: &Request, answer: &Answer) -> Result<AttemptResult, Step> {
        if request.step == Step::Read && answer.advertises_service() {
            return Err(Step::Write { if_match: answer.version });
        }
        let form = response_form(&self.server, self.answers.as_ref(), &self.understanding, &self.reading);
        Ok(form.read(answer, request.step))
    }

    /// Reports the result of an attempt to the client, or sends the attempt's write.
    fn deliver(
        &mut self,
        at: Instant,
        request: &Request,
        result: &Result<AttemptResult, Step>,
        run: &mut Run,
    ) {
        let slot = request.id.0;
        let attempt = AttemptKey { slot, serial: self.serials[slot as usize] };
        match result {
            Ok(result) => {
                self.serials[slot as usize] = NONE;
                run.on_attempt_end(at, attempt, None, result);
            }
            Err(write) => {
                let Request { op, attempt: ordinal, .. } = *request;
                let client = run.client_of(op);
                // A conditional write needs no free slot, because it is the second half of an attempt that has already started.
                let launched = SentAttempt { attempt, client, op, ordinal, due: at, min_free: 0 };
                self.ask(at, &launched, *write);
            }
        }
    }
}

fn response_form<'a>(
    server: &'a Server,
    answers: Option<&'a AnswerSet>,
    understanding: &'a StepClassifiers,
    reading: &'a ResponseParser,
) -> ResponseForm<'a> {
    let anchor = WallTime::VIRTUAL_START;
    ResponseForm { config: server.config(), answers, anchor, understanding, reading }
}

impl Peer for SimulatedServer {
    fn on_send(&mut self, now: Instant, launched: &SentAttempt) {
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let AttemptKey { slot, serial } = launched.attempt;
        if self.serials.len() <= slot as usize {
            self.serials.resize(slot as usize + 1, NONE);
        }
        self.serials[slot as usize] = serial;
        self.ask(now, launched, step);
        if launched.min_free > 0 {
            self.sensed = Some((now, launched.attempt));
        }
    }

    fn on_cancel(&mut self, now: Instant, key: AttemptKey) {
        if let Some(serial) = self.serials.get_mut(key.slot as usize)
            && *serial == key.serial
        {
            *serial = NONE;
            self.server.handle(now, mockserver_core::Input::Cancel(RequestId(key.slot)));
        }
    }

    fn next_at(&self) -> Instant {
        let next = self.server.next_at().min(self.first_dripping());
        self.sensed.map_or(next, |(sensed, _)| sensed)
    }

    fn go_on(&mut self, _now: Instant, mut until: Instant, run: &mut Run) -> Option<Instant> {
        let mut received_at = None;
        if let Some((at, attempt)) = self.sensed.take() {
            self.report_start(at, attempt, run);
            (until, received_at) = (at, Some(at));
        }
        loop {
            let whole = self.first_dripping();
            if let Some(at) = self.take_next(until.min(whole), run) {
                (until, received_at) = (at, Some(at));
            } else if whole <= until {
                (until, received_at) = (whole, Some(whole));
                self.deliver_dripping(whole, run);
            } else {
                return received_at;
            }
        }
    }
}
