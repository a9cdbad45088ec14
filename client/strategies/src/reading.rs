//! What a strategy wants to know of answers: drivers read that, and nothing else, out of headers and body.

use vocabulary::{WallTime, grpc};

use crate::reason::{MOST_BODY, reason};
use crate::{Advice, AdviceForms, AdviceHeaders, AdviceValue, Facts, Grpc, Hints};

/// What is read of every answer that is no success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// How advice is read: by the inner layer, and by layers around it that read it in another way.
    pub(crate) forms: AdviceForms,
    pub(crate) outer_forms: Option<AdviceForms>,
    pub(crate) hints: bool,
    pub(crate) grpc: bool,
    pub(crate) reasons: Vec<String>,
    /// How the harness reads advice, to judge what became of it; `None` where the inner layer reads it like that.
    pub(crate) harness: Option<AdviceForms>,
}

/// What an answer says to a strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// What came on the wire.
    pub facts: Facts,
    /// The advice, as the inner layer reads it.
    pub advice: Advice,
    /// The advice, as layers read it that read it in another way.
    pub outer_advice: Advice,
    /// The advice, as the harness reads it.
    pub told: Advice,
}

impl Reading {
    /// Bytes of the body that are to be kept until [`hear`](Self::hear); mostly none.
    pub fn most_body(&self) -> usize {
        if self.reasons.is_empty() { 0 } else { MOST_BODY }
    }

    /// What an answer with this status and without any header or body says.
    #[inline]
    pub fn hear_status(&self, code: u16) -> Facts {
        Facts { grpc: self.grpc.then(|| Grpc::of_http(code)), ..Facts::code(code) }
    }

    /// What an answer with this status says at this moment of the calendar.
    pub fn hear(
        &self,
        code: u16,
        headers: &(impl AdviceHeaders + ?Sized),
        body: &[u8],
        now: WallTime,
    ) -> Heard {
        let facts = Facts {
            code,
            missing: None,
            hints: if self.hints { hints(headers) } else { Hints::NONE },
            grpc: self.grpc.then(|| grpc_status(code, headers)),
            reason: if self.reasons.is_empty() { None } else { reason(&self.reasons, headers, body) },
        };
        let advice = self.forms.read(headers, now);
        let outer = self.outer_forms.as_ref();
        let told = self.harness.as_ref().map_or(advice, |forms| forms.read(headers, now));
        Heard {
            facts,
            advice,
            outer_advice: outer.map_or(Advice::None, |forms| forms.read(headers, now)),
            told,
        }
    }
}

fn text<'a>(headers: &'a (impl AdviceHeaders + ?Sized), name: &'static str) -> Option<&'a str> {
    match headers.value(name)? {
        AdviceValue::Text(text) => Some(text.trim()),
        AdviceValue::Wait(_) => None,
    }
}

fn hints(headers: &(impl AdviceHeaders + ?Sized)) -> Hints {
    let said = |name, yes, no| match text(headers, name) {
        Some("true") => yes,
        Some("false") => no,
        _ => Hints::NONE,
    };
    let limited =
        ["x-envoy-ratelimited", "x-envoy-overloaded"].iter().any(|name| text(headers, name).is_some());
    said("x-should-retry", Hints::SHOULD_RETRY, Hints::SHOULD_NOT_RETRY)
        .with(said("stripe-should-retry", Hints::STRIPE_SHOULD_RETRY, Hints::STRIPE_SHOULD_NOT_RETRY))
        .with(if limited { Hints::ENVOY_RATE_LIMITED } else { Hints::NONE })
}

fn grpc_status(code: u16, headers: &(impl AdviceHeaders + ?Sized)) -> Grpc {
    text(headers, grpc::STATUS).map_or_else(|| Grpc::of_http(code), Grpc::numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_read() {
        let headers = [("x-should-retry", "true"), ("stripe-should-retry", "false"), ("grpc-status", "14")];
        let body = b"<Code>SlowDown</Code>";
        let now = WallTime::VIRTUAL_START;
        let nothing = Reading::default().hear(503, &headers[..], body, now);
        assert_eq!((nothing.facts, Reading::default().most_body()), (Facts::code(503), 0));
        let all =
            Reading { hints: true, grpc: true, reasons: vec!["SlowDown".to_owned()], ..Reading::default() };
        let facts = all.hear(503, &headers[..], body, now).facts;
        assert!(facts.hints.has(Hints::SHOULD_RETRY) && facts.hints.has(Hints::STRIPE_SHOULD_NOT_RETRY));
        assert_eq!(
            (facts.grpc.map(Grpc::name), facts.reason.map(Into::into)),
            (Some("UNAVAILABLE"), Some(1_u8))
        );
        assert!(all.most_body() > 0);
    }
}
