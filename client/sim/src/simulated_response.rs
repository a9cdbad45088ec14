//! Outcomes of attempts in virtual time. Simulated responses have the same content as responses over HTTP, and the same code classifies
//! them.

use std::borrow::Cow;
use std::cell::OnceCell;

use loadgen_core::{AttemptResult, Cause, Classifier, ErrorKind, RejectedWhen, ServerSeen, ServerVerdict};
use mockserver_core::{
    Answer, AnswerFacts, AnswerSet, Config, Fault, HeaderWriter, Request, ResponseContext, ServerDecision,
    Step,
};
use tailback::{AdviceHeaders, AdviceValue, CustomResponses, Outcome, ResponseParser, Status};
use vocabulary::{WallTime, grpc};

const NO_HEADERS: [(&str, &str); 0] = [];

/// Server settings that determine the form of the server's responses, and the classifiers and the parser with which the client interprets
/// the responses.
#[derive(Clone, Copy, Debug)]
pub struct ResponseForm<'a> {
    pub config: &'a Config,
    /// Response templates of the server's configuration; `None` if the server uses its built-in responses.
    pub answers: Option<&'a AnswerSet>,
    /// Wall-clock time at which the server started.
    pub anchor: WallTime,
    pub understanding: &'a StepClassifiers,
    pub reading: &'a ResponseParser,
}

#[derive(Clone, Debug, Default)]
pub struct StepClassifiers {
    plain: Classifier,
    conditional: Classifier,
}

impl StepClassifiers {
    /// Creates classifiers that treat certain statuses as rejections: the statuses in the client's configuration, and the statuses with
    /// which the server rejects.
    pub fn new(rejected_when: &RejectedWhen, config: &Config) -> Self {
        let of =
            |conditional_writes| Classifier::new(rejected_when, config.reject_statuses(), conditional_writes);
        Self { plain: of(false), conditional: of(true) }
    }

    fn of(&self, step: Step) -> &Classifier {
        if step == Step::Work { &self.plain } else { &self.conditional }
    }
}

