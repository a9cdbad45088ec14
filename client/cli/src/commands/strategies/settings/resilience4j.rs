//! resilience4j: the YAML of Spring Boot.
//!
//! Source: resilience4j/resilience4j `resilience4j-framework-common/src/main/java/io/github/resilience4j/common/{retry,circuitbreaker,bulkhead}`,
//! `resilience4j-core/.../IntervalFunction.java`.

use std::fmt::Write as _;
use std::time::Duration;

use super::described::{BACKOFF, COMMON, Described, percent};
use super::format::Format;

pub(super) const FORMAT: Format = Format {
    name: "resilience4j",
    what: "resilience4j, YAML of Spring Boot",
    used_by: &["resilience4j"],
    comment: Some("#"),
    write,
};

const NAME: &str = "resilience4j";
const BREAKER: &str = "ratio-breaker";
const WINDOW: &str = "fixed-window";

fn write(settings: &mut Described) -> String {
    let mut text = "resilience4j:\n  retry:\n    instances:\n      backend:\n".to_owned();
    let mut set = |key: &str, value: &str| {
        let _ = writeln!(text, "        {key}: {value}");
    };
    let attempts = settings.count(COMMON, "max-attempts").unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs());
    set("max-attempts", &attempts.to_string());
    if attempts > 1 {
        waits(settings, &mut set);
    } else {
        settings.settle(BACKOFF, "");
    }
    settings.fixed(
        COMMON,
        "retry-on",
        &["any"],
        "resilience4j sees exceptions, no statuses: name in retry-exceptions those that your HTTP client throws for these",
    );
    settings.reads_no_advice(NAME);
    breaker(settings, &mut text);
    if settings.has(WINDOW) {
        let window = settings.read(WINDOW, "window");
        let _ = writeln!(
            text,
            "  bulkhead:\n    instances:\n      backend:\n        max-concurrent-calls: {window}"
        );
        settings.note(
            WINDOW,
            "window",
            "a call that finds no place is refused after max-wait-duration; here it waits",
        );
    }
    if let Some(most) = settings.limit("attempt-timeout") {
        let most = millis(most);
        let _ = writeln!(
            text,
            "  timelimiter:\n    instances:\n      backend:\n        timeout-duration: {most}"
        );
    }
    if settings.limit("max-time").is_some() {
        settings.note(COMMON, "max-time", "its time limiter is for one call, not for all attempts of an op");
    }
    text
}

fn waits(settings: &mut Described, set: &mut dyn FnMut(&str, &str)) {
    let base = settings.duration(BACKOFF, "base").unwrap_or_default();
    set("wait-duration", &millis(base));
    let growth = settings.read(BACKOFF, "growth");
    let cap = settings.cap();
    let factor = settings.number(BACKOFF, "factor");
    let grows = match growth.as_str() {
        _ if base.is_zero() => false,
        "constant" => false,
        "truncated" => true,
        "exponential" => {
            if libm::trunc(factor).to_bits() != factor.to_bits() {
                settings.note(
                    BACKOFF,
                    "growth",
                    "resilience4j cuts each wait to whole milliseconds (`truncated`)",
                );
            }
            true
        }
        _ => {
            settings.note(BACKOFF, "growth", "waits of resilience4j are constant or exponential");
            true
        }
    };
    if grows {
        set("enable-exponential-backoff", "true");
        set("exponential-backoff-multiplier", &factor.to_string());
        if let Some(cap) = cap {
            set("exponential-max-wait-duration", &millis(cap));
        }
    } else if cap.is_some_and(|cap| cap < base) {
        settings.note(BACKOFF, "cap", "a constant wait of resilience4j has no longest one");
    }
    let spread = settings.read(BACKOFF, "spread");
    match spread.split_once('|') {
        Some(("around", share)) => {
            set("enable-randomized-wait", "true");
            set("randomized-wait-factor", share);
            if share == "1" {
                settings.note(BACKOFF, "spread", "randomized-wait-factor of resilience4j is less than 1");
            }
        }
        _ if spread == "none" || base.is_zero() => {}
        _ => settings.note(BACKOFF, "spread", "resilience4j spreads around the wait only (`around|0.5`)"),
    }
    settings.fixed(BACKOFF, "grain", &["cut-ms", "none"], "resilience4j waits whole milliseconds");
}

fn breaker(settings: &mut Described, text: &mut String) {
    if !settings.has(BREAKER) {
        return;
    }
    let threshold = percent(settings.number(BREAKER, "ratio"));
    let calls = settings.count(BREAKER, "calls").unwrap_or(0);
    let window = settings.duration(BREAKER, "window").unwrap_or_default();
    let (kind, size) = if calls == 0 {
        if window.subsec_nanos() != 0 {
            settings.note(BREAKER, "window", "a window of resilience4j has whole seconds");
        }
        ("TIME_BASED", window.as_secs().max(1))
    } else {
        ("COUNT_BASED", u64::from(calls))
    };
    let (least, trials) = (settings.read(BREAKER, "least"), settings.read(BREAKER, "trials"));
    let open = millis(settings.duration(BREAKER, "open").unwrap_or_default());
    settings.fixed(BREAKER, "when-open", &["give-up"], "an open breaker of resilience4j ends the attempt");
    let _ = write!(
        text,
        "  circuitbreaker:\n    instances:\n      backend:\n        failure-rate-threshold: {threshold}\n        sliding-window-type: {kind}\n        \
         sliding-window-size: {size}\n        minimum-number-of-calls: {least}\n        wait-duration-in-open-state: {open}\n        \
         permitted-number-of-calls-in-half-open-state: {trials}\n"
    );
}

/// A duration as Spring Boot reads it.
fn millis(duration: Duration) -> String {
    format!("{}ms", duration.as_millis())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{is_yaml, left_out, written};

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
    fn what_resilience4j_has_not_is_told_in_order() {
        insta::assert_snapshot!(left_out("preset:openai,growth=linear+token-bucket", "resilience4j"), @r#"
        `growth=linear`: waits of resilience4j are constant or exponential
        `spread=below|0.25`: resilience4j spreads around the wait only (`around|0.5`)
        `token-bucket:rate=5,burst=10`: resilience4j has nothing like it
        `retry-after=exact`: resilience4j reads no advice: it waits as it would without
        `retry-on=408|409|429|5xx|timeout|transport`: resilience4j sees exceptions, no statuses: name in retry-exceptions those that your HTTP client throws for these
        `hints=x-should-retry`: resilience4j has no setting for it
        "#);
    }
}
