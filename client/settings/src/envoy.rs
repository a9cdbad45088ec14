//! Envoy: a route's retry policy and a cluster's retry budget, in YAML.
//!
//! Source: envoyproxy/envoy `api/envoy/config/route/v3/route_components.proto`,
//! `api/envoy/config/cluster/v3/circuit_breaker.proto`, `source/common/router/retry_state_impl.cc`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::described::{Described, Format, LONGEST, percent, seconds};
use crate::retried::MISSING;

pub(crate) const FORMAT: Format = Format {
    name: "envoy",
    what: "Envoy, YAML: retry policy of a route, retry budget of a cluster",
    used_by: &["envoy"],
    nearest: "preset:envoy",
    comment: Some("#"),
    write,
};

/// gRPC statuses that Envoy can retry, each with its name in Envoy's setting `retry_on`.
const GRPC: [(&str, &str); 5] = [
    ("CANCELLED", "cancelled"),
    ("DEADLINE_EXCEEDED", "deadline-exceeded"),
    ("INTERNAL", "internal"),
    ("RESOURCE_EXHAUSTED", "resource-exhausted"),
    ("UNAVAILABLE", "unavailable"),
];

fn write(settings: &mut Described) -> String {
    let mut text = "# Of a route (config.route.v3.RouteAction):\n".to_owned();
    if let Some(most) = settings.limit("max-time") {
        let _ = writeln!(text, "timeout: {}s", seconds(most));
        settings.fixed(
            "over-time",
            "shorten",
            "Envoy ends the op at its timeout, even during an attempt or a backoff",
        );
    } else {
        settings.besides("Envoy: a route without `timeout` ends an op after 15 s, all attempts included");
    }
    let (words, codes) = retried(settings);
    let _ = writeln!(text, "retry_policy:\n  retry_on: \"{}\"", words.join(","));
    if !codes.is_empty() {
        let _ = writeln!(text, "  retriable_status_codes: [{}]", codes.join(", "));
    }
    let retries = settings.count("max-attempts").map_or(u32::MAX, |most| most - 1);
    let _ = writeln!(text, "  num_retries: {retries}");
    if let Some(most) = settings.limit("attempt-timeout") {
        let _ = writeln!(text, "  per_try_timeout: {}s", seconds(most));
    }
    text += &waits(settings);
    text += &advice(settings).unwrap_or_default();
    settings.fixed(
        "hints",
        "x-envoy-ratelimited",
        "Envoy never retries responses with x-envoy-ratelimited and reads no other hint",
    );
    text + &budget(settings)
}

fn budget(settings: &mut Described) -> String {
    if !settings.has("envoy-budget") {
        settings.besides("Envoy: without `envoy-budget`, a cluster allows at most 3 retries in flight (max_retries of its circuit breakers)");
        return String::new();
    }
    let share = percent(settings.number("envoy-budget.share"));
    let least = settings.read("envoy-budget.least");
    let limit = if share > 0.0 {
        format!(
            "retry_budget:\n      budget_percent:\n        value: {share}\n      min_retry_concurrency: {least}"
        )
    } else {
        format!("max_retries: {least}")
    };
    format!(
        "# Of the cluster (config.cluster.v3.Cluster):\ncircuit_breakers:\n  thresholds:\n  - priority: DEFAULT\n    {limit}\n"
    )
}

