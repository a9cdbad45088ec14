//! resilience4j: configuration of Spring Boot in YAML.
//!
//! Source: resilience4j/resilience4j `resilience4j-framework-common/src/main/java/io/github/resilience4j/common/{retry,circuitbreaker,bulkhead}`,
//! (`CommonRetryConfigurationProperties`, `CommonCircuitBreakerConfigurationProperties`: the names), `resilience4j-core/src/main/java/io/github/
//! resilience4j/core/IntervalFunction.java` (refused values).

use std::fmt::Write as _;
use std::time::Duration;

use crate::described::{Described, Format, percent};

pub(crate) const FORMAT: Format = Format {
    name: "resilience4j",
    what: "resilience4j, YAML of Spring Boot",
    used_by: &["resilience4j"],
    nearest: "preset:resilience4j+fixed-window",
    comment: Some("#"),
    write,
};

/// Minimum duration that resilience4j accepts in a setting, such as the wait before a retry (`IntervalFunctionCompanion.checkInterval`).
const LEAST: Duration = Duration::from_millis(1);

fn write(settings: &mut Described) -> String {
    let attempts = settings.count("max-attempts").unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs());
    settings.set("max-attempts", attempts);
    if attempts > 1 {
        waits(settings);
    } else {
        settings.settle("backoff.");
    }
    settings.fixed(
        "retry-on",
        "any",
        "resilience4j retries exceptions, not statuses; list in retry-exceptions those that your HTTP client throws for these statuses",
    );
    settings.fixed(
        "retry-after",
        "ignore",
        "resilience4j ignores advice such as Retry-After and waits for its own backoff",
    );
    settings.settle("advice");
    let retry = settings.lines.iter().map(|(key, value)| format!("        {key}: {value}\n"));
    let retry = retry.collect::<Vec<_>>().concat();
    let mut text = format!("resilience4j:\n  retry:\n    instances:\n      backend:\n{retry}");
    text += &breaker(settings);
    if settings.has("fixed-window") {
        let window = settings.read("fixed-window.window");
        let _ = writeln!(
            text,
            "  bulkhead:\n    instances:\n      backend:\n        max-concurrent-calls: {window}"
        );
        settings.note(
            "fixed-window.window",
            "resilience4j rejects a call that finds no free slot within max-wait-duration; here it waits without limit",
        );
    }
    if let Some(most) = settings.limit("attempt-timeout") {
        if most < LEAST {
            settings.note("attempt-timeout", "a timeout of resilience4j must be at least 1 ms");
        }
        let _ = writeln!(
            text,
            "  timelimiter:\n    instances:\n      backend:\n        timeout-duration: {}",
            millis(most.max(LEAST))
        );
    }
    if settings.limit("max-time").is_some() {
        settings
            .note("max-time", "the time limiter of resilience4j limits one call, not all attempts of an op");
    }
    text
}

fn waits(settings: &mut Described) {
    let typed = settings.duration("backoff.base");
    // A wait between 0 and 1 ms is raised to 1 ms, because an application with a shorter wait would not start. A wait of 0 is allowed.
    let base = if typed.is_zero() { typed } else { typed.max(LEAST) };
    if base != typed {
        settings.note("backoff.base", "a wait of resilience4j must be at least 1 ms");
    }
    settings.set("wait-duration", millis(base));
    let growth = settings.read("backoff.growth");
    let cap = settings.cap();
    if cap.is_some_and(|cap| cap < LEAST) {
        settings.note("backoff.cap", "a wait of resilience4j must be at least 1 ms");
    }
    let cap = cap.map(|cap| cap.max(LEAST));
    let factor = settings.number("backoff.factor");
    let grows = !base.is_zero() && growth != "constant";
    if grows {
        match growth.as_str() {
            "truncated" => {}
            "exponential" if libm::trunc(factor).to_bits() == factor.to_bits() => {}
            "exponential" => settings.note(
                "backoff.growth",
                "resilience4j truncates each wait to whole milliseconds (`truncated`)",
            ),
            _ => settings.note("backoff.growth", "waits of resilience4j are constant or exponential"),
        }
        settings.set("enable-exponential-backoff", true);
        settings.set("exponential-backoff-multiplier", factor);
        if let Some(cap) = cap {
            settings.set("exponential-max-wait-duration", millis(cap));
        }
    } else if cap.is_some_and(|cap| cap < base) {
        settings.note("backoff.cap", "resilience4j has no maximum for constant waits");
    }
    let spread = settings.read("backoff.spread");
    match spread.split_once('|') {
        _ if spread == "none" || base.is_zero() => {}
        Some(("around", mut share)) => {
            if share == "1" {
                settings.note(
                    "backoff.spread",
                    "randomized-wait-factor of resilience4j must be below 1, so 0.999 is written",
                );
                share = "0.999";
            }
            settings.set("enable-randomized-wait", true);
            settings.set("randomized-wait-factor", share);
            if grows && cap.is_some() {
                let why = "resilience4j applies the maximum wait after the jitter";
                settings.fixed("backoff.cap-applies", "after-spread", why);
            }
        }
        _ => settings
            .note("backoff.spread", "resilience4j supports only jitter around the wait (`around|0.5`)"),
    }
    settings.cuts_to_milliseconds("resilience4j waits a whole number of milliseconds");
}