impl ResponseForm<'_> {
    /// Returns the result of an attempt that received this response.
    pub fn read(&self, answer: &Answer, step: Step) -> AttemptResult {
        let classifier = self.understanding.of(step);
        let is_own = answer.reply.is_none() && self.answers.is_none() && answer.fault().is_none();
        let changed = if is_own { None } else { self.read_changed(answer, classifier) };
        changed.unwrap_or_else(|| self.read_own(answer, classifier))
    }

    /// Interprets a response that was changed by a fault, a template or a script. Returns `None` for an unchanged response.
    #[inline(never)]
    fn read_changed(&self, answer: &Answer, classifier: &Classifier) -> Option<AttemptResult> {
        let server = Some(seen(answer));
        if let Some(fault) = answer.fault().filter(|fault| !fault.is_slow()) {
            return Some(self.read_spoiled(answer, fault, classifier, server));
        }
        let result = match (answer.facts(), self.answers) {
            (Some(facts), Some(answers)) => self.read_templated(answer, facts, answers, classifier),
            _ => self.read_scripted(answer, classifier)?,
        };
        Some(AttemptResult { server, ..result })
    }

    /// Interprets a response made from templates as if it came over HTTP, but renders only the parts that the client
    /// reads.
    fn read_templated(
        &self,
        answer: &Answer,
        facts: &AnswerFacts,
        answers: &AnswerSet,
        classifier: &Classifier,
    ) -> AttemptResult {
        let reading = self.reading;
        let code = match answer.verdict {
            ServerDecision::Accepted => 200,
            ServerDecision::Rejected | ServerDecision::Deferred | ServerDecision::Failed => {
                self.config.reject_status
            }
            ServerDecision::Conflict => 412,
        };
        let headers = RenderedHeaders::new(answers, answer.response_context(facts), code, self.anchor);
        let code = headers.status;
        let is_success = (200..300).contains(&code);
        let is_read = reading.max_body() > 0 && !is_success || classifier.looks_at_bodies();
        let body = if is_read { headers.body().unwrap_or(answer.text().into()) } else { "".into() };
        let body = body.as_bytes();
        // The gRPC status is rendered only for HTTP successes, because the client does not read it for other responses.
        let grpc = if is_success { headers.text(grpc::STATUS) } else { None };
        let status = classifier.whole_answer(code, grpc, &headers, body);
        let response = reading.parse(code, &headers, body, self.anchor.at(answer.at));
        AttemptResult::answered(status, code, &response)
    }

    /// Interprets a response whose status, headers and body come from a script. No other function reads the status, headers or body of a
    /// scripted response.
    #[cold]
    fn read_scripted(&self, answer: &Answer, classifier: &Classifier) -> Option<AttemptResult> {
        let now = self.anchor.at(answer.at);
        let scripted = &self.config.policy.script()?.reply(answer.reply?)?.answer;
        let headers: Vec<(&str, Cow<'_, str>)> = scripted.headers(now).collect();
        let (code, body) = (scripted.status, scripted.body.as_bytes());
        let answered = (code, headers);
        let status = classifier.whole_answer(code, scripted.header(grpc::STATUS), &answered, body);
        Some(AttemptResult::answered(status, code, &self.reading.parse(code, &answered, body, now)))
    }

    fn read_spoiled(
        &self,
        answer: &Answer,
        fault: Fault,
        classifier: &Classifier,
        server: Option<ServerSeen>,
    ) -> AttemptResult {
        let kind = match fault {
            Fault::Status(code) => {
                let status = classifier.whole_answer(code, None, &NO_HEADERS[..], answer.text().as_bytes());
                let plain = AttemptResult::plain(status);
                let verdict = Some(ServerVerdict::Failed);
                return AttemptResult {
                    outcome: Outcome { facts: self.reading.parse_status(code), ..plain.outcome },
                    cause: Some(Cause::Status(code)),
                    server: server.map(|seen| ServerSeen { verdict, ..seen }),
                    ..plain
                };
            }
            Fault::Reset => ErrorKind::Reset,
            Fault::Truncate => ErrorKind::Truncated,
            Fault::Garbage => ErrorKind::Unreadable,
            Fault::Close | Fault::Hang | Fault::SlowHeaders(_) | Fault::SlowBody(_) => ErrorKind::Closed,
        };
        AttemptResult::failed(kind)
    }

    /// Interprets a built-in response, without faults, templates and scripts.
    fn read_own(&self, answer: &Answer, classifier: &Classifier) -> AttemptResult {
        let (status, code) = match answer.verdict {
            ServerDecision::Accepted => (Status::Succeeded, 200),
            // `Failed` does not occur here. Only a fault can make a request fail, and responses changed by a fault were interpreted before
            // this function is called.
            ServerDecision::Rejected | ServerDecision::Failed => {
                (Status::Rejected, self.config.reject_status)
            }
            ServerDecision::Conflict => (Status::Rejected, 412),
            // A deferred attempt was neither started nor answered, so the client learns nothing about the server.
            ServerDecision::Deferred => return AttemptResult::plain(Status::Deferred),
        };
        let is_named = classifier.is_named(&NO_HEADERS[..], answer.text().as_bytes());
        let status = if is_named { Status::Rejected } else { status };
        let mut result = match answer.advice {
            None => {
                let outcome = Outcome { facts: self.reading.parse_status(code), ..Outcome::plain(status) };
                AttemptResult { outcome, cause: Some(Cause::Status(code)), ..AttemptResult::plain(status) }
            }
            Some(wait) => {
                let words = CustomResponses { wait, in_seconds: self.config.retry_after.is_some() };
                // The advised delay is parsed from the text that the real server would write. This text never contains a date, so the
                // wall-clock time is irrelevant.
                let response = self.reading.parse(code, &words, &[], WallTime::VIRTUAL_START);
                AttemptResult::answered(status, code, &response)
            }
        };
        result.server = Some(seen(answer));
        result
    }
}