fn retried(settings: &mut Described) -> (Vec<&'static str>, Vec<String>) {
    let retried = settings.retried();
    let mut words = Vec::new();
    let is_5xx = (500..=599).all(|code| retried.codes.contains_key(&code));
    let reset = ["closed", "unreadable", "timeout"].map(|kind| retried.lacks_answer(kind));
    if is_5xx {
        words.push("5xx");
        if !retried.lacks_answer("refused") || reset.contains(&false) {
            let others = MISSING.into_iter().filter(|kind| !retried.lacks_answer(kind));
            settings.note(
                "retry-on",
                format!(
                    "`5xx` of Envoy also retries attempts without a response: {}",
                    others.collect::<Vec<_>>().join(", ")
                ),
            );
        }
    }
    if retried.lacks_answer("refused") {
        words.push("connect-failure");
    }
    if reset.contains(&true) {
        words.push("reset");
        if reset.contains(&false) && !is_5xx {
            settings.note("retry-on", "`reset` of Envoy covers both closed connections and read timeouts");
        }
    }
    let grpc = GRPC.iter().filter(|(name, _)| retried.grpc.iter().any(|asked| asked == name));
    words.extend(grpc.map(|(_, word)| *word));
    let codes = retried.codes.keys().filter(|code| !is_5xx || !(500..=599).contains(*code));
    let codes: Vec<String> = codes.map(u16::to_string).collect();
    if !codes.is_empty() {
        words.push("retriable-status-codes");
    }
    let mut unknown = retried.grpc.clone();
    unknown.retain(|asked| GRPC.iter().all(|(name, _)| name != asked));
    if !unknown.is_empty() {
        let why = format!("Envoy does not retry the gRPC statuses {}", unknown.join(", "));
        settings.note("retry-on", why);
    }
    if !retried.reasons.is_empty() {
        settings.note("retry-on", "Envoy does not read error reasons in response bodies");
    }
    if retried.has_conditions() {
        let why = "an Envoy retry policy has no conditions on methods or advice; use a separate route for each method";
        settings.note("retry-on", why);
    }
    (words, codes)
}

fn waits(settings: &mut Described) -> String {
    let base = settings.duration("backoff.base");
    let (cap, least) = (settings.cap(), Duration::from_millis(1));
    if base < least {
        settings.note("backoff.base", "base_interval of Envoy must be at least 1 ms, so 1 ms is written");
    } else {
        let doubles = "Envoy doubles its backoff after each retry";
        settings.fixed("backoff.growth", "exponential", doubles);
        settings.fixed("backoff.factor", "2", doubles);
        settings.fixed("backoff.spread", "full", "Envoy draws each delay between zero and the full backoff");
        settings.cuts_to_milliseconds("Envoy waits a whole number of milliseconds");
    }
    for name in ["backoff.growth", "backoff.factor", "backoff.spread", "backoff.grain"] {
        settings.settle(name);
    }
    let base = base.max(least);
    let cap = cap.unwrap_or(LONGEST).max(base);
    format!("  retry_back_off:\n    base_interval: {}s\n    max_interval: {}s\n", seconds(base), seconds(cap))
}

/// Returns the backoff after advice. `None` if no advice is followed.
fn advice(settings: &mut Described) -> Option<String> {
    if settings.read("retry-after") == "ignore" {
        settings.settle("advice");
        return None;
    }
    settings.fixed("retry-after", "exact", "Envoy replaces its backoff with the advised delay");
    let forms = settings.read("advice");
    let mut headers = Vec::new();
    for form in forms.split('|') {
        let (name, how) = form.split_once('.').unwrap_or((form, ""));
        let format = match name {
            "retry-after" => "SECONDS",
            "x-ratelimit-reset" => "UNIX_TIMESTAMP",
            _ => continue,
        };
        if how.contains("date") {
            settings.note("advice", "Envoy reads whole seconds and Unix times, but no dates");
        }
        headers.push(format!("    - name: {name}\n      format: {format}\n"));
    }
    if forms.split('|').count() != headers.len() {
        settings.note(
            "advice",
            "Envoy reads only headers with seconds or Unix times: Retry-After, X-RateLimit-Reset",
        );
    }
    if headers.is_empty() {
        settings.settle("advice");
        return None;
    }
    let limit = settings.advice_limit();
    settings.fixed(
        "advice-beyond",
        "back-off",
        "Envoy uses its own backoff if the advice exceeds max_interval",
    );
    if limit.is_zero() {
        settings.settle("advice-stretch");
        settings.note(
            "advice-limit",
            "max_interval of Envoy must be above zero, so no reset headers are written",
        );
        return None;
    }
    settings.fixed("advice-stretch", "0.5", "Envoy waits up to 50 % longer than advised");
    Some(format!(
        "  rate_limited_retry_back_off:\n    reset_headers:\n{}    max_interval: {}s\n",
        headers.concat(),
        seconds(limit)
    ))
}

#[cfg(test)]
mod tests {
    use crate::tests::{is_yaml, left_out, written};

