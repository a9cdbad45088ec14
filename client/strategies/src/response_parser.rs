//! Parser for the parts of an answer that a strategy uses. Drivers read no headers, and nothing of the body, that this
//! parser does not need.

use vocabulary::{WallTime, grpc};

use crate::reason::{MAX_BODY, reason};
use crate::{Advice, AdviceForms, AdviceHeaders, Facts, Grpc, Hints, Quota};

/// Parser that extracts facts, advice and quotas from answers. Its fields select what is parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseParser {
    /// Headers and notations of advice that the innermost layer accepts. Outer layers may accept others, which are in
    /// `outer_forms`.
    pub(crate) forms: AdviceForms,
    pub(crate) outer_forms: Option<AdviceForms>,
    pub(crate) hints: bool,
    pub(crate) grpc: bool,
    pub(crate) reasons: Vec<String>,
    /// True if a part of the strategy uses the quotas that servers state.
    pub(crate) quota: bool,
    /// Headers and notations in which the test harness parses advice, to measure how accurate the advice is. `None` if
    /// the innermost layer of the strategy uses the same headers and notations.
    pub(crate) harness: Option<AdviceForms>,
}

/// Facts and advice about retries, parsed from a server's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParsedResponse {
    /// Facts about the answer, such as its status code.
    pub facts: Facts,
    /// Advice of the server, as the innermost layer parses it.
    pub advice: Advice,
    /// Advice of the server, as outer layers with other notations parse it.
    pub outer_advice: Advice,
    #[doc(hidden)]
    /// Advice of the server in the usual notations, whatever the strategy parses.
    pub advertised: Advice,
    /// Quota that the server states. `None` if it states none, or if no part of the strategy uses quotas.
    pub quota: Option<Quota>,
}

impl ResponseParser {
    /// Returns the maximum number of bytes of an answer's body that the driver must keep for [`parse`](Self::parse). It is
    /// usually 0.
    pub fn max_body(&self) -> usize {
        if self.reasons.is_empty() { 0 } else { MAX_BODY }
    }

    /// Returns the facts of an answer that has this status but no headers or body.
    #[inline]
    pub fn parse_status(&self, code: u16) -> Facts {
        Facts { grpc: self.grpc.then(|| Grpc::of_http(code)), ..Facts::code(code) }
    }

    /// Parses an answer with the status `code`, received at calendar time `now`.
    pub fn parse(
        &self,
        code: u16,
        headers: &(impl AdviceHeaders + ?Sized),
        body: &[u8],
        now: WallTime,
    ) -> ParsedResponse {
        let facts = Facts {
            code,
            missing: None,
            hints: if self.hints { hints(headers) } else { Hints::NONE },
            grpc: self.grpc.then(|| {
                let status = headers.text(grpc::STATUS);
                status.map_or_else(|| Grpc::of_http(code), |status| Grpc::numbered(status.trim()))
            }),
            reason: if self.reasons.is_empty() { None } else { reason(&self.reasons, headers, body) },
        };
        let advice = self.forms.read(headers, now);
        let read = |forms: &AdviceForms| forms.read(headers, now);
        ParsedResponse {
            facts,
            advice,
            outer_advice: self.outer_forms.as_ref().map_or(Advice::None, read),
            advertised: self.harness.as_ref().map_or(advice, read),
            quota: if self.quota { Quota::read(headers, now) } else { None },
        }
    }
}

fn hints(headers: &(impl AdviceHeaders + ?Sized)) -> Hints {
    let hint = |name, yes, no| match headers.text(name).map(str::trim) {
        Some("true") => yes,
        Some("false") => no,
        _ => Hints::NONE,
    };
    let limited =
        ["x-envoy-ratelimited", "x-envoy-overloaded"].iter().any(|name| headers.text(name).is_some());
    hint("x-should-retry", Hints::SHOULD_RETRY, Hints::SHOULD_NOT_RETRY)
        .with(hint("stripe-should-retry", Hints::STRIPE_SHOULD_RETRY, Hints::STRIPE_SHOULD_NOT_RETRY))
        .with(if limited { Hints::ENVOY_RATE_LIMITED } else { Hints::NONE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_required_fields_are_parsed() {
        let headers = [("x-should-retry", "true"), ("stripe-should-retry", "false"), ("grpc-status", "14")];
        let body = b"<Code>SlowDown</Code>";
        let now = WallTime::VIRTUAL_START;
        let nothing = ResponseParser::default().parse(503, &headers[..], body, now);
        assert_eq!((nothing.facts, ResponseParser::default().max_body()), (Facts::code(503), 0));
        let all = ResponseParser {
            hints: true,
            grpc: true,
            reasons: vec!["SlowDown".to_owned()],
            ..ResponseParser::default()
        };
        let facts = all.parse(503, &headers[..], body, now).facts;
        assert!(facts.hints.has(Hints::SHOULD_RETRY) && facts.hints.has(Hints::STRIPE_SHOULD_NOT_RETRY));
        assert_eq!(
            (facts.grpc.map(Grpc::name), facts.reason.map(Into::into)),
            (Some("UNAVAILABLE"), Some(1_u8))
        );
        assert!(all.max_body() > 0);
    }
}
