//! What the client hears of an answer in virtual time: what it would be on the wire, classified by the code that does so there.

use std::time::Duration;

use loadgen_core::{AdviceReader, Cause, Classifier, ErrorKind, ServerSeen};
use mockserver_core::{Answer, Config, Reply, ScriptedAnswer, Step, Verdict};
use tailback::{Advice, Facts, Failure, Outcome, Status};
use vocabulary::{WallTime, grpc};

/// How an attempt ended, for all that the client knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) outcome: Outcome,
    /// What it came to on the wire.
    pub(crate) cause: Option<Cause>,
    /// What the answer tells of the server.
    pub(crate) server: Option<ServerSeen>,
    /// How long not to come again, as the answer says by itself.
    pub(crate) told: Option<Duration>,
}

impl Heard {
    /// What this answer to such a request of a server of this configuration means, to an attempt that had to take so long, where that
    /// is told.
    pub(crate) fn of(
        answer: &Answer,
        step: Step,
        config: &Config,
        took: Option<Duration>,
        reader: &AdviceReader,
    ) -> Self {
        let now = WallTime::VIRTUAL_START.at(answer.at);
        let server = Some(ServerSeen { busy: answer.busy, cap: answer.cap, took });
        match answer.reply.and_then(|id| config.policy.script()?.reply(id)) {
            Some(Reply::Answer(scripted)) => {
                Self { server, ..Self::scripted(scripted, step, config, now, reader) }
            }
            Some(Reply::Close) => Self::unanswered(ErrorKind::Closed),
            None => Self::unscripted(answer, config, server, now, reader),
        }
    }

    /// What a script's answer means: the place that knows its status, headers and body.
    fn scripted(
        answer: &ScriptedAnswer,
        step: Step,
        config: &Config,
        now: WallTime,
        reader: &AdviceReader,
    ) -> Self {
        let conditional_writes = step != Step::Work;
        let classifier = Classifier { reject_status: config.reject_status, conditional_writes };
        let status = classifier.answer(answer.status, answer.header(grpc::STATUS));
        let facts = Facts::code(answer.status);
        let (advice, harness) = reader.read(&(answer.status, answer.headers(now).collect()), now);
        let told = match harness {
            Advice::After(told) if status != Status::Succeeded => Some(told),
            _ => None,
        };
        let outcome = Outcome { facts, ..Outcome::advised(status, advice) };
        Self { outcome, cause: Some(Cause::Status(answer.status)), server: None, told }
    }

    /// No answer came.
    fn unanswered(kind: ErrorKind) -> Self {
        let facts = Facts::missing(kind.missing());
        let outcome = Outcome { facts, ..Outcome::plain(Status::Failed(Failure::Transport)) };
        Self { outcome, cause: Some(Cause::Error(kind)), server: None, told: None }
    }

    /// What the server says in its own words.
    fn unscripted(
        answer: &Answer,
        config: &Config,
        server: Option<ServerSeen>,
        now: WallTime,
        reader: &AdviceReader,
    ) -> Self {
        let (status, code) = match answer.verdict {
            Verdict::Accepted => (Status::Succeeded, 200),
            Verdict::Rejected => (Status::Rejected, config.reject_status),
            Verdict::Conflict => (Status::Rejected, 412),
            // There was no answer to an attempt: there was none. Who was not started learns nothing of the server.
            Verdict::Deferred => {
                let outcome = Outcome::plain(Status::Deferred);
                return Self { outcome, cause: None, server: None, told: answer.advice };
            }
        };
        let advice = if answer.advice.is_some() { reader.read(&answer.advice, now).0 } else { Advice::None };
        let outcome = Outcome { facts: Facts::code(code), ..Outcome::advised(status, advice) };
        Self { outcome, cause: Some(Cause::Status(code)), server, told: answer.advice }
    }
}

#[cfg(test)]
mod tests {
    use mockserver_core::{Input, Output, Request, RequestId, Server};
    use vocabulary::{Distribution, Instant};

    use super::*;

    /// What the first request hears of a server with this script.
    fn heard(step: &str) -> (Status, Option<Cause>, bool) {
        let policy = format!("script:steps={step}").parse().unwrap();
        let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
        let mut server = Server::new(config.clone());
        let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
        server.handle(Instant::ORIGIN, Input::Arrive(request));
        let reader = AdviceReader::new(tailback::AdviceForms::default());
        let Output::Answer(answer) = server.poll(Instant::ORIGIN) else { panic!("an answer") };
        let Heard { outcome, cause, server, .. } = Heard::of(&answer, Step::Work, &config, None, &reader);
        (outcome.status, cause, server.is_some())
    }

    #[test]
    fn a_script_s_answers_are_classified_as_over_http() {
        let status = |code| Some(Cause::Status(code));
        assert_eq!(heard("204"), (Status::Succeeded, status(204), true));
        assert_eq!(heard("429 retry-after:1"), (Status::Rejected, status(429), true));
        assert_eq!(heard("500"), (Status::Failed(Failure::Server), status(500), true));
        assert_eq!(heard("404"), (Status::Failed(Failure::Fatal), status(404), true));
        assert_eq!(heard("200 grpc-status:14"), (Status::Rejected, status(200), true));
    }

    #[test]
    fn what_a_script_advises_is_read_in_virtual_time() {
        let policy = "script:steps=429 retry-after:@date%2B3".parse().unwrap();
        let config = Config { policy, network_delay: Distribution::ZERO, ..Config::default() };
        let mut server = Server::new(config.clone());
        let request = Request { id: RequestId(0), run: None, seed: 1, op: 0, attempt: 1, step: Step::Work };
        server.handle(Instant::ORIGIN, Input::Arrive(request));
        let Output::Answer(answer) = server.poll(Instant::ORIGIN) else { panic!("an answer") };
        let reader = AdviceReader::new(tailback::AdviceForms::default());
        let heard = Heard::of(&answer, Step::Work, &config, None, &reader);
        let Advice::After(wait) = heard.outcome.advice else { panic!("{heard:?}") };
        assert!((3..4).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(heard.told, Some(wait));
    }

    #[test]
    fn a_connection_that_is_closed_is_a_failure_that_is_seen_at_once() {
        let closed = Some(Cause::Error(ErrorKind::Closed));
        assert_eq!(heard("close"), (Status::Failed(Failure::Transport), closed, false));
    }
}
