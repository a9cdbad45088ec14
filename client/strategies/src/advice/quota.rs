//! Quotas of requests that servers state in the headers of their answers, in accepted ones as well as in rejections.
//!
//! Sources: draft-ietf-httpapi-ratelimit-headers (`RateLimit`, and the three headers of its drafts before the eighth), and the vendors'
//! own headers, such as GitHub's `x-ratelimit-remaining` and Anthropic's `anthropic-ratelimit-requests-remaining`. A reset is a time in
//! seconds or a Go duration, or a moment: an HTTP date, a time of RFC 3339, or a Unix time in seconds or milliseconds.

use std::cmp::Reverse;
use std::time::Duration;

use vocabulary::WallTime;

use super::form::{RECENT, date, go_duration, rfc3339};
use super::forms::MAX_TEXT;
use super::{Advice, AdviceHeaders, MAX_READ, rate_limit};

/// Quota of requests, as a server states it in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Number of requests that the server accepts while the quota is full.
    pub limit: u64,
    /// Number of requests that the server still accepts, from 0 to `limit`.
    pub remaining: u64,
    /// Time until the quota is full again: the end of a time window, or the time until a bucket is full. `None` if the server does not
    /// state it.
    pub reset: Option<Duration>,
    /// True if the server states the reset in whole seconds. The exact time may then differ by up to a second.
    pub is_whole: bool,
}

/// Names of the headers of a quota. The first one of `resets` that is present counts.
struct Names {
    limit: &'static str,
    remaining: &'static str,
    resets: &'static [&'static str],
}

const NAMES: [Names; 5] = [
    Names { limit: "ratelimit-limit", remaining: "ratelimit-remaining", resets: &["ratelimit-reset"] },
    Names {
        limit: "x-ratelimit-limit",
        remaining: "x-ratelimit-remaining",
        resets: &["x-ratelimit-reset-after", "x-ratelimit-reset"],
    },
    Names {
        limit: "x-ratelimit-limit-requests",
        remaining: "x-ratelimit-remaining-requests",
        resets: &["x-ratelimit-reset-requests"],
    },
    Names {
        limit: "anthropic-ratelimit-requests-limit",
        remaining: "anthropic-ratelimit-requests-remaining",
        resets: &["anthropic-ratelimit-requests-reset"],
    },
    Names {
        limit: "x-rate-limit-limit",
        remaining: "x-rate-limit-remaining",
        resets: &["x-rate-limit-reset"],
    },
];

impl Quota {
    /// Creates a quota. More than `limit` cannot remain.
    pub(super) fn new(limit: u64, remaining: u64, reset: Option<Duration>, is_whole: bool) -> Self {
        let reset = reset.map(|reset| reset.min(MAX_READ));
        Self { limit, remaining: remaining.min(limit), reset, is_whole }
    }

    /// Reads the quota in the headers of an answer that was received at calendar time `now`. If there are several, the one with the fewest
    /// remaining requests counts.
    pub(crate) fn read(headers: &(impl AdviceHeaders + ?Sized), now: WallTime) -> Option<Self> {
        let text = |name| headers.text(name).map(str::trim).filter(|text| text.len() <= MAX_TEXT);
        let structured =
            text("ratelimit").and_then(|limits| rate_limit::quota(limits, text("ratelimit-policy")));
        NAMES.iter().fold(structured, |scarcest, names| {
            let remaining = text(names.remaining).and_then(count);
            let quota = remaining.and_then(|remaining| {
                let limit = count(text(names.limit)?)?;
                let reset =
                    names.resets.iter().find_map(|name| text(name)).and_then(|reset| reset_of(reset, now));
                let (reset, is_whole) = reset.unzip();
                Some(Self::new(limit, remaining, reset, is_whole.unwrap_or(false)))
            });
            Self::scarcer(scarcest, quota)
        })
    }

    /// Returns the quota with fewer remaining requests. Of two with equally many, the one with the later reset counts, so that both are
    /// full again.
    pub(super) fn scarcer(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|quota| (quota.remaining, Reverse(quota.reset)))
    }
}

