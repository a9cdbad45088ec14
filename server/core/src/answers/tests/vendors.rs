//! Answers of real vendors, each with its source.

use super::*;

/// Source: github/docs, `content/rest/using-the-rest-api/rate-limits-for-the-rest-api.md`.
#[test]
fn github_reports_epochs_always_and_a_wait_sometimes() {
    let set = set(GITHUB, &["primary", "secondary"]);
    let limit_statuses =
        [limit_status(5000, 4987, Duration::from_mins(30)), limit_status(100, 0, Duration::ZERO)];
    let common = ["x-ratelimit-limit: 5000", "x-ratelimit-remaining: 4987", "x-ratelimit-reset: 1767227401"];
    let (status, headers, body) = said(&set, &context(Outcome::Accepted, &limit_statuses));
    assert_eq!((status, body.as_str()), (None, ""));
    assert_eq!(&headers[..3], &common);
    assert_eq!(&headers[3..], &["x-ratelimit-resource: core", "x-ratelimit-used: 13"]);

    let (status, headers, body) = said(&set, &context(rejected(0, SECOND), &limit_statuses));
    assert_eq!((status, headers[0].as_str()), (Some(403), "x-ratelimit-remaining: 0"));
    assert!(body.starts_with(r#"{"message":"API rate limit exceeded for user ID 1.""#), "{body}");
    assert_eq!((headers.len(), headers.iter().any(|header| header.contains("retry-after"))), (5, false));

    let advised = (0..1000).filter(|op| {
        let context = ResponseContext { op: *op, ..context(rejected(1, 1500 * MS), &limit_statuses) };
        match set.header("retry-after", &context, &teller()) {
            Some(value) => value == "2" || panic!("{value}"),
            None => false,
        }
    });
    assert!((650..750).contains(&advised.count()));
}

/// Source: community.openai.com, thread 1268905. Durations in Go's notation, and both headers for waits.
#[test]
fn openai_reports_go_durations() {
    let set = set(
        r#"
        [every.headers]
        "x-ratelimit-limit-requests" = "{requests.limit}"
        "x-ratelimit-remaining-tokens" = "{tokens.remaining}"
        "x-ratelimit-reset-requests" = "{requests.reset_go}"
        "x-ratelimit-reset-tokens" = "{tokens.reset_go}"
        [reject."*"]
        status = 429
        advice = "seconds+ms"
        body = '{"error":{"message":"Rate limit reached for {reason}. Please try again in {wait_go}.","type":"{reason}","code":"rate_limit_exceeded"}}'
        "#,
        &["requests", "tokens"],
    );
    let limit_statuses =
        [limit_status(60, 0, Duration::from_mins(6)), limit_status(150_000, 149_984, 12 * MS)];
    let (status, headers, body) = said(&set, &context(rejected(0, 6120 * MS), &limit_statuses));
    assert_eq!(status, Some(429));
    assert_eq!(
        headers,
        [
            "retry-after: 7",
            "retry-after-ms: 6120",
            "x-ratelimit-limit-requests: 60",
            "x-ratelimit-remaining-tokens: 149984",
            "x-ratelimit-reset-requests: 6m0s",
            "x-ratelimit-reset-tokens: 12ms",
        ]
    );
    assert!(body.contains(r#"requests. Please try again in 6.12s.","type":"requests""#), "{body}");
}

/// Source: Anthropic, API rate limits. Moments in RFC 3339 notation.
#[test]
fn anthropic_reports_rfc_3339_instants() {
    let set = set(
        r#"
        [every.headers]
        "anthropic-ratelimit-requests-reset" = "{requests.reset_rfc3339}"
        [reject.requests]
        status = 429
        advice = "seconds"
        "#,
        &["requests"],
    );
    let (_, headers, _) = said(&set, &context(rejected(0, 21 * SECOND), &[limit_status(50, 0, 37 * SECOND)]));
    assert_eq!(headers, ["retry-after: 21", "anthropic-ratelimit-requests-reset: 2026-01-01T00:00:38Z"]);
}

/// Source: developers.cloudflare.com/fundamentals/api/reference/limits. The fields of the IETF, and a wait that is rounded up.
#[test]
fn cloudflare_reports_ietf_fields() {
    let set = set(
        "[every]\nheaders = { ratelimit = '\"default\";r={remaining};t={reset_s}' }\n[reject.api]\nstatus = 429\nadvice = 'seconds'",
        &["api"],
    );
    let (_, headers, _) =
        said(&set, &context(rejected(0, 299_001 * MS), &[limit_status(1200, 0, 299_500 * MS)]));
    assert_eq!(headers, ["retry-after: 300", "ratelimit: \"default\";r=0;t=300"]);
}

/// Source: shopify.dev, REST Admin API rate limits. Used of available calls, and seconds with a decimal point.
#[test]
fn shopify_reports_used_calls() {
    let set = set(
        r#"
        [every.headers]
        X-Shopify-Shop-Api-Call-Limit = "{used}/{limit}"
        [reject.bucket]
        status = 429
        headers = { Retry-After = "{wait_s:up}.0" }
        "#,
        &["bucket"],
    );
    let accepted = said(&set, &context(Outcome::Accepted, &[limit_status(40, 8, SECOND)]));
    assert_eq!(accepted, (None, vec!["x-shopify-shop-api-call-limit: 32/40".to_owned()], String::new()));
    let (_, headers, _) = said(&set, &context(rejected(0, 1600 * MS), &[limit_status(40, 0, SECOND)]));
    assert_eq!(headers, ["retry-after: 2.0", "x-shopify-shop-api-call-limit: 40/40"]);
}

/// Source: traefik/traefik, `pkg/middlewares/ratelimiter/rate_limiter.go`. Both headers, with the seconds rounded up.
#[test]
fn traefik_reports_a_go_duration() {
    let set = set(
        "[reject.average]\nstatus = 429\nbody = 'Too Many Requests'\nadvice = 'seconds+go:places=9'",
        &["average"],
    );
    let (_, headers, body) = said(&set, &context(rejected(0, 100 * MS), &[None]));
    assert_eq!(
        (headers, body.as_str()),
        (vec!["retry-after: 1".to_owned(), "x-retry-in: 100ms".to_owned()], "Too Many Requests")
    );
}

/// Source: benwis/tower-governor, `src/lib.rs`. Seconds are truncated, so the advice is early.
#[test]
fn tower_governor_cuts_seconds() {
    let set = set(
        "[reject.key]\nstatus = 429\nbody = 'Too Many Requests! Wait for {wait_s:down}s'\nadvice = 'seconds:round=down+seconds:round=down,header=x-ratelimit-after'",
        &["key"],
    );
    let (_, headers, body) = said(&set, &context(rejected(0, 999 * MS), &[None]));
    assert_eq!(headers, ["retry-after: 0", "x-ratelimit-after: 0"]);
    assert_eq!(body, "Too Many Requests! Wait for 0s");
}

/// Source: docs.discord.com, "Rate Limits". An epoch with a decimal point, and the wait in the body.
#[test]
fn discord_reports_decimals() {
    let set = set(
        r#"
        [every.headers]
        x-ratelimit-reset = "{route.reset_epoch:decimal(3)}"
        x-ratelimit-reset-after = "{route.reset_s:decimal(3)}"
        [reject."*"]
        status = 429
        advice = "seconds"
        body = '{"message":"You are being rate limited.","retry_after":{wait_s:decimal(2)},"global":false}'
        "#,
        &["route", "global"],
    );
    let limit_statuses = [limit_status(5, 0, 645 * MS), limit_status(50, 50, Duration::ZERO)];
    let (_, headers, body) = said(&set, &context(rejected(0, 645 * MS), &limit_statuses));
    assert_eq!(
        headers,
        ["retry-after: 1", "x-ratelimit-reset: 1767225601.145", "x-ratelimit-reset-after: 0.645"]
    );
    assert_eq!(body, r#"{"message":"You are being rate limited.","retry_after":0.65,"global":false}"#);
    // With an unknown wait, the header is omitted and the body is still valid JSON.
    let unknown = Outcome::Rejected { stage: None, wait: None };
    let (_, headers, body) = said(&set, &context(unknown, &limit_statuses));
    assert_eq!(headers.len(), 2);
    assert!(body.contains(r#""retry_after":null,"#), "{body}");
}

/// Source: draft-ietf-httpapi-ratelimit-headers-10, sections 3.2, 4.2 and 5.1.
#[test]
fn the_draft_is_followed() {
    let set =
        set("[every]\nadvice = 'ietf+problem'\n[reject.'*']\nstatus = 429", &["burst", "daily", "slots"]);
    let daily = LimitStatus {
        window: Some(Duration::from_hours(24)),
        ..limit_status(1000, 50, 30 * SECOND).unwrap()
    };
    let slots = LimitStatus { window: None, ..limit_status(50, 7, Duration::ZERO).unwrap() };
    let limit_statuses = [limit_status(100, 50, 30 * SECOND), Some(daily), Some(slots)];
    let policies = r#"ratelimit-policy: "burst";q=100;w=60, "daily";q=1000;w=86400, "slots";q=50;qu="concurrent-requests""#;
    let (status, headers, body) = said(&set, &context(Outcome::Accepted, &limit_statuses));
    assert_eq!((status, body.as_str()), (None, ""));
    assert_eq!(headers, [r#"ratelimit: "burst";r=50;t=30, "daily";r=50;t=30, "slots";r=7"#, policies]);
    let (_, headers, body) = said(&set, &context(rejected(0, 4001 * MS), &limit_statuses));
    assert_eq!(
        headers,
        [
            r#"ratelimit: "burst";r=0;t=5, "daily";r=50;t=30, "slots";r=7"#,
            policies,
            "content-type: application/problem+json"
        ]
    );
    assert_eq!(
        body,
        r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,"violated-policies":["burst"]}"#
    );
    assert_eq!(said(&set, &context(Outcome::Accepted, &[None; 3])), (None, Vec::new(), String::new()));
}
