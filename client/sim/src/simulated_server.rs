//! The server core as the client meets it in virtual time: attempts become its requests, its answers what the client hears.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadgen_core::{AttemptKey, Input, Launched, OperationKind, Requests, Run};
use mockserver_core::{Answer, AnswerSet, Config, Fault, Request, RequestId, Server, Step, Verdict};
use tailback::Reading;
use vocabulary::wire::ServerStats;
use vocabulary::{Instant, WallTime};

use crate::event_loop::Peer;
use crate::heard::{Speech, Understanding, hear, nothing_heard};
use crate::request_details::RequestDetails;

/// A server without a network.
#[derive(Debug)]
pub(crate) struct SimulatedServer {
    seed: u64,
    kind: OperationKind,
    server: Server,
    /// What requests say of themselves, if the server wants to know.
    details: Option<RequestDetails>,
    /// What its answers say, if not its own words.
    answers: Option<AnswerSet>,
    /// What the client takes them for.
    understanding: Understanding,
    /// What the client wants to know of answers.
    reading: Arc<Reading>,
    /// What has not come to an end, by request id. Ids are dense, so that the tables of the server stay as small as what is in flight: an
    /// attempt's slot is its op's, and there are as many as unfinished ops.
    under_way: Vec<Option<UnderWay>>,
    /// Ids that are free; the last that became free is the next to be used.
    free: Vec<RequestId>,
    /// By an attempt's slot, the id that it had last.
    ids: Vec<RequestId>,
    /// An attempt that was to start at this instant, only if enough was free, and has not heard yet whether it did.
    looked: Option<(Instant, AttemptKey)>,
    /// The input that ends an attempt. Filled in anew for every answer.
    ended: Input,
    /// Answers whose bodies drip, by when they are whole, and by attempt.
    dripping: BTreeMap<(Instant, u64), (AttemptKey, Answer)>,
}

/// An attempt between sending and its end.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    launched: Launched,
    step: Step,
}

impl SimulatedServer {
    pub(crate) fn new(kind: OperationKind, seed: u64, server: Config, client: &Run) -> Self {
        let understanding = Understanding::new(client.rejected_when(), &server);
        // What cannot be said was refused before.
        let answers = server.answer_set().ok().flatten();
        let server = Server::new(server);
        Self {
            seed,
            kind,
            server,
            details: None,
            answers,
            understanding,
            reading: client.reading(),
            under_way: Vec::new(),
            free: Vec::new(),
            ids: Vec::new(),
            looked: None,
            ended: Input::Ended(nothing_heard()),
            dripping: BTreeMap::new(),
        }
    }

    /// The same for requests that ask for this; those of no kind have this method. Nothing may have been sent.
    pub(crate) fn asked(&mut self, requests: Requests, method: &str) {
        self.details = RequestDetails::new(requests, self.seed, method, self.server.wants());
    }

    /// What the server counted.
    pub(crate) fn stats(&mut self, now: Instant) -> ServerStats {
        self.server.stats(now, None)
    }

    /// An attempt begins: its request's id.
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

    /// An attempt has come to its end.
    #[inline]
    fn end(&mut self, id: RequestId) {
        self.under_way[id.0 as usize] = None;
        self.free.push(id);
    }

    fn ask(&mut self, now: Instant, id: RequestId, launched: &Launched, step: Step) {
        let request =
            Request { id, run: None, seed: self.seed, op: launched.op, attempt: launched.ordinal, step };
        // A conditional write is the second half of an attempt that has started.
        let least = if matches!(step, Step::Write { .. }) { 0 } else { launched.least_free };
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

    /// The server looked and started in one step, or started nothing: that answer is the first to come.
    fn hear_whether_started(
        &mut self,
        at: Instant,
        attempt: AttemptKey,
        tell: &mut impl FnMut(Instant, &Input),
    ) {
        let answer = self.server.next_answer(at);
        if !answer.as_ref().is_some_and(|answer| answer.verdict == Verdict::Deferred) {
            tell(at, &Input::Started(attempt));
        }
        if let Some(answer) = answer {
            self.take(at, answer, tell);
        }
    }

    /// An answer has begun to come.
    #[inline]
    fn take(&mut self, at: Instant, answer: Answer, tell: &mut impl FnMut(Instant, &Input)) {
        if let Some(Fault::SlowBody(later)) = answer.fault()
            && let Some(under_way) = &self.under_way[answer.id.0 as usize]
        {
            let attempt = under_way.launched.attempt;
            self.dripping.insert((answer.at + later, attempt.serial), (attempt, answer));
        } else {
            self.hear(at, &answer, tell);
            self.server.reuse(answer);
        }
    }

    /// When the next answer that drips is whole.
    #[inline]
    fn first_dripping(&self) -> Instant {
        if self.dripping.is_empty() {
            return Instant::FAR_FUTURE;
        }
        self.dripping.first_key_value().map_or(Instant::FAR_FUTURE, |((whole, _), _)| *whole)
    }

    /// The client hears of the first answer that has dripped by then.
    fn hear_dripping(&mut self, at: Instant, tell: &mut impl FnMut(Instant, &Input)) {
        let Some((_, (attempt, answer))) = self.dripping.pop_first() else { return };
        // Whoever did not wait for it is gone, and somebody else may have the id.
        let waits = self.under_way[answer.id.0 as usize].is_some_and(|one| one.launched.attempt == attempt);
        if waits {
            self.hear(at, &answer, tell);
        }
    }

    /// An attempt goes on that has read, and writes what it knows now. Whoever hears the answers hears this one's, too.
    #[inline(never)]
    fn write(&mut self, now: Instant, read: &Answer) {
        let step = Step::Write { if_match: read.version };
        if let Some(under_way) = &mut self.under_way[read.id.0 as usize] {
            under_way.step = step;
            let launched = under_way.launched;
            self.ask(now, read.id, &launched, step);
        }
    }

    /// The client hears of an answer, unless its attempt goes on or nobody waits for it.
    #[inline]
    fn hear(&mut self, at: Instant, answer: &Answer, tell: &mut impl FnMut(Instant, &Input)) {
        let Some(UnderWay { launched, step }) = &self.under_way[answer.id.0 as usize] else { return };
        if *step == Step::Read && answer.tells_service() {
            return self.write(at, answer);
        }
        let speech = Speech {
            config: self.server.config(),
            answers: self.answers.as_ref(),
            anchor: WallTime::VIRTUAL_START,
            understanding: &self.understanding,
        };
        if let Input::Ended(completion) = &mut self.ended {
            completion.attempt = launched.attempt;
            completion.sent_at = launched.due;
            hear(completion, answer, *step, &speech, &self.reading, None);
        }
        self.end(answer.id);
        tell(at, &self.ended);
    }
}

impl Peer for SimulatedServer {
    fn on_send(&mut self, now: Instant, launched: Launched) {
        let step = match self.kind {
            OperationKind::Request => Step::Work,
            OperationKind::ReadModifyWrite => Step::Read,
        };
        let id = self.begin(UnderWay { launched, step });
        self.ask(now, id, &launched, step);
        if launched.least_free > 0 {
            self.looked = Some((now, launched.attempt));
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
        self.looked.map_or(next, |(looked, _)| looked)
    }

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
            let whole = self.first_dripping();
            if let Some(answer) = self.server.next_answer(until.min(whole)) {
                (until, heard_at) = (answer.at, Some(answer.at));
                self.take(answer.at, answer, &mut tell);
            } else if whole <= until {
                (until, heard_at) = (whole, Some(whole));
                self.hear_dripping(whole, &mut tell);
            } else {
                return heard_at;
            }
        }
    }
}
