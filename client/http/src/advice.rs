//! What a server's headers say about trying again, to a client that reads these forms of advice now.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use tailback::{Advice, AdviceForms, AdviceHeaders, AdviceValue};
use vocabulary::WallTime;

/// Reads answers twice: as the strategy does, and as the harness judges what became of advice.
#[derive(Clone, Debug)]
pub(crate) struct AdviceReader {
    forms: AdviceForms,
    /// The harness's own, unless they are the same.
    harness: Option<AdviceForms>,
}

impl AdviceReader {
    pub(crate) fn new(forms: AdviceForms) -> Self {
        let harness = AdviceForms::default();
        Self { harness: Some(harness).filter(|harness| *harness != forms), forms }
    }

    /// What the strategy reads, and what the harness does; times are real ones.
    pub(crate) fn read(&self, headers: &HeaderMap) -> (Advice, Advice) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock before 1970 takes no date for past.
        let now = WallTime::from_unix(now.unwrap_or(Duration::ZERO));
        let advice = self.forms.read(&Headers(headers), now);
        (advice, self.harness.as_ref().map_or(advice, |harness| harness.read(&Headers(headers), now)))
    }
}

/// The headers of an answer; values that are no text are as good as none.
struct Headers<'a>(&'a HeaderMap);

impl AdviceHeaders for Headers<'_> {
    fn value(&self, name: &'static str) -> Option<AdviceValue<'_>> {
        self.0.get(name).and_then(|value| value.to_str().ok()).map(AdviceValue::Text)
    }

    fn is_repeated(&self, name: &'static str) -> bool {
        self.0.get_all(name).iter().nth(1).is_some()
    }
}

#[cfg(test)]
mod tests {
    use vocabulary::TextField;

    use super::*;

    fn read(name: &'static str, value: &str) -> Advice {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        reader("retry-after-ms.decimal|retry-after.decimal.date").read(&headers).0
    }

    fn reader(forms: &str) -> AdviceReader {
        let mut typed = AdviceForms::default();
        TextField::read(&mut typed, forms).unwrap();
        AdviceReader::new(typed)
    }

    #[test]
    fn headers_are_found_by_their_names() {
        let after = |ms| Advice::After(Duration::from_millis(ms));
        assert_eq!(read("retry-after", " 0.5 "), after(500));
        assert_eq!(read("retry-after-ms", "120"), after(120));
        assert_eq!(read("x-retry-after", "120"), Advice::None);
        let not_text = http::HeaderValue::from_bytes(b"\xff").unwrap();
        let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, not_text)]);
        assert_eq!(reader("retry-after.whole").read(&headers), (Advice::None, Advice::None));
    }

    #[test]
    fn dates_are_read_by_the_real_clock() {
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Advice::Past);
        let Advice::After(far) = read("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT") else {
            panic!("a date is advice")
        };
        assert!(far > Duration::from_hours(24), "how much of it is followed, the strategy says");
    }

    #[test]
    fn the_harness_reads_what_the_strategy_does_not() {
        let headers = HeaderMap::from_iter([(http::header::RETRY_AFTER, http::HeaderValue::from(2))]);
        let told = Advice::After(Duration::from_secs(2));
        assert_eq!(reader("x-amz-retry-after.whole").read(&headers), (Advice::None, told));
    }

    #[test]
    fn repeated_headers_are_known() {
        let name = http::HeaderName::from_static("grpc-retry-pushback-ms");
        let mut headers = HeaderMap::from_iter([(name.clone(), http::HeaderValue::from(700))]);
        assert!(!Headers(&headers).is_repeated("grpc-retry-pushback-ms"));
        headers.append(name, http::HeaderValue::from(700));
        assert!(Headers(&headers).is_repeated("grpc-retry-pushback-ms"));
    }
}