    #[test]
    fn the_preset_is_a_retry_policy() {
        let text = written("preset:envoy,max-attempts=4,share=0.25", "envoy");
        insta::assert_snapshot!(text, @r#"
        # Of a route (config.route.v3.RouteAction):
        retry_policy:
          retry_on: "5xx,connect-failure,reset"
          num_retries: 3
          retry_back_off:
            base_interval: 0.025s
            max_interval: 0.25s
        # Of the cluster (config.cluster.v3.Cluster):
        circuit_breakers:
          thresholds:
          - priority: DEFAULT
            retry_budget:
              budget_percent:
                value: 25
              min_retry_concurrency: 3
        "#);
        assert!(is_yaml(&text));
        insta::assert_snapshot!(left_out("backoff:base=25ms,spread=full", "envoy"), @r#"
        `retry-after=floor`: Envoy replaces its backoff with the advised delay
        `advice=retry-after-ms.decimal|retry-after.decimal.date`: Envoy reads whole seconds and Unix times, but no dates; Envoy reads only headers with seconds or Unix times: Retry-After, X-RateLimit-Reset
        `advice-beyond=cut`: Envoy uses its own backoff if the advice exceeds max_interval
        `advice-stretch=0`: Envoy waits up to 50 % longer than advised
        `hints=none`: Envoy never retries responses with x-envoy-ratelimited and reads no other hint
        Envoy: a route without `timeout` ends an op after 15 s, all attempts included
        Envoy: without `envoy-budget`, a cluster allows at most 3 retries in flight (max_retries of its circuit breakers)
        "#);
    }

    #[test]
    fn advice_becomes_reset_headers() {
        let text = written(
            "preset:envoy,retry-after=exact,advice=retry-after.whole,advice-stretch=0.5,advice-limit=300s,max-time=20s,attempt-timeout=2s",
            "envoy",
        );
        insta::assert_snapshot!(text, @r#"
        # Of a route (config.route.v3.RouteAction):
        timeout: 20s
        retry_policy:
          retry_on: "5xx,connect-failure,reset"
          num_retries: 1
          per_try_timeout: 2s
          retry_back_off:
            base_interval: 0.025s
            max_interval: 0.25s
          rate_limited_retry_back_off:
            reset_headers:
            - name: retry-after
              format: SECONDS
            max_interval: 300s
        # Of the cluster (config.cluster.v3.Cluster):
        circuit_breakers:
          thresholds:
          - priority: DEFAULT
            max_retries: 3
        "#);
        assert!(is_yaml(&text));
    }

    #[test]
    fn advice_that_is_never_followed_has_no_reset_headers() {
        // Envoy 1.39.3 refuses a max_interval of 0s.
        let text = "preset:okhttp";
        assert!(
            !written(text, "envoy").contains("rate_limited_retry_back_off"),
            "{}",
            written(text, "envoy")
        );
        let told = left_out(text, "envoy");
        assert!(told.contains("`advice-limit=0s`: max_interval of Envoy must be above zero"), "{told}");
    }

    #[test]
    fn settings_that_envoy_lacks_are_listed_in_order() {
        insta::assert_snapshot!(left_out("preset:openai+aws-quota", "envoy"), @r#"
        `spread=below|0.25`: Envoy draws each delay between zero and the full backoff
        `aws-quota:capacity=500,retry-cost=14,throttled-cost=5,timeout-cost=14,long-poll=false`: envoy has no equivalent of this part
        `advice=retry-after-ms.decimal.or-next|retry-after.decimal.date`: Envoy reads whole seconds and Unix times, but no dates; Envoy reads only headers with seconds or Unix times: Retry-After, X-RateLimit-Reset
        `advice-beyond=give-up`: Envoy uses its own backoff if the advice exceeds max_interval
        `advice-zero=back-off`: envoy has no equivalent of this parameter
        `advice-past=back-off`: envoy has no equivalent of this parameter
        `advice-stretch=0`: Envoy waits up to 50 % longer than advised
        `hints=x-should-retry`: Envoy never retries responses with x-envoy-ratelimited and reads no other hint
        Envoy: a route without `timeout` ends an op after 15 s, all attempts included
        Envoy: without `envoy-budget`, a cluster allows at most 3 retries in flight (max_retries of its circuit breakers)
        "#);
    }
}
