//! What an answer says in the server's own words: its status, its body, and its headers one by one, for whatever writes them.

use std::time::Duration;

use axum::http::StatusCode;
use mockserver_core::{Answer, Step, Teller, Verdict};
use vocabulary::wire;

use crate::clock::Clock;
use crate::identity::Identity;
use crate::shared::Decided;

/// What is not for keeping: somebody between who kept an answer would pass for this server.
pub(crate) const CACHE_CONTROL: (&str, &str) = ("cache-control", "no-store");

/// The value of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(u64),
}

/// Status and body of an answer that no template, no script and no fault has a part in.
pub(crate) fn plain(verdict: Verdict, reject_status: u16) -> (StatusCode, &'static str) {
    match verdict {
        // What failed has no answer that is whole, except by its fault.
        Verdict::Accepted | Verdict::Failed => (StatusCode::OK, "served\n"),
        Verdict::Conflict => (StatusCode::PRECONDITION_FAILED, "somebody else wrote meanwhile\n"),
        Verdict::Rejected => (status(reject_status), "busy\n"),
        Verdict::Deferred => (status(reject_status), "not started: less is free than the attempt asks for\n"),
    }
}

/// The headers of an answer, but for those of templates and scripts. Ours go only to a run of loadgen: others meet what they would
/// meet elsewhere.
pub(crate) fn headers(
    clock: &Clock,
    identity: &Identity,
    decided: &Decided,
    mut put: impl FnMut(&'static str, Value<'_>),
) {
    let answer = &decided.answer;
    let is_ours = identity.run.is_some();
    if decided.is_deferred() {
        // Nothing was started: this tells nothing of the server.
        put(wire::DEFERRED, Value::Number(1));
        put(wire::MOCK, Value::Text(wire::MOCK_VERSION));
        return;
    }
    if let Some(after) = answer.advice.filter(|_| !decided.has_templates()) {
        if decided.tells_wait {
            put("retry-after", Value::Number(teller(clock, is_ours).whole_seconds(after)));
        }
        if is_ours {
            put(wire::WAIT, Value::Number(nanos(after)));
        }
    }
    if identity.step != Step::Work {
        put("etag", Value::Text(&format!("\"{}\"", answer.version)));
    }
    if !is_ours {
        return;
    }
    put(wire::MOCK, Value::Text(wire::MOCK_VERSION));
    put(wire::BUSY, Value::Number(answer.busy.into()));
    if let Some(cap) = answer.cap {
        put(wire::CAP, Value::Number(cap.into()));
    }
    if answer.facts().is_some() {
        let limits = answer.limits();
        if !limits.is_empty() {
            put(wire::LIMITS, Value::Text(&limits.to_string()));
        }
    }
    put(wire::TOOK, Value::Number(nanos(decided.took)));
    // What a script says is judged by its status.
    if answer.reply.is_none() || answer.is_spoiled() {
        put(wire::VERDICT, Value::Text(verdict(answer)));
    }
    put(wire::AT, Value::Number(answer.at.as_nanos()));
}

/// In what time this server speaks: to a run, which goes at its own scale, that of the experiment.
pub(crate) fn teller(clock: &Clock, is_ours: bool) -> Teller {
    if is_ours { Teller::experiment(clock.anchor) } else { Teller::real(clock.anchor, clock.scale) }
}

pub(crate) fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

/// What the client is to count: an answer that is spoiled is a failure to it, whatever was done for it.
fn verdict(answer: &Answer) -> &'static str {
    let [accepted, rejected, failed] = wire::VERDICTS;
    match answer.verdict {
        _ if answer.is_spoiled() => failed,
        Verdict::Failed => failed,
        Verdict::Accepted => accepted,
        Verdict::Rejected | Verdict::Conflict | Verdict::Deferred => rejected,
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
