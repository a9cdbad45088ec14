//! Retry advice and other facts in a response's headers and body, read at the current wall-clock time.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use tailback::{ParsedResponse, ResponseParser};
use vocabulary::WallTime;

use crate::response::fields::Headers;

/// Parses the parts of a response that the strategy needs, and the retry advice that the test harness needs. Dates in the advice are
/// relative to `answered`, the time at which the server responded. If this time is unknown, the client's clock is used instead.
pub(crate) fn parse(
    reading: &ResponseParser,
    code: u16,
    headers: &HeaderMap,
    body: &[u8],
    answered: Option<WallTime>,
) -> ParsedResponse {
    let now = answered.unwrap_or_else(|| {
        let since_unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock that is set before 1970 is treated as if it showed the start of 1970. So no date counts as past.
        WallTime::from_unix(since_unix.unwrap_or(Duration::ZERO))
    });
    reading.parse(code, &Headers(code, headers), body, now)
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
