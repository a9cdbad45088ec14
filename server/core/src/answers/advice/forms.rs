//! List of the forms of retry advice: ways to state in an answer when the client should retry.

use vocabulary::ParameterInfo;

use crate::answers::Unit;
use crate::answers::advice::settings::{PARAMETERS, Settings};

/// All forms of retry advice, in the order of the help texts. The list does not contain `none` (no advice).
pub static ADVICE_FORMS: &[AdviceEntry] = &[
    time(
        "seconds",
        "retry-after",
        Unit::Seconds,
        None,
        "wait in whole seconds, as in `Retry-After`",
        "RFC 9110, section 10.2.3",
    ),
    time(
        "decimal",
        "retry-after",
        Unit::Seconds,
        Some(1),
        "wait in seconds with decimals, such as `2.0`",
        "Shopify, REST Admin API rate limits: `Retry-After: 2.0`",
    ),
    time(
        "ms",
        "retry-after-ms",
        Unit::Millis,
        None,
        "wait in whole milliseconds",
        "openai/openai-python `src/openai/_base_client.py`, a client that reads it",
    ),
    time(
        "date",
        "retry-after",
        Unit::Date,
        None,
        "time of the retry as an HTTP date",
        "RFC 9110, sections 5.6.7 and 10.2.3",
    ),
    time(
        "epoch",
        "x-ratelimit-reset",
        Unit::Epoch,
        Some(0),
        "time of the retry as Unix time, in seconds",
        "github/docs, REST API rate limits: `x-ratelimit-reset`",
    ),
    time(
        "delta",
        "ratelimit-reset",
        Unit::Seconds,
        None,
        "wait in whole seconds, with the number of remaining requests",
        "draft-ietf-httpapi-ratelimit-headers-07, RateLimit-Reset",
    ),
    time(
        "go",
        "x-retry-in",
        Unit::Go,
        Some(3),
        "wait in the notation of Go durations, such as `1m30s`",
        "traefik/traefik `pkg/middlewares/ratelimiter/rate_limiter.go`: `X-Retry-In: 100ms`",
    ),
    time(
        "rfc3339",
        "x-ratelimit-reset",
        Unit::Rfc3339,
        Some(0),
        "time of the retry in the format of RFC 3339",
        "Anthropic, API rate limits: `anthropic-ratelimit-requests-reset`",
    ),
    AdviceEntry {
        name: "ietf",
        summary: "headers `RateLimit` and `RateLimit-Policy` with every limit, in every answer",
        source: "draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4",
        says: Says::RateLimit,
        header: "ratelimit",
        places: None,
    },
    AdviceEntry {
        name: "problem",
        summary: "JSON body (application/problem+json) that names the exceeded limit, unless another body is set",
        source: "draft-ietf-httpapi-ratelimit-headers-10, section 5; RFC 9457",
        says: Says::Problem,
        header: "content-type",
        places: None,
    },
];

const fn time(
    name: &'static str,
    header: &'static str,
    unit: Unit,
    places: Option<u32>,
    summary: &'static str,
    source: &'static str,
) -> AdviceEntry {
    AdviceEntry { name, summary, source, says: Says::Time(unit), header, places }
}

/// Entry in the list of advice forms. An advice form is a way to state in an answer when the client should retry.
#[derive(Debug)]
pub struct AdviceEntry {
    pub name: &'static str,
    pub summary: &'static str,
    /// Source of the advice form: its specification, or a vendor or library that uses it.
    pub source: &'static str,
    pub(super) says: Says,
    pub header: &'static str,
    /// Default number of digits after the decimal point of an advised time. `None` if the advice form has no parameter `places`.
    pub(super) places: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    Time(Unit),
    RateLimit,
    Problem,
}

impl PartialEq for AdviceEntry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl AdviceEntry {
    pub fn parameters(&self) -> Vec<ParameterInfo> {
        let mut settings = self.settings();
        let own = PARAMETERS.iter().filter(|parameter| self.has(parameter.key));
        own.map(|parameter| parameter.info(&mut settings)).collect()
    }

    pub(super) fn settings(&self) -> Settings {
        Settings::new(self.header, self.places.unwrap_or(0))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        match key {
            "share" => true,
            "type" => self.says == Says::Problem,
            _ if self.says == Says::Problem => false,
            "places" => self.places.is_some(),
            "skew" => matches!(self.says, Says::Time(unit) if unit.is_moment()),
            _ => true,
        }
    }

    pub(super) fn max_decimals(&self) -> u8 {
        match self.says {
            Says::Time(unit) => unit.max_decimals(),
            _ => 0,
        }
    }
}
