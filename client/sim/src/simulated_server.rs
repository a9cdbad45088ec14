//! Simulated server, which connects the server core to the client in virtual time. It turns the client's attempts into requests, and the
//! server's responses into completions of attempts.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadgen_core::{AttemptKey, Input, OperationKind, Run, SentAttempt};
use mockserver_core::{Answer, AnswerSet, Config, Fault, Request, RequestId, Server, ServerDecision, Step};
use tailback::ResponseParser;
use vocabulary::{Instant, WallTime};
use wire::ServerStats;

use crate::event_loop::Peer;
use crate::request_details::RequestDetails;
use crate::simulated_response::{ResponseForm, StepClassifiers, no_response};

#[derive(Debug)]
pub(crate) struct SimulatedServer {
    seed: u64,
    kind: OperationKind,
    server: Server,
    details: Option<RequestDetails>,
    answers: Option<AnswerSet>,
    understanding: StepClassifiers,
    reading: Arc<ResponseParser>,
    /// Unfinished attempts, indexed by request id. Ids are small consecutive numbers, so that the server's tables stay as small as the
    /// number of attempts in flight.
    under_way: Vec<Option<UnderWay>>,
    /// Stack of free request ids. The id that was freed last is reused first.
    free: Vec<RequestId>,
    /// Request id of the latest attempt in each attempt slot, indexed by slot.
    ids: Vec<RequestId>,
    /// Attempt with carrier sense that was sent at the current instant. It is set as long as the client does not know whether the attempt
    /// was started or deferred.
    sensed: Option<(Instant, AttemptKey)>,
    /// Input for the client that reports the end of an attempt. This input is reused for every response.
    ended: Input,
    /// Responses with slow bodies, ordered by the instant at which they are complete and by the attempt's serial number.
    dripping: BTreeMap<(Instant, u64), (AttemptKey, Answer)>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    launched: SentAttempt,
    step: Step,
}

