//! gRPC: a service config with its retry or hedging policy and retry throttling, in JSON.
//!
//! Source: grpc/proposal `A6-client-retries.md`; grpc/grpc `doc/http-grpc-status-mapping.md`.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use tailback::Grpc;

use crate::described::{Described, Format, LONGEST, seconds};

pub(crate) const FORMAT: Format = Format {
    name: "grpc",
    what: "gRPC, JSON: service config with retryPolicy or hedgingPolicy, and retryThrottling",
    used_by: &["grpc"],
    nearest: "preset:grpc",
    comment: None,
    write,
};

/// Default of a gRPC client's maximum number of attempts. A client that keeps the default reduces larger limits to it.
const MAX_ATTEMPTS: u32 = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServiceConfig {
    method_config: [MethodConfig; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_throttling: Option<RetryThrottling>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MethodConfig {
    name: [AllMethods; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_policy: Option<RetryPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hedging_policy: Option<HedgingPolicy>,
}

/// Entry in the list of method names of a gRPC service config. It contains neither a service nor a method, so it matches every method.
#[derive(Serialize)]
struct AllMethods {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetryPolicy {
    max_attempts: u32,
    initial_backoff: String,
    max_backoff: String,
    backoff_multiplier: f64,
    retryable_status_codes: BTreeSet<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HedgingPolicy {
    max_attempts: u32,
    hedging_delay: String,
    non_fatal_status_codes: BTreeSet<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RetryThrottling {
    max_tokens: u32,
    token_ratio: f64,
}

fn write(settings: &mut Described) -> String {
    let has_copies = settings.most_attempts() > 1;
    let hedges = settings.has("hedging") && has_copies;
    let attempts = settings.count("max-attempts").unwrap_or(u32::MAX);
    if !hedges && attempts > MAX_ATTEMPTS {
        settings.note(
            "max-attempts",
            "gRPC reduces maxAttempts above 5 to 5, unless the client raises this limit",
        );
    }
    let statuses = statuses(settings);
    let hedging_policy = hedges.then(|| hedging(settings, statuses.clone()));
    let retry_policy =
        (!hedges && attempts > 1 && !statuses.is_empty()).then(|| retry(settings, attempts, statuses));
    if retry_policy.is_none() {
        settings.settle("backoff.");
    }
    let timeout = settings.limit("max-time").map(|most| seconds(most) + "s");
    if timeout.is_some() {
        settings.fixed(
            "over-time",
            "shorten",
            "gRPC ends the call at its deadline, even during an attempt or a backoff",
        );
    }
    if settings.limit("attempt-timeout").is_some() {
        settings.note(
            "attempt-timeout",
            "gRPC has no timeout for a single attempt, only a deadline for the whole call",
        );
    }
    advice(settings, hedges);
    let method = MethodConfig { name: [AllMethods {}], timeout, retry_policy, hedging_policy };
    let config = ServiceConfig { method_config: [method], retry_throttling: throttling(settings) };
    // Serialisation never fails, because the config contains only strings and finite numbers.
    serde_json::to_string_pretty(&config).unwrap_or_default() + "\n"
}

fn retry(
    settings: &mut Described,
    max_attempts: u32,
    retryable_status_codes: BTreeSet<String>,
) -> RetryPolicy {
    let mut base = settings.duration("backoff.base");
    if base.is_zero() {
        settings.note("backoff.base", "initialBackoff of gRPC must be above zero, so 1 ms is written");
    }
    base = base.max(Duration::from_millis(1));
    let cap = settings.cap().unwrap_or(LONGEST).max(base);
    let growth = settings.read("backoff.growth");
    let factor = settings.number("backoff.factor");
    if !["exponential", "constant"].contains(&growth.as_str()) {
        settings.note("backoff.growth", "gRPC multiplies each backoff by backoffMultiplier");
    }
    settings.fixed("backoff.spread", "around|0.2", "gRPC varies each backoff by ±20 %");
    settings.fixed(
        "backoff.cap-applies",
        "before-spread",
        "gRPC applies jitter after maxBackoff, so a delay can exceed it",
    );
    RetryPolicy {
        max_attempts: max_attempts.min(i32::MAX.unsigned_abs()),
        initial_backoff: seconds(base) + "s",
        max_backoff: seconds(cap) + "s",
        backoff_multiplier: if growth == "constant" { 1.0 } else { factor },
        retryable_status_codes,
    }
}

fn hedging(settings: &mut Described, mut non_fatal_status_codes: BTreeSet<String>) -> HedgingPolicy {
    let delay = settings.duration("hedging.delay");
    let copies = settings.count("hedging.copies").unwrap_or_default();
    settings.fixed("hedging.after-failure", "next", "gRPC sends the next copy at once when one fails");
    if non_fatal_status_codes.is_empty() {
        settings.note(
            "retry-on",
            "nonFatalStatusCodes of gRPC needs at least one status, so UNAVAILABLE is written",
        );
        non_fatal_status_codes.insert("UNAVAILABLE".to_owned());
    }
    if settings.retries() {
        settings.besides(
            "a gRPC method has either a hedgingPolicy or a retryPolicy, so a hedged call is not retried",
        );
    }
    HedgingPolicy {
        max_attempts: copies.saturating_add(1).min(settings.most_attempts()),
        hedging_delay: seconds(delay) + "s",
        non_fatal_status_codes,
    }
}

fn statuses(settings: &mut Described) -> BTreeSet<String> {
    let retried = settings.retried();
    let mut statuses: BTreeSet<String> = retried.grpc.iter().cloned().collect();
    if ["refused", "closed", "unreadable"].iter().any(|kind| retried.lacks_answer(kind)) {
        statuses.insert("UNAVAILABLE".to_owned());
    }
    if retried.lacks_answer("timeout") {
        settings
            .note("retry-on", "gRPC has no timeout for a single attempt; its deadline ends the whole call");
    }
    // gRPC maps every HTTP status without a mapping of its own to the gRPC status UNKNOWN. If UNKNOWN were retried because of one such HTTP
    // status, all of them would be retried. Therefore, no HTTP status adds UNKNOWN to the retried statuses.
    let mut mapped: BTreeSet<&str> = retried.codes.keys().map(|code| Grpc::of_http(*code).name()).collect();
    let has_others = mapped.remove("UNKNOWN");
    if !mapped.is_empty() {
        let names: Vec<&str> = mapped.iter().copied().collect();
        settings.note("retry-on", format!(
            "gRPC has no HTTP statuses, so they are written as {}; 429, 502, 503 and 504 all become UNAVAILABLE",
            names.join(", ")
        ));
    }
    if has_others {
        settings.note(
            "retry-on",
            "the other HTTP statuses become UNKNOWN in gRPC, which these settings do not retry",
        );
    }
    statuses.extend(mapped.into_iter().map(str::to_owned));
    if !retried.reasons.is_empty() {
        settings.note("retry-on", "gRPC does not read error reasons in response bodies");
    }
    if retried.has_conditions() {
        settings.note(
            "retry-on",
            "gRPC has no conditions on HTTP methods or advice; it has one policy for each method of a service",
        );
    }
    statuses
}

fn advice(settings: &mut Described, hedges: bool) {
    let pushback = "gRPC follows only grpc-retry-pushback-ms and waits exactly that long";
    settings.fixed("retry-after", "exact", pushback);
    if settings.read("retry-after") == "exact" {
        settings.fixed("advice", "grpc-retry-pushback-ms", pushback);
        if !hedges {
            let restarts = "gRPC restarts its backoff after grpc-retry-pushback-ms";
            settings.fixed("advice-then", "restart", restarts);
        }
    }
    settings.settle("advice");
}

fn throttling(settings: &mut Described) -> Option<RetryThrottling> {
    if !settings.has("retry-budget") {
        return None;
    }
    let (most, ratio) = (settings.number("retry-budget.max"), settings.number("retry-budget.ratio"));
    let max_tokens = (1..=1000).rev().find(|tokens| f64::from(*tokens) <= most).unwrap_or(1);
    if f64::from(max_tokens).to_bits() != most.to_bits() {
        settings.note("retry-budget.max", "maxTokens of gRPC must be a whole number from 1 to 1000");
    }
    // gRPC truncates the setting `tokenRatio` of its retry throttling after the third decimal.
    let token_ratio = libm::trunc(ratio * 1000.0 + 1e-9) / 1000.0;
    if (token_ratio - ratio).abs() > 1e-9 {
        settings.note("retry-budget.ratio", "tokenRatio of gRPC has at most three decimals");
    }
    settings.fixed(
        "retry-budget.ask",
        "failure",
        "gRPC checks its retry throttling at the failure, before the backoff",
    );
    settings.fixed(
        "retry-budget.on-empty",
        "fail",
        "gRPC fails the call if retry throttling has too few tokens",
    );
    Some(RetryThrottling { max_tokens, token_ratio })
}

#[cfg(test)]
mod tests {
    use crate::tests::{left_out, written};

    #[test]
    fn the_preset_is_a_service_config() {
        let text = written("preset:grpc,max-attempts=5,ratio=0.1234,max-time=20s", "grpc");
        insta::assert_snapshot!(text, @r#"
        {
          "methodConfig": [
            {
              "name": [
                {}
              ],
              "timeout": "20s",
              "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "maxBackoff": "1s",
                "backoffMultiplier": 2.0,
                "retryableStatusCodes": [
                  "UNAVAILABLE"
                ]
              }
            }
          ],
          "retryThrottling": {
            "maxTokens": 10,
            "tokenRatio": 0.123
          }
        }
        "#);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        insta::assert_snapshot!(left_out("preset:grpc,max-attempts=9,ratio=0.1234", "grpc"), @r#"
        `ratio=0.1234`: tokenRatio of gRPC has at most three decimals
        `max-attempts=9`: gRPC reduces maxAttempts above 5 to 5, unless the client raises this limit
        "#);
    }

    #[test]
    fn a_hedged_call_has_a_policy_of_its_own() {
        let text = written("preset:grpc-hedging", "grpc");
        insta::assert_snapshot!(text, @r#"
        {
          "methodConfig": [
            {
              "name": [
                {}
              ],
              "hedgingPolicy": {
                "maxAttempts": 4,
                "hedgingDelay": "0.5s",
                "nonFatalStatusCodes": [
                  "ABORTED",
                  "INTERNAL",
                  "UNAVAILABLE"
                ]
              }
            }
          ],
          "retryThrottling": {
            "maxTokens": 10,
            "tokenRatio": 0.1
          }
        }
        "#);
        assert_eq!(left_out("preset:grpc-hedging", "grpc"), "");
        let text = "constant:max-attempts=3,retry-on=503+hedging:after-failure=wait";
        insta::assert_snapshot!(left_out(text, "grpc"), @r"
        `after-failure=wait`: gRPC sends the next copy at once when one fails
        `retry-after=floor`: gRPC follows only grpc-retry-pushback-ms and waits exactly that long
        `retry-on=503`: gRPC has no HTTP statuses, so they are written as UNAVAILABLE; 429, 502, 503 and 504 all become UNAVAILABLE
        a gRPC method has either a hedgingPolicy or a retryPolicy, so a hedged call is not retried
        ");
    }

    #[test]
    fn copies_are_attempts_and_are_limited_with_them() {
        let two = written("none:max-attempts=2+hedging:copies=3", "grpc");
        assert!(two.contains("hedgingPolicy") && two.contains("\"maxAttempts\": 2"), "{two}");
        assert!(!written("none:max-attempts=1+hedging:copies=3", "grpc").contains("Policy"));
    }

    #[test]
    fn a_hedging_policy_names_a_status_at_least() {
        let text = "none:retry-on=none+hedging";
        assert!(written(text, "grpc").contains("UNAVAILABLE"));
        assert!(left_out(text, "grpc").contains("needs at least one status"), "{}", left_out(text, "grpc"));
    }

    #[test]
    fn http_statuses_are_mapped_to_grpc_statuses() {
        let text = written("full-jitter:max-attempts=3,retry-on=403|5xx", "grpc");
        assert!(text.contains("PERMISSION_DENIED") && text.contains("UNAVAILABLE"), "{text}");
        insta::assert_snapshot!(left_out("full-jitter:max-attempts=3,retry-on=403|5xx|timeout", "grpc"), @r#"
        `full-jitter`: gRPC varies each backoff by ±20 %
        `retry-after=floor`: gRPC follows only grpc-retry-pushback-ms and waits exactly that long
        `retry-on=403|5xx|timeout`: gRPC has no timeout for a single attempt; its deadline ends the whole call; gRPC has no HTTP statuses, so they are written as PERMISSION_DENIED, UNAVAILABLE; 429, 502, 503 and 504 all become UNAVAILABLE; the other HTTP statuses become UNKNOWN in gRPC, which these settings do not retry
        "#);
    }
}
