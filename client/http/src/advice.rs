//! What a server's headers say about trying again, now.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode};
use loadgen_core::AdviceReader;
use tailback::{Advice, AdviceHeaders, AdviceValue};
use vocabulary::WallTime;

/// What the strategy reads in an answer, and what the harness does; times are real ones.
pub(crate) fn read(reader: &AdviceReader, status: StatusCode, headers: &HeaderMap) -> (Advice, Advice) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // A clock before 1970 takes no date for past.
    reader.read(&Headers(status, headers), WallTime::from_unix(now.unwrap_or(Duration::ZERO)))
}

/// The headers of an answer; values that are no text are as good as none.
struct Headers<'a>(StatusCode, &'a HeaderMap);

impl AdviceHeaders for Headers<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.1.get(name).and_then(|value| value.to_str().ok()).map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.1.get_all(name).iter().nth(1).is_some()
    }

    fn status(&self) -> u16 {
        self.0.as_u16()
    }
}

#[cfg(test)]
mod tests {
    use tailback::AdviceForms;

    use super::*;

    fn read_of(headers: &HeaderMap) -> Advice {
        read(&AdviceReader::new(AdviceForms::default()), StatusCode::TOO_MANY_REQUESTS, headers).0
    }

    fn read_one(name: &'static str, value: &str) -> Advice {
        let name = http::HeaderName::from_static(name);
        read_of(&HeaderMap::from_iter([(name, value.parse().unwrap())]))
    }

    #[test]
    fn headers_are_found_by_their_names() {
        let after = |ms| Advice::After(Duration::from_millis(ms));
        assert_eq!(read_one("retry-after", " 0.5 "), after(500));
        assert_eq!(read_one("retry-after-ms", "120"), after(120));
        assert_eq!(read_one("x-retry-after", "120"), Advice::None);
        let not_text = http::HeaderValue::from_bytes(b"\xff").unwrap();
        assert_eq!(read_of(&HeaderMap::from_iter([(http::header::RETRY_AFTER, not_text)])), Advice::None);
    }

    #[test]
    fn dates_are_read_by_the_real_clock() {
        assert_eq!(read_one("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Advice::Past);
        let Advice::After(far) = read_one("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT") else {
            panic!("a date is advice")
        };
        assert!(far > Duration::from_hours(24), "how much of it is followed, the strategy says");
    }

    #[test]
    fn repeated_headers_are_known() {
        let name = http::HeaderName::from_static("grpc-retry-pushback-ms");
        let mut headers = HeaderMap::from_iter([(name.clone(), http::HeaderValue::from(700))]);
        let is_repeated =
            |headers: &HeaderMap| Headers(StatusCode::OK, headers).is_repeated("grpc-retry-pushback-ms");
        assert!(!is_repeated(&headers));
        headers.append(name.clone(), http::HeaderValue::from(700));
        assert!(is_repeated(&headers));
    }
}