impl SimulatedServer {
    pub(crate) fn new(kind: OperationKind, seed: u64, server: Config, client: &Run, method: &str) -> Self {
        let understanding = StepClassifiers::new(client.rejected_when(), &server);
        // Reading the templates cannot fail, because invalid templates were rejected earlier.
        let answers = server.answer_set().ok().flatten();
        let server = Server::new(server);
        let details = RequestDetails::new(client.requests().clone(), seed, method, server.wants());
        Self {
            seed,
            kind,
            server,
            details,
            answers,
            understanding,
            reading: client.reading(),
            under_way: Vec::new(),
            free: Vec::new(),
            ids: Vec::new(),
            sensed: None,
            ended: Input::AttemptEnd(no_response()),
            dripping: BTreeMap::new(),
        }
    }

    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now, None)
    }

    fn begin(&mut self, attempt: UnderWay) -> RequestId {
        let slot = attempt.launched.attempt.slot as usize;
        let id = self.free.pop().unwrap_or_else(|| {
            let id = u32::try_from(self.under_way.len()).expect("memory holds fewer");
            self.under_way.push(None);
            RequestId(id)
        });
        self.under_way[id.0 as usize] = Some(attempt);
        if self.ids.len() <= slot {
            self.ids.resize(slot + 1, id);
        }
        self.ids[slot] = id;
        id
    }

    #[inline]
    fn end(&mut self, id: RequestId) {
        self.under_way[id.0 as usize] = None;
        self.free.push(id);
    }

    fn ask(&mut self, now: Instant, id: RequestId, launched: &SentAttempt, step: Step) {
        let request =
            Request { id, run: None, seed: self.seed, op: launched.op, attempt: launched.ordinal, step };
        // A conditional write needs no free slot, because it is the second half of an attempt that has already started.
        let least = if matches!(step, Step::Write { .. }) { 0 } else { launched.min_free };
        let input = match (&mut self.details, least) {
            (Some(details), least) => {
                let details = details.of(launched, step);
                mockserver_core::Input::ArriveWith { request, details, least }
            }
            (None, 0) => mockserver_core::Input::Arrive(request),
            (None, least) => mockserver_core::Input::ArriveIfFree { request, least },
        };
        self.server.handle(now, input);
    }

    /// Reports to the client that an attempt with carrier sense was started, unless the server deferred it. The server checks for free
    /// slots and starts the attempt in one step, so a deferral is always its first response.
    fn report_start(&mut self, at: Instant, attempt: AttemptKey, tell: &mut impl FnMut(Instant, &Input)) {
        let answer = self.server.next_answer(at);
        if !answer.as_ref().is_some_and(|answer| answer.verdict == ServerDecision::Deferred) {
            tell(at, &Input::Started(attempt));
        }
        if let Some(answer) = answer {
            self.take(at, answer, tell);
        }
    }

    /// Handles the start of a response. If the response body is slow, the attempt ends later.
    #[inline]
    fn take(&mut self, at: Instant, answer: Answer, tell: &mut impl FnMut(Instant, &Input)) {
        if let Some(Fault::SlowBody(later)) = answer.fault()
            && let Some(under_way) = &self.under_way[answer.id.0 as usize]
        {
            let attempt = under_way.launched.attempt;
            self.dripping.insert((answer.at + later, attempt.serial), (attempt, answer));
        } else {
            self.deliver(at, &answer, tell);
            self.server.reuse(answer);
        }
    }

    #[inline]
    fn first_dripping(&self) -> Instant {
        if self.dripping.is_empty() {
            return Instant::FAR_FUTURE;
        }
        self.dripping.first_key_value().map_or(Instant::FAR_FUTURE, |((whole, _), _)| *whole)
    }

    fn deliver_dripping(&mut self, at: Instant, tell: &mut impl FnMut(Instant, &Input)) {
        let Some((_, (attempt, answer))) = self.dripping.pop_first() else { return };
        // The attempt may have been withdrawn, and its request id may be in use by another attempt now.
        let waits = self.under_way[answer.id.0 as usize].is_some_and(|one| one.launched.attempt == attempt);
        if waits {
            self.deliver(at, &answer, tell);
        }
    }

    /// Continues an attempt with its conditional write, after its read has ended. The response to the write is handled like any other
    /// response.
    #[inline(never)]
    fn write(&mut self, now: Instant, read: &Answer) {
        let step = Step::Write { if_match: read.version };
        if let Some(under_way) = &mut self.under_way[read.id.0 as usize] {
            under_way.step = step;
            let launched = under_way.launched;
            self.ask(now, read.id, &launched, step);
        }
    }

    /// Reports a response to the client. Does nothing if the attempt was withdrawn. If the read of a conditional write succeeded, sends the
    /// write instead.
    #[inline]
    fn deliver(&mut self, at: Instant, answer: &Answer, tell: &mut impl FnMut(Instant, &Input)) {
        let Some(UnderWay { launched, step }) = &self.under_way[answer.id.0 as usize] else { return };
        if *step == Step::Read && answer.advertises_service() {
            return self.write(at, answer);
        }
        let speech = ResponseForm {
            config: self.server.config(),
            answers: self.answers.as_ref(),
            anchor: WallTime::VIRTUAL_START,
            understanding: &self.understanding,
            reading: &self.reading,
        };
        if let Input::AttemptEnd(completion) = &mut self.ended {
            completion.attempt = launched.attempt;
            completion.sent_at = launched.due;
            speech.read_into(&mut completion.result, answer, *step, None);
        }
        self.end(answer.id);
        tell(at, &self.ended);
    }
}

impl Peer for SimulatedServer {
    fn on_send(&mut self, now: Instant, launched: SentAttempt) {
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let id = self.begin(UnderWay { launched, step });
        self.ask(now, id, &launched, step);
        if launched.min_free > 0 {
            self.sensed = Some((now, launched.attempt));
        }
    }

    fn on_cancel(&mut self, now: Instant, key: AttemptKey) {
        let Some(id) = self.ids.get(key.slot as usize).copied() else { return };
        if self.under_way[id.0 as usize].is_some_and(|sent| sent.launched.attempt == key) {
            self.end(id);
            self.server.handle(now, mockserver_core::Input::Cancel(id));
        }
    }

    fn next_at(&self) -> Instant {
        let next = self.server.next_at().min(self.first_dripping());
        self.sensed.map_or(next, |(sensed, _)| sensed)
    }

    fn go_on(
        &mut self,
        _now: Instant,
        mut until: Instant,
        mut tell: impl FnMut(Instant, &Input),
    ) -> Option<Instant> {
        let mut received_at = None;
        if let Some((at, attempt)) = self.sensed.take() {
            self.report_start(at, attempt, &mut tell);
            (until, received_at) = (at, Some(at));
        }
        loop {
            let whole = self.first_dripping();
            if let Some(answer) = self.server.next_answer(until.min(whole)) {
                (until, received_at) = (answer.at, Some(answer.at));
                self.take(answer.at, answer, &mut tell);
            } else if whole <= until {
                (until, received_at) = (whole, Some(whole));
                self.deliver_dripping(whole, &mut tell);
            } else {
                return received_at;
            }
        }
    }
}