/// Returns what the response reports about the server. The verdict of a scripted response is `None`, because its status alone decides how
/// the attempt counts.
fn seen(answer: &Answer) -> ServerSeen {
    let verdict = answer.reply.is_none().then_some(match answer.verdict {
        ServerDecision::Accepted => ServerVerdict::Accepted,
        ServerDecision::Failed => ServerVerdict::Failed,
        ServerDecision::Rejected | ServerDecision::Conflict | ServerDecision::Deferred => {
            ServerVerdict::Rejected
        }
    });
    ServerSeen { busy: answer.busy, cap: answer.cap, took: None, limits: answer.limits(), verdict }
}

/// Results of attempts with plain responses. They are prepared once, because most responses are plain.
///
/// A response is plain if it has the server's built-in form, without retry advice, facts and faults.
#[derive(Debug)]
pub(crate) struct PlainResults {
    /// False if the server's responses are never plain, because they are made from templates.
    are_used: bool,
    accepted: AttemptResult,
    rejected: AttemptResult,
}

impl PlainResults {
    pub(crate) fn new(form: &ResponseForm<'_>) -> Self {
        let result = |verdict| form.read(&Answer { verdict, ..Answer::default() }, Step::Work);
        let (accepted, rejected) = (result(ServerDecision::Accepted), result(ServerDecision::Rejected));
        Self { are_used: form.answers.is_none(), accepted, rejected }
    }

    /// Returns the result of an attempt with this response, if the response is plain.
    #[inline]
    pub(crate) fn of(&mut self, request: &Request, answer: &Answer) -> Option<&AttemptResult> {
        let Answer { advice, reply, extras, .. } = answer;
        let is_plain = advice.is_none() && reply.is_none() && extras.is_none();
        let result = match answer.verdict {
            _ if !self.are_used || !is_plain || request.step != Step::Work => return None,
            ServerDecision::Accepted => &mut self.accepted,
            ServerDecision::Rejected => &mut self.rejected,
            ServerDecision::Conflict | ServerDecision::Failed | ServerDecision::Deferred => return None,
        };
        if let Some(seen) = &mut result.server {
            (seen.busy, seen.cap) = (answer.busy, answer.cap);
        }
        Some(result)
    }
}

/// Headers of a response that is made from a template. Each header is rendered when it is first read, because most are never read.
struct RenderedHeaders<'a> {
    answers: &'a AnswerSet,
    context: ResponseContext<'a>,
    teller: HeaderWriter,
    status: u16,
    written: Written,
}

/// Cache of rendered header values: a linked list in the order in which the headers were first read.
#[derive(Default)]
struct Written {
    value: OnceCell<(&'static str, String)>,
    next: OnceCell<Box<Self>>,
}

impl<'a> RenderedHeaders<'a> {
    /// Creates the headers of one response. `status` is used if no template sets a status; `anchor` is the wall-clock time at which the
    /// server started.
    fn new(answers: &'a AnswerSet, context: ResponseContext<'a>, status: u16, anchor: WallTime) -> Self {
        let status = answers.status(&context).unwrap_or(status);
        Self {
            answers,
            context,
            teller: HeaderWriter::experiment(anchor),
            status,
            written: Written::default(),
        }
    }

    /// Returns the response body that a template sets; `None` if the body is the server's built-in one.
    fn body(&self) -> Option<Cow<'_, str>> {
        self.answers.body(&self.context, &self.teller)
    }
}

