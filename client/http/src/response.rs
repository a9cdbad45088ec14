//! Interpretation of a server's HTTP responses, used by all transports.

pub(crate) mod kept_body;

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use loadgen_core::{
    AttemptResult, Classifier, ErrorKind, MAX_SEARCHED, ServerSeen, ServerVerdict, SuccessStatuses,
};
use tailback::{Advice, AdviceHeaders, AdviceValue, ParsedResponse, ResponseParser, Status};
use tailback_http::{HttpHeaders, server_clock};
use vocabulary::{Instant, TimeScale, WallTime, grpc};
use wire::AdvertisedLimits;

use crate::config::{RunHeaders, TransportConfig};
use crate::response::kept_body::{KeptBody, SearchedBodies};

#[derive(Debug)]
pub(crate) struct ResponseClassifier {
    run: Option<RunHeaders>,
    classifier: Classifier,
    /// Classifier of answers with a mockserver's verdict, which has precedence over the statuses of `--success`.
    of_mock: Classifier,
    last_head: Arc<AtomicU16>,
    reading: Arc<ResponseParser>,
    scale: TimeScale,
    searched: Arc<SearchedBodies>,
}

impl ResponseClassifier {
    pub(crate) fn new(config: &TransportConfig) -> Self {
        Self {
            run: config.run,
            classifier: config.classifier.clone(),
            of_mock: Classifier { success: SuccessStatuses::default(), ..config.classifier.clone() },
            last_head: config.last_head.clone(),
            reading: config.reading.clone(),
            scale: config.scale,
            searched: config.searched.clone(),
        }
    }

    /// Records that the head of a response with this status arrived. Returns an empty body that keeps as many bytes as the
    /// response needs.
    pub(crate) fn body(&self, code: u16) -> KeptBody {
        self.last_head.store(code, Relaxed);
        match self.reading.max_body() {
            _ if self.classifier.looks_at_bodies() => {
                KeptBody::new(MAX_SEARCHED, Some(self.searched.clone()))
            }
            _ if (200..300).contains(&code) => KeptBody::default(),
            most => KeptBody::new(most, None),
        }
    }

    /// Interprets an answer. `sensed` is true if the request used carrier sense, which permits the server to defer the
    /// attempt.
    pub(crate) fn of(&self, code: u16, headers: &HeaderMap, body: &[u8], sensed: bool) -> AttemptResult {
        let mock_headers = MockHeaders::in_headers(headers);
        if self.run.is_some() && mock_headers.deferred {
            if !sensed {
                // The server must not defer an attempt without carrier sense, because the attempt was already counted
                // when it was sent.
                return AttemptResult::failed(ErrorKind::Other);
            }
            return AttemptResult::plain(Status::Deferred);
        }
        let by_verdict = self.run.is_some() && mock_headers.verdict.is_some();
        let classifier = if by_verdict { &self.of_mock } else { &self.classifier };
        let status = classifier.whole_answer(
            code,
            mock_headers.grpc_status,
            &Headers(HttpHeaders(code, headers)),
            body,
        );
        let answered = self.run.and_then(|run| Some(run.anchor.at(mock_headers.answered?)));
        let mut response = parse(&self.reading, code, headers, body, answered);
        if self.run.is_none() {
            for advice in [&mut response.advice, &mut response.outer_advice, &mut response.advertised] {
                if let Advice::After(wait) = advice {
                    *wait = self.scale.to_experiment(*wait);
                }
            }
            if let Some(reset) = response.quota.as_mut().and_then(|quota| quota.reset.as_mut()) {
                *reset = self.scale.to_experiment(*reset);
            }
        }
        let server = self.run.and_then(|_| mock_headers.seen());
        let by_gateway = self.run.is_some() && !mock_headers.by_mock;
        AttemptResult { server, by_gateway, ..AttemptResult::answered(status, code, &response) }
    }
}

/// Headers that the test harness itself evaluates: those of a mockserver, and the header `grpc-status` of any server.
#[derive(Default)]
struct MockHeaders<'a> {
    grpc_status: Option<&'a str>,
    by_mock: bool,
    deferred: bool,
    busy: Option<u32>,
    cap: Option<u32>,
    took: Option<Duration>,
    verdict: Option<ServerVerdict>,
    limits: AdvertisedLimits,
    /// Instant at which the server responded, as the time since the server's start.
    answered: Option<Instant>,
}

impl<'a> MockHeaders<'a> {
    fn in_headers(headers: &'a HeaderMap) -> Self {
        let mut mock_headers = Self::default();
        for (name, value) in headers {
            match name.as_str() {
                wire::BUSY => mock_headers.busy = parsed(value),
                wire::CAP => mock_headers.cap = parsed(value),
                wire::TOOK => mock_headers.took = parsed(value).map(Duration::from_nanos),
                wire::VERDICT => mock_headers.verdict = verdict(value.as_bytes()),
                wire::LIMITS => mock_headers.limits = parsed(value).unwrap_or_default(),
                wire::AT => mock_headers.answered = parsed(value).map(Instant::from_nanos),
                wire::MOCK => mock_headers.by_mock = true,
                wire::DEFERRED => mock_headers.deferred = true,
                // If the header `grpc-status` occurs several times, its first value is used.
                grpc::STATUS => {
                    mock_headers.grpc_status = mock_headers.grpc_status.or_else(|| value.to_str().ok());
                }
                _ => {}
            }
        }
        mock_headers
    }

