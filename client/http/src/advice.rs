//! What a server's headers say about trying again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};
use tailback::Advice;

const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Longer advice than a day is cut to a day.
const LONGEST: Duration = Duration::from_hours(24);

/// Reads `retry-after-ms`, or else `Retry-After` as seconds (whole or decimal, as in the field) or as a date
/// (RFC 9110, section 10.2.3). What cannot be read is ignored; a date that is past means at once.
pub(crate) fn advice(headers: &HeaderMap) -> Advice {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds =
        |text: &str| text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let after = match text(&RETRY_AFTER_MS) {
        Some(ms) => seconds(ms).map(|duration| duration / 1000),
        None => text(&header::RETRY_AFTER).and_then(|text| {
            seconds(text).or_else(|| {
                let date = httpdate::parse_http_date(text).ok()?;
                Some(date.duration_since(SystemTime::now()).unwrap_or_default())
            })
        }),
    };
    after.map_or(Advice::None, |after| Advice::After(after.min(LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, value: &str) -> Advice {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        advice(&headers)
    }

    #[test]
    fn seconds_decimals_and_milliseconds_are_read() {
        let after = |ms| Advice::After(Duration::from_millis(ms));
        assert_eq!(read("retry-after", "2"), after(2000));
        assert_eq!(read("retry-after", " 0.5 "), after(500));
        assert_eq!(read("retry-after-ms", "120"), after(120));
        assert_eq!(read("retry-after", "99999999999"), Advice::After(LONGEST));
    }

    #[test]
    fn dates_are_read_and_a_past_one_means_at_once() {
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Advice::After(Duration::ZERO));
        let Advice::After(far) = read("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT") else {
            panic!("a date is advice")
        };
        assert_eq!(far, LONGEST);
    }

    #[test]
    fn nonsense_is_ignored() {
        for value in ["", "soon", "-1", "NaN", "1e400", "inf"] {
            assert_eq!(read("retry-after", value), Advice::None, "{value}");
        }
        assert_eq!(advice(&HeaderMap::new()), Advice::None);
    }
}
