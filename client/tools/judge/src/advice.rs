//! Wait that an answer's headers advise: `Retry-After` (RFC 9110, section 10.2.3) and two headers that only some clients read.

use std::time::{Duration, UNIX_EPOCH};

use vocabulary::WallTime;

const RETRY_AFTER: &str = "retry-after";
const RETRY_AFTER_MS: &str = "retry-after-ms";
const RATE_LIMIT_RESET: &str = "x-ratelimit-reset";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    Seconds(Duration),
    /// `Retry-After` as a date in the future. The wait is counted from the answer.
    Date(Duration),
    /// `retry-after-ms`, a header of some vendors.
    Millis(Duration),
    /// `x-ratelimit-reset` in seconds since 1970, as GitHub sends it. The wait is counted from the answer.
    Reset(Duration),
    /// `Retry-After` that names no time in the future, such as `0`, `-1`, `1.5` or a past date.
    NoTime,
}

impl Advice {
    /// Parses the advice of an answer that is sent at the calendar time `now`. `header` returns the value of a header, whose name is in
    /// lower case. `Retry-After` takes precedence over the other headers.
    pub fn parse<'a>(header: impl Fn(&str) -> Option<&'a str>, now: WallTime) -> Option<Self> {
        let until =
            |since_unix: Duration| now.until(WallTime::from_unix(since_unix)).filter(|wait| !wait.is_zero());
        if let Some(text) = header(RETRY_AFTER) {
            let text = text.trim();
            let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if is_digits {
                let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
                return Some(
                    seconds.map_or(Self::NoTime, |seconds| Self::Seconds(Duration::from_secs(seconds))),
                );
            }
            let date =
                httpdate::parse_http_date(text).ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
            return Some(date.and_then(until).map_or(Self::NoTime, Self::Date));
        }
        if let Some(millis) = header(RETRY_AFTER_MS).and_then(|text| text.trim().parse().ok()) {
            return Some(Self::Millis(Duration::from_millis(millis)));
        }
        let reset = header(RATE_LIMIT_RESET)?.trim().parse().ok()?;
        until(Duration::from_secs(reset)).map(Self::Reset)
    }

    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::Seconds(wait) | Self::Date(wait) | Self::Millis(wait) | Self::Reset(wait) => Some(wait),
            Self::NoTime => None,
        }
    }

    /// Returns the advised wait if every client must obey the advice, because RFC 9110 defines it.
    pub(super) const fn standard_wait(self) -> Option<Duration> {
        match self {
            Self::Seconds(wait) | Self::Date(wait) => Some(wait),
            Self::Millis(_) | Self::Reset(_) | Self::NoTime => None,
        }
    }

    pub(super) const fn header(self) -> &'static str {
        match self {
            Self::Seconds(_) | Self::Date(_) | Self::NoTime => "Retry-After",
            Self::Millis(_) => RETRY_AFTER_MS,
            Self::Reset(_) => RATE_LIMIT_RESET,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str, value: &str) -> Option<Advice> {
        Advice::parse(|wanted| (wanted == name).then_some(value), WallTime::VIRTUAL_START)
    }

    #[test]
    fn only_whole_seconds_and_future_dates_are_a_time() {
        let seconds = Duration::from_secs;
        for (value, advice) in [
            ("3", Advice::Seconds(seconds(3))),
            (" 70 ", Advice::Seconds(seconds(70))),
            ("Thu, 01 Jan 2026 00:00:03 GMT", Advice::Date(seconds(3))),
            ("Thu, 01 Jan 2026 00:00:00 GMT", Advice::NoTime),
            ("Wed, 31 Dec 2025 23:59:00 GMT", Advice::NoTime),
            ("0", Advice::NoTime),
            ("-1", Advice::NoTime),
            ("1.5", Advice::NoTime),
            ("soon", Advice::NoTime),
            ("", Advice::NoTime),
            ("99999999999999999999999", Advice::NoTime),
        ] {
            assert_eq!(parsed(RETRY_AFTER, value), Some(advice), "{value:?}");
        }
    }

    #[test]
    fn the_headers_of_vendors_are_read_after_retry_after() {
        assert_eq!(parsed(RETRY_AFTER_MS, "3000"), Some(Advice::Millis(Duration::from_secs(3))));
        let at = WallTime::VIRTUAL_START.since_unix().as_secs() + 4;
        assert_eq!(parsed(RATE_LIMIT_RESET, &at.to_string()), Some(Advice::Reset(Duration::from_secs(4))));
        assert_eq!(parsed(RATE_LIMIT_RESET, "60"), None, "a reset in the past advises nothing");
        assert_eq!(parsed("x-other", "3"), None);
        let both = |name: &str| Some(if name == RETRY_AFTER { "2" } else { "9000" });
        let advice = Advice::parse(both, WallTime::VIRTUAL_START);
        assert_eq!(advice, Some(Advice::Seconds(Duration::from_secs(2))));
    }
}
