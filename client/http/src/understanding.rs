//! Interpretation of answers, the same for all transports.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use loadgen_core::{Cause, Classifier, ErrorKind, ServerSeen, ServerVerdict};
use tailback::{Advice, MOST_BODY, Outcome, Reading, Status};
use vocabulary::{Instant, LimitsTold, TimeScale, grpc, wire};

use crate::advice::hear;
use crate::fields::Headers;
use crate::transport::{Answer, RunHeaders, TransportConfig};

#[derive(Debug)]
pub(crate) struct Understanding {
    run: Option<RunHeaders>,
    classifier: Classifier,
    reading: Arc<Reading>,
    scale: TimeScale,
}

impl Understanding {
    pub(crate) fn new(config: &TransportConfig) -> Self {
        Self {
            run: config.run,
            classifier: config.classifier.clone(),
            reading: config.reading.clone(),
            scale: config.scale,
        }
    }

    /// Returns the number of bytes needed from the body of an answer with this status.
    pub(crate) fn most_body(&self, code: u16) -> usize {
        match self.reading.most_body() {
            _ if self.classifier.looks_at_bodies() => MOST_BODY,
            _ if (200..300).contains(&code) => 0,
            most => most,
        }
    }

    /// Interprets an answer. Only a request with carrier sense (`looked`) may be deferred.
    pub(crate) fn of(&self, code: u16, headers: &HeaderMap, body: &[u8], looked: bool) -> Answer {
        let told = Told::in_headers(headers);
        if self.run.is_some() && told.deferred {
            if !looked {
                // An attempt without carrier sense was counted when it was sent, so it cannot be deferred.
                return Answer::none(ErrorKind::Other);
            }
            let outcome = Outcome::plain(Status::Deferred);
            return Answer { outcome, server: None, told: None, cause: None, by_gateway: false };
        }
        let status = self.classifier.whole_answer(code, told.grpc_status, &Headers(code, headers), body);
        let scaled = |advice| match advice {
            Advice::After(real) if self.run.is_none() => Advice::After(self.scale.to_experiment(real)),
            other => other,
        };
        let answered = self.run.and_then(|run| Some(run.anchor.at(told.answered?)));
        let heard = hear(&self.reading, code, headers, body, answered);
        let advice = scaled(heard.advice);
        let server = self.run.and_then(|_| told.seen());
        let by_gateway = self.run.is_some() && !told.by_mock;
        let told = match scaled(heard.told) {
            Advice::After(told) if status != Status::Succeeded => Some(told),
            _ => None,
        };
        let cause = Some(Cause::Status(code));
        let (facts, outer_advice) = (heard.facts, scaled(heard.outer_advice));
        let outcome = Outcome { facts, outer_advice, ..Outcome::advised(status, advice) };
        Answer { outcome, server, told, cause, by_gateway }
    }
}

#[derive(Default)]
struct Told<'a> {
    grpc_status: Option<&'a str>,
    by_mock: bool,
    deferred: bool,
    busy: Option<u32>,
    cap: Option<u32>,
    took: Option<Duration>,
    verdict: Option<ServerVerdict>,
    limits: LimitsTold,
    /// Time of the response since the server's start.
    answered: Option<Instant>,
}

impl<'a> Told<'a> {
    fn in_headers(headers: &'a HeaderMap) -> Self {
        let mut told = Self::default();
        for (name, value) in headers {
            let text = || value.to_str().ok();
            match name.as_str() {
                wire::BUSY => told.busy = text().and_then(|text| text.parse().ok()),
                wire::CAP => told.cap = text().and_then(|text| text.parse().ok()),
                wire::TOOK => {
                    told.took = text().and_then(|text| text.parse().ok()).map(Duration::from_nanos);
                }
                wire::VERDICT => told.verdict = verdict(value.as_bytes()),
                wire::LIMITS => told.limits = text().and_then(|text| text.parse().ok()).unwrap_or_default(),
                wire::AT => {
                    told.answered = text().and_then(|text| text.parse().ok()).map(Instant::from_nanos);
                }
                wire::MOCK => told.by_mock = true,
                wire::DEFERRED => told.deferred = true,
                // Of several values, the first one counts.
                grpc::STATUS => told.grpc_status = told.grpc_status.or_else(text),
                _ => {}
            }
        }
        told
    }

    fn seen(&self) -> Option<ServerSeen> {
        let Self { busy, cap, took, verdict, limits, .. } = *self;
        Some(ServerSeen { busy: busy?, cap, took, limits, verdict })
    }
}

fn verdict(word: &[u8]) -> Option<ServerVerdict> {
    let verdicts = [ServerVerdict::Accepted, ServerVerdict::Rejected, ServerVerdict::Failed];
    let said = wire::VERDICTS.iter().position(|known| word == known.as_bytes())?;
    verdicts.get(said).copied()
}