fn breaker(settings: &mut Described) -> String {
    if !settings.has("ratio-breaker") {
        return String::new();
    }
    let threshold = percent(settings.number("ratio-breaker.ratio"));
    let calls = settings.count("ratio-breaker.calls").unwrap_or(0);
    let window = settings.duration("ratio-breaker.window");
    if calls == 0 && window.subsec_nanos() != 0 {
        settings
            .note("ratio-breaker.window", "a time window of resilience4j must be a whole number of seconds");
    }
    let (kind, size) = match calls {
        0 => ("TIME_BASED", window.as_secs().max(1)),
        calls => ("COUNT_BASED", calls.into()),
    };
    let (least, trials) = (settings.read("ratio-breaker.least"), settings.read("ratio-breaker.trials"));
    let open = settings.duration("ratio-breaker.open");
    if open < LEAST {
        settings
            .note("ratio-breaker.open", "wait-duration-in-open-state of resilience4j must be at least 1 ms");
    }
    settings.fixed("ratio-breaker.when-open", "give-up", "an open breaker of resilience4j fails the attempt");
    format!(
        "  circuitbreaker:\n    instances:\n      backend:\n        failure-rate-threshold: {threshold}\n        sliding-window-type: {kind}\n        \
         sliding-window-size: {size}\n        minimum-number-of-calls: {least}\n        wait-duration-in-open-state: {}\n        \
         permitted-number-of-calls-in-half-open-state: {trials}\n",
        millis(open.max(LEAST))
    )
}

fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

#[cfg(test)]
mod tests {
    use crate::tests::{is_yaml, left_out, written};

    #[test]
    fn the_preset_is_an_instance() {
        let text = written(
            "preset:resilience4j,interval=exponential,cap=30s,attempt-timeout=2s,max-attempts=5+ratio-breaker:calls=100+fixed-window:window=25",
            "resilience4j",
        );
        insta::assert_snapshot!(text, @r#"
        resilience4j:
          retry:
            instances:
              backend:
                max-attempts: 5
                wait-duration: 500ms
                enable-exponential-backoff: true
                exponential-backoff-multiplier: 1.5
                exponential-max-wait-duration: 30000ms
          circuitbreaker:
            instances:
              backend:
                failure-rate-threshold: 10
                sliding-window-type: COUNT_BASED
                sliding-window-size: 100
                minimum-number-of-calls: 100
                wait-duration-in-open-state: 5000ms
                permitted-number-of-calls-in-half-open-state: 1
          bulkhead:
            instances:
              backend:
                max-concurrent-calls: 25
          timelimiter:
            instances:
              backend:
                timeout-duration: 2000ms
        "#);
        assert!(is_yaml(&text));
        assert!(is_yaml(&written("preset:resilience4j,interval=random", "resilience4j")));
        assert_eq!(left_out("preset:resilience4j,interval=random", "resilience4j"), "");
    }

    #[test]
    fn no_value_is_written_that_keeps_an_application_from_starting() {
        let text = written(
            "backoff:base=100us,cap=500us,spread=around|1,max-attempts=3,attempt-timeout=1us+ratio-breaker:open=0",
            "resilience4j",
        );
        for line in [
            "wait-duration: 1ms",
            "exponential-max-wait-duration: 1ms",
            "randomized-wait-factor: 0.999",
            "wait-duration-in-open-state: 1ms",
            "timeout-duration: 1ms",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let at_once = written("backoff:base=0,spread=around|0.5,max-attempts=3", "resilience4j");
        assert!(!at_once.contains("randomized"), "{at_once}");
        insta::assert_snapshot!(left_out("backoff:base=100us,cap=2s,spread=around|0.5,max-attempts=3,retry-on=any,retry-after=ignore", "resilience4j"), @r#"
        `base=100us`: a wait of resilience4j must be at least 1 ms
        `cap-applies=before-spread`: resilience4j applies the maximum wait after the jitter
        "#);
    }

    #[test]
    fn settings_that_resilience4j_lacks_are_listed_in_order() {
        insta::assert_snapshot!(left_out("preset:openai,growth=linear", "resilience4j"), @r#"
        `growth=linear`: waits of resilience4j are constant or exponential
        `spread=below|0.25`: resilience4j supports only jitter around the wait (`around|0.5`)
        `retry-after=exact`: resilience4j ignores advice such as Retry-After and waits for its own backoff
        `retry-on=408|409|429|5xx|timeout|transport`: resilience4j retries exceptions, not statuses; list in retry-exceptions those that your HTTP client throws for these statuses
        `hints=x-should-retry`: resilience4j has no equivalent of this parameter
        "#);
    }
}
