//! Parameters that apply to a whole strategy or layer. In the strategy text, they may be set on any of its parts.

use std::time::Duration;

use crate::hint_rule::HintRule;
use crate::method::Methods;
use crate::retry_on::RetryOn;
use crate::rules::{Classifications, FailureKind, MaxRetries, MaxTime, Rules, UNLIMITED_RETRIES};
use crate::{AdviceForms, AdviceRule, ResponseParser};
use vocabulary::{Parameter, ParameterInfo};

#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) max_attempts: u32,
    pub(crate) advice_forms: AdviceForms,
    pub(crate) advice: AdviceRule,
    retry_on: RetryOn,
    throttle_on: RetryOn,
    advice_on: RetryOn,
    hints: HintRule,
    max_retries: MaxRetries,
    max_time: MaxTime,
    attempt_timeout: Duration,
}

/// Default values of the parameters `retry-on` and `throttle-on`. They select outcomes by their status, as the test
/// harness counts it, not by status code.
const RETRIED: &str = "rejected|failed";
const THROTTLED: &str = "rejected";

const READ_ON: &str = "any";

impl Default for Common {
    fn default() -> Self {
        Self {
            max_attempts: u32::MAX,
            advice_forms: AdviceForms::default(),
            advice: AdviceRule::default(),
            retry_on: RetryOn::constant(RETRIED),
            throttle_on: RetryOn::constant(THROTTLED),
            advice_on: RetryOn::constant(READ_ON),
            hints: HintRule::default(),
            max_retries: UNLIMITED_RETRIES,
            max_time: MaxTime::default(),
            attempt_timeout: Duration::ZERO,
        }
    }
}

pub(crate) const COMMON: &[Parameter<Common>] = &[
    Parameter::count(
        "max-attempts",
        "maximum number of attempts of an op, the first one included",
        1..=u32::MAX,
        |common| &mut common.max_attempts,
    ),
    Parameter::choice(
        "retry-after",
        "how the wait that the server advises (Retry-After) is used: wait at least that long (`floor`), \
         exactly that long (`exact`), that long and then its own wait (`add`), or ignore it",
        |common| &mut common.advice.heeded,
    ),
    Parameter::text(
        "advice",
        "headers from which the advised wait is read, and the forms of their values; the first header that \
         is present counts",
        |common| &mut common.advice_forms,
    ),
    Parameter::text("advice-on", "answers in which the client looks for an advised wait", |common| {
        &mut common.advice_on
    }),
    Parameter::text("advice-limit", "longest advised wait that the client follows", |common| {
        &mut common.advice.limit
    }),
    Parameter::text("advice-beyond", "reaction to an advised wait longer than `advice-limit`", |common| {
        &mut common.advice.beyond
    }),
    Parameter::text("advice-zero", "reaction to an advised wait of zero", |common| &mut common.advice.zero),
    Parameter::text("advice-past", "reaction if the server advises a time in the past", |common| {
        &mut common.advice.past
    }),
    Parameter::text("advice-negative", "reaction if the advised wait is negative", |common| {
        &mut common.advice.negative
    }),
    Parameter::text("advice-unreadable", "reaction if the advised wait cannot be read", |common| {
        &mut common.advice.unreadable
    }),
    Parameter::text("advice-missing", "reaction to a throttling answer that advises no wait", |common| {
        &mut common.advice.missing
    }),
    Parameter::number(
        "advice-stretch",
        "maximum share by which the advised wait is randomly lengthened",
        0.0..=10.0,
        |common| &mut common.advice.stretch,
    ),
    Parameter::number(
        "advice-shrink",
        "maximum share by which the advised wait is randomly shortened",
        0.0..=1.0,
        |common| &mut common.advice.shrink,
    ),
    Parameter::duration("advice-plus", "maximum random time that is added to the advised wait", |common| {
        &mut common.advice.plus
    }),
    Parameter::text(
        "advice-clamp",
        "maximum time by which the advised wait may exceed the client's own back-off",
        |common| &mut common.advice.clamp,
    ),
    Parameter::choice(
        "advice-then",
        "effect of an advised wait on the back-off: it goes on as after a wait of its own (`go-on`), starts \
         anew (`restart`), or pauses, so that its next wait is the one that the advice replaced (`pause`)",
        |common| &mut common.advice.then,
    ),
    Parameter::text("retry-on", "outcomes after which an op is retried", |common| &mut common.retry_on),
    Parameter::text("throttle-on", "retriable outcomes that count as throttling", |common| {
        &mut common.throttle_on
    }),
    Parameter::text(
        "hints",
        "headers of an answer that decide whether to retry, before any other rule",
        |common| &mut common.hints,
    ),
    Parameter::count(
        "max-connect",
        "maximum number of retries of an op after refused connections",
        0..=u32::MAX,
        |common| &mut common.max_retries[FailureKind::Connect as usize],
    ),
    Parameter::count(
        "max-read",
        "maximum number of retries of an op after connections that ended without an answer",
        0..=u32::MAX,
        |common| &mut common.max_retries[FailureKind::Read as usize],
    ),
    Parameter::count(
        "max-status",
        "maximum number of retries of an op after answers, such as a 503",
        0..=u32::MAX,
        |common| &mut common.max_retries[FailureKind::Answer as usize],
    ),
    Parameter::duration(
        "max-time",
        "maximum time of an op, with all its retries; 0 for no limit",
        |common| &mut common.max_time.limit,
    ),
    Parameter::choice(
        "over-time",
        "what happens to a retry that would begin after `max-time`: the op is given up at once, the wait is \
         shortened, or the retry is sent as the last one; `last-unless-advised` sends it unless the server \
         advised the wait, and `last-unless-advised-seconds` counts the time before an advised wait in whole \
         seconds",
        |common| &mut common.max_time.when,
    ),
    Parameter::duration(
        "attempt-timeout",
        "timeout of an attempt, if it is shorter than `--timeout`; 0 uses `--timeout`",
        |common| &mut common.attempt_timeout,
    ),
];

impl Common {
    pub(crate) fn rules(&self, methods: Methods, reading: &ResponseParser) -> Rules {
        let reasons = &reading.reasons;
        Rules {
            max_attempts: self.max_attempts,
            advice: self.advice.clone(),
            advice_on: (!self.advice_on.is_typed(READ_ON)).then(|| self.advice_on.compile(methods, reasons)),
            reads_outer: self.advice_forms != reading.forms,
            max_retries: self.max_retries,
            max_time: Some(self.max_time).filter(|max_time| !max_time.limit.is_zero()),
            classifications: self.has_classifications().then(|| Classifications {
                hints: self.hints.clone(),
                retry_on: self.retry_on.compile(methods, reasons),
                throttle_on: self.throttle_on.compile(methods, reasons),
            }),
        }
    }

    pub(crate) fn has_classifications(&self) -> bool {
        !self.hints.is_empty() || !self.retry_on.is_typed(RETRIED) || !self.throttle_on.is_typed(THROTTLED)
    }

    pub(crate) fn attempt_timeout(&self) -> Option<Duration> {
        Some(self.attempt_timeout).filter(|timeout| !timeout.is_zero())
    }

    pub(crate) fn judges_by(&self) -> [&RetryOn; 3] {
        [&self.retry_on, &self.throttle_on, &self.advice_on]
    }

    pub(crate) fn needs_hints(&self) -> bool {
        !self.hints.is_empty()
    }
}

pub(crate) fn common_info(common: &mut Common) -> Vec<ParameterInfo> {
    COMMON.iter().map(|parameter| parameter.info(common)).collect()
}