    fn seen(&self) -> Option<ServerSeen> {
        let Self { busy, cap, took, verdict, limits, .. } = *self;
        Some(ServerSeen { busy: busy?, cap, took, limits, verdict })
    }
}

fn parsed<T: FromStr>(value: &HeaderValue) -> Option<T> {
    value.to_str().ok()?.parse().ok()
}

fn verdict(word: &[u8]) -> Option<ServerVerdict> {
    let verdicts = [ServerVerdict::Accepted, ServerVerdict::Rejected, ServerVerdict::Failed];
    let place = wire::VERDICTS.iter().position(|known| word == known.as_bytes())?;
    verdicts.get(place).copied()
}

/// Parses the parts of a response that the strategy needs, and the retry advice that the test harness needs. Dates in the advice are
/// relative to `answered`, the time at which the server responded. If this time is unknown, the clock of the response is used, and
/// without one the client's own.
fn parse(
    reading: &ResponseParser,
    code: u16,
    headers: &HeaderMap,
    body: &[u8],
    answered: Option<WallTime>,
) -> ParsedResponse {
    let now = answered.unwrap_or_else(|| server_clock(headers));
    reading.parse(code, &Headers(HttpHeaders(code, headers)), body, now)
}

// The header name is a constant, so that it is not parsed from a text at each look-up.
const WAIT: HeaderName = HeaderName::from_static(wire::WAIT);

/// Status and headers of a response, with the exact wait that a mockserver reports.
struct Headers<'a>(HttpHeaders<'a>);

impl AdviceHeaders for Headers<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.0.value(name)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.0.is_repeated(name)
    }

    fn status(&self) -> u16 {
        self.0.status()
    }

    fn exact_wait(&self) -> Option<Duration> {
        parsed(self.0.1.get(&WAIT)?).map(Duration::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use tailback::{Advice, StrategySpec};

    use super::*;

    fn read(headers: &HeaderMap, forms: &str) -> (Advice, Advice) {
        let spec: StrategySpec = format!("none:advice={forms}").parse().unwrap();
        let response = parse(spec.reading(), 503, headers, &[], None);
        (response.advice, response.advertised)
    }

    fn default(name: &'static str, value: &str) -> Advice {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        read(&headers, "retry-after-ms.decimal|retry-after.decimal.date").0
    }

    #[test]
    fn headers_are_found_by_their_names() {
        let after = |ms| Advice::After(Duration::from_millis(ms));
        assert_eq!(default("retry-after", " 0.5 "), after(500));
        assert_eq!(default("retry-after-ms", "120"), after(120));
        assert_eq!(default("x-retry-after", "120"), Advice::None);
        let not_text = http::HeaderValue::from_bytes(b"\xff").unwrap();
        let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, not_text)]);
        assert_eq!(read(&headers, "retry-after.whole"), (Advice::None, Advice::None));
    }

    #[test]
    fn dates_are_read_by_the_real_clock() {
        assert_eq!(default("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Advice::Past);
        let Advice::After(far) = default("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT") else {
            panic!("a date is advice")
        };
        assert!(far > Duration::from_hours(24), "how much of it is followed, the strategy says");
    }

    #[test]
    fn dates_and_epochs_count_from_the_clock_of_the_response() {
        let advice = |date: &str, age: &str, forms: &str, name: &'static str, value: &str| {
            let given = [("date", date), ("age", age), (name, value)];
            let given = given.into_iter().filter(|(_, value)| !value.is_empty());
            let headers: HeaderMap =
                given.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
            read(&headers, forms).0
        };
        let after = |seconds| Advice::After(Duration::from_secs(seconds));
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let later = "Sun, 06 Nov 1994 08:49:57 GMT";
        for (age, expected) in
            [("", after(20)), ("5", after(15)), ("21", Advice::Past), ("-1", after(20)), ("x", after(20))]
        {
            assert_eq!(advice(date, age, "retry-after.date", "retry-after", later), expected, "{age}");
            assert_eq!(
                advice(date, age, "x-ratelimit-reset.epoch", "x-ratelimit-reset", "784111797"),
                expected,
                "{age}"
            );
        }
        assert_eq!(
            advice(date, &u64::MAX.to_string(), "retry-after.date", "retry-after", later),
            Advice::Past
        );
        assert_eq!(
            advice("soon", "", "retry-after.date", "retry-after", later),
            Advice::Past,
            "the client's own clock"
        );
    }

    #[test]
    fn the_harness_reads_advice_that_the_strategy_does_not() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "2".parse().unwrap());
        let advertised = Advice::After(Duration::from_secs(2));
        assert_eq!(read(&headers, "x-amz-retry-after.whole"), (Advice::None, advertised));
    }

    #[test]
    fn repeated_headers_are_known() {
        let mut headers = HeaderMap::new();
        headers.append("grpc-retry-pushback-ms", "7".parse().unwrap());
        assert_eq!(read(&headers, "grpc-retry-pushback-ms").0, Advice::After(Duration::from_millis(7)));
        headers.append("grpc-retry-pushback-ms", "8".parse().unwrap());
        assert_eq!(read(&headers, "grpc-retry-pushback-ms").0, Advice::Never);
    }
}