/// Parses a number of requests. Decimals and whatever follows a separator are ignored: some servers write the limit with its window, as
/// in `100, 100;w=60`.
fn count(text: &str) -> Option<u64> {
    let digits = text.split([',', ';', '.', ' ']).next()?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Parses the time until a reset, and whether it has whole seconds. A moment in the past is a time of zero.
fn reset_of(text: &str, now: WallTime) -> Option<(Duration, bool)> {
    let (wait, is_whole) = if let Some(moment) = moment(text) {
        let is_whole = |time: WallTime| time.since_unix().subsec_nanos() == 0;
        (now.until(moment).unwrap_or_default(), is_whole(moment) || is_whole(now))
    } else {
        let wait = match number(text) {
            Some(wait) => wait,
            None => match go_duration(text)? {
                Advice::After(wait) => wait,
                _ => Duration::ZERO,
            },
        };
        (wait, wait.subsec_nanos() == 0)
    };
    Some((wait, is_whole && !text.contains('.')))
}

fn moment(text: &str) -> Option<WallTime> {
    match number(text) {
        Some(number) if number >= RECENT * 1000 => Some(WallTime::from_unix(number / 1000)),
        Some(number) if number >= RECENT => Some(WallTime::from_unix(number)),
        Some(_) => None,
        None => rfc3339(text).or_else(|| date(text)),
    }
}

/// Parses a number as seconds; a negative one is zero.
fn number(text: &str) -> Option<Duration> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(Duration::try_from_secs_f64(number.max(0.0)).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-22 10:00:00.5 UTC.
    const NOW: WallTime = WallTime::from_unix(Duration::from_millis(1_795_341_600_500));

    type Headers<'a> = &'a [(&'a str, &'a str)];

    fn read(headers: Headers<'_>) -> Option<Quota> {
        Quota::read(headers, NOW)
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with what was read")]
    fn quota(limit: u64, remaining: u64, reset_ms: u64, is_whole: bool) -> Option<Quota> {
        Some(Quota { limit, remaining, reset: Some(Duration::from_millis(reset_ms)), is_whole })
    }

    fn triple(reset: &str) -> Option<Quota> {
        read(&[("ratelimit-limit", "10"), ("ratelimit-remaining", "3"), ("ratelimit-reset", reset)])
    }

    #[test]
    fn each_reset_has_its_form() {
        for (reset, after_ms, is_whole) in [
            ("60", 60_000, true),
            ("0", 0, true),
            ("1.5", 1_500, false),
            ("2.000", 2_000, false),
            ("6m0s", 360_000, true),
            ("1m30.5s", 90_500, false),
            ("12ms", 12, false),
            ("2026-11-22T10:00:05Z", 4_500, true),
            ("2026-11-22T10:00:05.25Z", 4_750, false),
            ("Sun, 22 Nov 2026 10:00:03 GMT", 2_500, true),
            ("1795341605", 4_500, true),
            ("1795341605.250", 4_750, false),
            ("1795341605250", 4_750, false),
            ("1795341605000", 4_500, true),
        ] {
            assert_eq!(triple(reset), quota(10, 3, after_ms, is_whole), "{reset}");
        }
    }

    /// A clock in whole seconds, such as that of the header `Date`, makes every moment inexact.
    #[test]
    fn moments_by_a_clock_of_seconds_are_whole() {
        let now = WallTime::from_unix(Duration::from_hours(498_706));
        let headers: Headers<'_> = &[
            ("x-ratelimit-limit", "10"),
            ("x-ratelimit-remaining", "3"),
            ("x-ratelimit-reset", "1795341605250"),
        ];
        assert_eq!(Quota::read(headers, now), quota(10, 3, 5_250, true));
    }

    #[test]
    fn each_server_has_its_names() {
        let limits = ("ratelimit-policy", r#""minute";q=100;w=60, "day";q=1000;w=86400"#);
        for (headers, wanted) in [
            (&[("ratelimit", r#""minute";r=7;t=30"#), limits][..], quota(100, 7, 30_000, true)),
            (
                &[("ratelimit", r#""minute";r=7;t=30, "day";r=6;t=999"#), limits],
                quota(1000, 6, 999_000, true),
            ),
            (&[("ratelimit", "limit=100, remaining=7, reset=5")], quota(100, 7, 5_000, true)),
            (
                &[
                    ("x-ratelimit-limit", "5"),
                    ("x-ratelimit-remaining", "4"),
                    ("x-ratelimit-reset", "1795341605"),
                ],
                quota(5, 4, 4_500, true),
            ),
            (
                &[
                    ("x-ratelimit-limit", "5"),
                    ("x-ratelimit-remaining", "4"),
                    ("x-ratelimit-reset", "1795341605.250"),
                    ("x-ratelimit-reset-after", "4.251"),
                ],
                quota(5, 4, 4_251, false),
            ),
            (
                &[
                    ("x-ratelimit-limit-requests", "500"),
                    ("x-ratelimit-remaining-requests", "499"),
                    ("x-ratelimit-reset-requests", "120ms"),
                ],
                quota(500, 499, 120, false),
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-limit", "50"),
                    ("anthropic-ratelimit-requests-remaining", "49"),
                    ("anthropic-ratelimit-requests-reset", "2026-11-22T10:00:02Z"),
                ],
                quota(50, 49, 1_500, true),
            ),
            (
                &[
                    ("x-rate-limit-limit", "15"),
                    ("x-rate-limit-remaining", "0"),
                    ("x-rate-limit-reset", "1795342500"),
                ],
                quota(15, 0, 899_500, true),
            ),
        ] {
            assert_eq!(read(headers), wanted, "{headers:?}");
        }
    }

    #[test]
    fn the_quota_with_the_fewest_remaining_requests_counts() {
        let of = |ours: &str, theirs: &str| {
            read(&[
                ("ratelimit-limit", "10"),
                ("ratelimit-remaining", ours),
                ("ratelimit-reset", "9"),
                ("x-ratelimit-limit-requests", "500"),
                ("x-ratelimit-remaining-requests", theirs),
                ("x-ratelimit-reset-requests", "1s"),
            ])
        };
        assert_eq!(of("3", "2"), quota(500, 2, 1_000, true));
        assert_eq!(of("3", "4"), quota(10, 3, 9_000, true));
        assert_eq!(of("0", "0"), quota(10, 0, 9_000, true), "both are full again after the later reset");
    }

    #[test]
    fn what_is_not_a_quota_is_not_read() {
        for (limit, remaining) in
            [("10", "-1"), ("10", "many"), ("10", ""), ("-10", "1"), ("", "1"), ("ten", "1")]
        {
            let headers: Headers<'_> =
                &[("ratelimit-limit", limit), ("ratelimit-remaining", remaining), ("ratelimit-reset", "1")];
            assert_eq!(read(headers), None, "{limit} {remaining}");
        }
        for headers in [
            &[("ratelimit-remaining", "1"), ("ratelimit-reset", "1")][..],
            &[("ratelimit-limit", "1"), ("ratelimit-reset", "1")],
            &[("ratelimit", r#""a";r=1;t=2"#)],
            &[("ratelimit", "nonsense=")],
            &[("x-ratelimit-limit-minute", "60"), ("x-ratelimit-remaining-minute", "59")],
            &[("x-ms-ratelimit-remaining-subscription-reads", "11999")],
            &[],
        ] {
            assert_eq!(read(headers), None, "{headers:?}");
        }
    }

    #[test]
    fn odd_values_are_bounded() {
        let of = |limit: &str, remaining: &str, reset: &str| {
            read(&[
                ("ratelimit-limit", limit),
                ("ratelimit-remaining", remaining),
                ("ratelimit-reset", reset),
            ])
        };
        assert_eq!(of("10", "99", "1"), quota(10, 10, 1_000, true), "more than the limit cannot remain");
        assert_eq!(of("100, 100;w=60", "7.5", "1"), quota(100, 7, 1_000, true));
        assert_eq!(of("99999999999999999999999", "7", "1"), quota(u64::MAX, 7, 1_000, true));
        for past in ["-5", "-5s", "2026-11-22T09:00:00Z", "1795341000", "Sun, 06 Nov 1994 08:49:37 GMT"] {
            assert_eq!(of("10", "7", past).and_then(|quota| quota.reset), Some(Duration::ZERO), "{past}");
        }
        assert_eq!(of("10", "7", "1e300").and_then(|quota| quota.reset), Some(MAX_READ));
        for unknown in ["soon", "", "inf", "nan"] {
            let quota = of("10", "7", unknown);
            assert_eq!(quota.map(|quota| (quota.remaining, quota.reset)), Some((7, None)), "{unknown}");
        }
        let long = "1".repeat(300);
        assert_eq!(of("10", "7", &long).and_then(|quota| quota.reset), None);
    }

    proptest! {
        #[test]
        fn any_text_is_bounded(
            limit in "[0-9;,. -]{0,24}|\\PC{0,12}",
            remaining in "[0-9;,. -]{0,24}|\\PC{0,12}",
            reset in "-?[0-9]{1,22}(\\.[0-9]{0,12})?(s|ms|h|m3s)?|[0-9TZ:. GMT-]{0,30}|\\PC{0,12}",
            structured in "\"a\";[rt]=-?[0-9]{1,18};[rt]=[0-9]{1,18}|(limit|reset|remaining)=-?[0-9]{1,18}|\\PC{0,20}",
        ) {
            let headers: [(&str, &str); 5] = [
                ("ratelimit-limit", &limit),
                ("ratelimit-remaining", &remaining),
                ("ratelimit-reset", &reset),
                ("ratelimit", &structured),
                ("ratelimit-policy", r#""a";q=10"#),
            ];
            if let Some(quota) = Quota::read(&headers[..], NOW) {
                prop_assert!(quota.remaining <= quota.limit && quota.reset.is_none_or(|reset| reset <= MAX_READ));
            }
        }
    }
}