impl AdviceHeaders for RenderedHeaders<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        let mut place = &self.written;
        while let Some((there, text)) = place.value.get() {
            if *there == name {
                return Some(AdviceValue::Text(text));
            }
            place = place.next.get_or_init(Box::default);
        }
        match self.answers.header(name, &self.context, &self.teller)? {
            Cow::Borrowed(text) => Some(AdviceValue::Text(text)),
            Cow::Owned(text) => Some(AdviceValue::Text(&place.value.get_or_init(|| (name, text)).1)),
        }
    }

    /// Returns false, because a set of templates contains each header name once.
    fn is_repeated(&self, _: &'static str) -> bool {
        false
    }

    fn status(&self) -> u16 {
        self.status
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mockserver_core::{AnswersConfig, Input, Outcome, Output, Request, RequestId, Server};
    use tailback::{Advice, Failure, ResponseParser};
    use vocabulary::{Distribution, Instant};

    use super::*;

    /// Returns the first request's status, its cause, and whether the answer described the server, for a server with this script.
    fn response(step: &str) -> (Status, Option<Cause>, bool) {
        let policy = format!("script:steps={step}").parse().unwrap();
        let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
        let mut server = Server::new(config.clone());
        let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
        server.handle(Instant::ORIGIN, Input::Arrive { request, least: 0, details: None });
        // A hanging step ends after an hour.
        let Output::Answer(answer) = server.poll(Instant::from_millis(3_600_000)) else {
            panic!("an answer")
        };
        let understanding = StepClassifiers::new(&RejectedWhen::default(), &config);
        let (answers, anchor) = (None, WallTime::VIRTUAL_START);
        let (understanding, reading) = (&understanding, &ResponseParser::default());
        let speech = ResponseForm { config: &config, answers, anchor, understanding, reading };
        let AttemptResult { outcome, cause, server, .. } = speech.read(&answer, Step::Work);
        (outcome.status, cause, server.is_some())
    }

    #[test]
    fn a_script_s_answers_are_classified_as_over_http() {
        let status = |code| Some(Cause::Status(code));
        assert_eq!(response("204"), (Status::Succeeded, status(204), true));
        assert_eq!(response("429 retry-after:1"), (Status::Rejected, status(429), true));
        assert_eq!(response("500"), (Status::Failed(Failure::Server), status(500), true));
        assert_eq!(response("404"), (Status::Failed(Failure::Fatal), status(404), true));
        assert_eq!(response("200 grpc-status:14"), (Status::Rejected, status(200), true));
    }

    #[test]
    fn a_fault_step_is_the_error_that_http_clients_report() {
        for (step, kind) in [
            ("close", ErrorKind::Closed),
            ("reset", ErrorKind::Reset),
            ("truncate", ErrorKind::Truncated),
            ("hang", ErrorKind::Closed),
        ] {
            let failed = (Status::Failed(Failure::Transport), Some(Cause::Error(kind)), false);
            assert_eq!(response(step), failed, "{step}");
            assert_eq!(response(&format!("{step}:after")), failed, "{step}");
        }
        let broken = (Status::Failed(Failure::Transport), Some(Cause::Error(ErrorKind::Truncated)), false);
        assert_eq!(response("truncate:after retry-after:9 body:{}"), broken);
    }

    #[test]
    fn a_strategy_reads_what_the_real_server_would_write() {
        let answers = AnswersConfig::default().advising("seconds:header=x-ratelimit-retry-after+date");
        let answers = AnswerSet::read(&answers, ["limit"]).unwrap();
        let context = ResponseContext {
            outcome: Outcome::Rejected { stage: Some(0), wait: Some(Duration::from_millis(1500)) },
            now: Instant::from_millis(250),
            decided_at: Instant::from_millis(250),
            limit_statuses: &[],
            seed: 1,
            op: 0,
            attempt: 1,
        };
        let headers = RenderedHeaders::new(&answers, context, 429, WallTime::VIRTUAL_START);
        let now = WallTime::VIRTUAL_START.at(context.now);
        let parsed = ResponseParser::default().parse(headers.status(), &headers, &[], now);
        assert_eq!((parsed.facts.code, parsed.advice), (429, Advice::After(Duration::from_millis(1750))));
        for _ in 0..2 {
            assert_eq!(headers.value("x-ratelimit-retry-after"), Some(AdviceValue::Text("2")));
            assert_eq!(
                headers.value("retry-after"),
                Some(AdviceValue::Text("Thu, 01 Jan 2026 00:00:02 GMT"))
            );
            assert_eq!(headers.value("retry-after-ms"), None);
        }
    }
}
