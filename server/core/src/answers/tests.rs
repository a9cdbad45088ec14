//! Answers as vendors give them, and what holds of all answers.

use std::time::Duration;

use proptest::prelude::*;
use vocabulary::{Instant, TimeScale, WallTime};

use super::*;
use crate::standing::Standing;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Reads the tables of a preset.
fn config(toml: &str) -> AnswersConfig {
    toml::from_str(toml).unwrap_or_else(|error| panic!("{error}"))
}

fn set(toml: &str, stages: &[&str]) -> AnswerSet {
    AnswerSet::read(&config(toml), stages.iter().copied()).unwrap_or_else(|error| panic!("{error}"))
}

fn error(toml: &str) -> String {
    AnswerSet::read(&config(toml), ["primary", "secondary"]).unwrap_err().to_string()
}

/// 2026-01-01, 00:00:00 UTC.
fn teller() -> Teller {
    Teller::experiment(WallTime::VIRTUAL_START)
}

#[expect(clippy::unnecessary_wraps, reason = "what is told of a stage that has a limit")]
fn standing(limit: u64, remaining: u64, reset: Duration) -> Option<Standing> {
    Some(Standing { limit, remaining, reset, window: Some(Duration::from_mins(1)) })
}

fn told(outcome: Outcome, standings: &[Option<Standing>]) -> Told<'_> {
    Told { outcome, now: Instant::from_millis(500), standings, seed: 1, op: 0, attempt: 1 }
}

fn rejected(stage: usize, wait: Duration) -> Outcome {
    Outcome::Rejected { stage: Some(stage), wait: Some(wait) }
}

/// Status, headers as `name: value`, and body.
fn said(set: &AnswerSet, told: &Told<'_>) -> (Option<u16>, Vec<String>, String) {
    let rendered = set.render(told, &teller());
    for (name, value) in &rendered.headers {
        assert_eq!(set.header(name, told, &teller()).as_ref(), Some(value));
    }
    assert_eq!((set.status(told), set.body(told, &teller())), (rendered.status, rendered.body.clone()));
    let headers = rendered.headers.iter().map(|(name, value)| format!("{name}: {value}"));
    (rendered.status, headers.collect(), rendered.body.unwrap_or_default().into_owned())
}

const GITHUB: &str = r#"
    [reject.primary]
    status = 403
    headers = { "x-ratelimit-remaining" = "0" }
    body = '{"message":"API rate limit exceeded for user ID 1.","status":"403"}'
    [reject.secondary]
    status = 403
    advice = "seconds:share=0.7"
    body = '{"message":"You have exceeded a secondary rate limit."}'
    [every.headers]
    "x-ratelimit-limit" = "{primary.limit}"
    "x-ratelimit-remaining" = "{primary.remaining}"
    "x-ratelimit-used" = "{primary.used}"
    "x-ratelimit-reset" = "{primary.reset_epoch}"
    "x-ratelimit-resource" = "core"
"#;

/// github/docs, `content/rest/using-the-rest-api/rate-limits-for-the-rest-api.md`.
#[test]
fn github_tells_epochs_on_all_answers_and_a_wait_on_some() {
    let set = set(GITHUB, &["primary", "secondary"]);
    let standings = [standing(5000, 4987, Duration::from_mins(30)), standing(100, 0, Duration::ZERO)];
    let common = ["x-ratelimit-limit: 5000", "x-ratelimit-remaining: 4987", "x-ratelimit-reset: 1767227401"];
    let (status, headers, body) = said(&set, &told(Outcome::Accepted, &standings));
    assert_eq!((status, body.as_str()), (None, ""));
    assert_eq!(&headers[..3], &common);
    assert_eq!(&headers[3..], &["x-ratelimit-resource: core", "x-ratelimit-used: 13"]);

    let (status, headers, body) = said(&set, &told(rejected(0, SECOND), &standings));
    assert_eq!((status, headers[0].as_str()), (Some(403), "x-ratelimit-remaining: 0"));
    assert!(body.starts_with(r#"{"message":"API rate limit exceeded for user ID 1.""#), "{body}");
    assert_eq!((headers.len(), headers.iter().any(|header| header.contains("retry-after"))), (5, false));

    let advised = (0..1000).filter(|op| {
        let told = Told { op: *op, ..told(rejected(1, 1500 * MS), &standings) };
        match set.header("retry-after", &told, &teller()) {
            Some(value) => value == "2" || panic!("{value}"),
            None => false,
        }
    });
    assert!((650..750).contains(&advised.count()));
}

/// community.openai.com, thread 1268905: durations of Go, and both headers of waits.
#[test]
fn openai_tells_durations_of_go() {
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
    let standings = [standing(60, 0, Duration::from_mins(6)), standing(150_000, 149_984, 12 * MS)];
    let (status, headers, body) = said(&set, &told(rejected(0, 6120 * MS), &standings));
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

/// Anthropic, API rate limits: moments as RFC 3339 writes them.
#[test]
fn anthropic_tells_moments() {
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
    let (_, headers, _) = said(&set, &told(rejected(0, 21 * SECOND), &[standing(50, 0, 37 * SECOND)]));
    assert_eq!(headers, ["retry-after: 21", "anthropic-ratelimit-requests-reset: 2026-01-01T00:00:38Z"]);
}

/// cloudflare/cloudflare-docs, `fundamentals/api/reference/limits.mdx`: a date, and a wait rounded up.
#[test]
fn cloudflare_tells_dates() {
    let set = set(
        "[every]\nheaders = { x-ratelimit-reset = '{reset_date}' }\n[reject.api]\nstatus = 429\nadvice = 'seconds'",
        &["api"],
    );
    let (_, headers, _) = said(&set, &told(rejected(0, 299_001 * MS), &[standing(1200, 0, 299_500 * MS)]));
    assert_eq!(headers, ["retry-after: 300", "x-ratelimit-reset: Thu, 01 Jan 2026 00:05:00 GMT"]);
}

/// shopify.dev, REST Admin API rate limits: what is used of what, and seconds with a point.
#[test]
fn shopify_tells_what_is_used() {
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
    let accepted = said(&set, &told(Outcome::Accepted, &[standing(40, 8, SECOND)]));
    assert_eq!(accepted, (None, vec!["x-shopify-shop-api-call-limit: 32/40".to_owned()], String::new()));
    let (_, headers, _) = said(&set, &told(rejected(0, 1600 * MS), &[standing(40, 0, SECOND)]));
    assert_eq!(headers, ["retry-after: 2.0", "x-shopify-shop-api-call-limit: 40/40"]);
}

/// traefik/traefik, `pkg/middlewares/ratelimiter/rate_limiter.go`: both, the seconds rounded up.
#[test]
fn traefik_tells_a_duration_of_go() {
    let set = set(
        "[reject.average]\nstatus = 429\nbody = 'Too Many Requests'\nadvice = 'seconds+go:places=9'",
        &["average"],
    );
    let (_, headers, body) = said(&set, &told(rejected(0, 100 * MS), &[None]));
    assert_eq!(
        (headers, body.as_str()),
        (vec!["retry-after: 1".to_owned(), "x-retry-in: 100ms".to_owned()], "Too Many Requests")
    );
}

/// benwis/tower-governor, `src/lib.rs`: seconds are cut, so that the advice is early.
#[test]
fn tower_governor_cuts_seconds() {
    let set = set(
        "[reject.key]\nstatus = 429\nbody = 'Too Many Requests! Wait for {wait_s:down}s'\nadvice = 'seconds:round=down+seconds:round=down,header=x-ratelimit-after'",
        &["key"],
    );
    let (_, headers, body) = said(&set, &told(rejected(0, 999 * MS), &[None]));
    assert_eq!(headers, ["retry-after: 0", "x-ratelimit-after: 0"]);
    assert_eq!(body, "Too Many Requests! Wait for 0s");
}

/// docs.discord.com, "Rate Limits": an epoch with a point, and the wait in the body.
#[test]
fn discord_tells_decimals() {
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
    let standings = [standing(5, 0, 645 * MS), standing(50, 50, Duration::ZERO)];
    let (_, headers, body) = said(&set, &told(rejected(0, 645 * MS), &standings));
    assert_eq!(
        headers,
        ["retry-after: 1", "x-ratelimit-reset: 1767225601.145", "x-ratelimit-reset-after: 0.645"]
    );
    assert_eq!(body, r#"{"message":"You are being rate limited.","retry_after":0.65,"global":false}"#);
    // Nobody knows the wait: no header, and JSON all the same.
    let unknown = Outcome::Rejected { stage: None, wait: None };
    let (_, headers, body) = said(&set, &told(unknown, &standings));
    assert_eq!(headers.len(), 2);
    assert!(body.contains(r#""retry_after":null,"#), "{body}");
}

/// draft-ietf-httpapi-ratelimit-headers-10, sections 3.2, 4.2 and 5.1.
#[test]
fn the_draft_is_followed() {
    let set =
        set("[every]\nadvice = 'ietf+problem'\n[reject.'*']\nstatus = 429", &["burst", "daily", "slots"]);
    let daily =
        Standing { window: Some(Duration::from_hours(24)), ..standing(1000, 50, 30 * SECOND).unwrap() };
    let slots = Standing { window: None, ..standing(50, 7, Duration::ZERO).unwrap() };
    let standings = [standing(100, 50, 30 * SECOND), Some(daily), Some(slots)];
    let policies = r#"ratelimit-policy: "burst";q=100;w=60, "daily";q=1000;w=86400, "slots";q=50;qu="concurrent-requests""#;
    let (status, headers, body) = said(&set, &told(Outcome::Accepted, &standings));
    assert_eq!((status, body.as_str()), (None, ""));
    assert_eq!(headers, [r#"ratelimit: "burst";r=50;t=30, "daily";r=50;t=30, "slots";r=7"#, policies]);
    let (_, headers, body) = said(&set, &told(rejected(0, 4001 * MS), &standings));
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
    assert_eq!(said(&set, &told(Outcome::Accepted, &[None; 3])), (None, Vec::new(), String::new()));
}

#[test]
fn a_clock_that_is_off_shows_in_moments_only() {
    let advice = "[every]\nadvice = 'date:skew=-10s+epoch:skew=1h,places=1+ms:early=1s+decimal:header=x-late,late=500ms'";
    let (_, headers, _) = said(&set(advice, &["a"]), &told(rejected(0, 20 * SECOND), &[None]));
    assert_eq!(
        headers,
        [
            "retry-after: Thu, 01 Jan 2026 00:00:11 GMT",
            "x-ratelimit-reset: 1767229220.5",
            "retry-after-ms: 19000",
            "x-late: 20.5"
        ]
    );
}

#[test]
fn each_hears_its_own_time() {
    let set = set("[every]\nadvice = 'seconds+ms+epoch'\nheaders = { w = '{window_go}' }", &["a"]);
    let standings = [standing(1, 0, SECOND)];
    let told = told(rejected(0, 20 * SECOND), &standings);
    let scale = |scale| Teller::real(WallTime::VIRTUAL_START, TimeScale::parse(scale).unwrap());
    for (teller, values) in [
        (teller(), ["20", "20000", "1767225621", "1m0s"]),
        (scale("0.1"), ["2", "2000", "1767225603", "6s"]),
        (scale("0.01"), ["1", "200", "1767225601", "600ms"]),
        (scale("10"), ["200", "200000", "1767225805", "10m0s"]),
    ] {
        let headers = ["retry-after", "retry-after-ms", "x-ratelimit-reset", "w"];
        assert_eq!(headers.map(|name| set.header(name, &told, &teller).unwrap().into_owned()), values);
    }
}

#[test]
fn an_answers_own_words_take_the_place_of_those_of_every_answer() {
    let set = set(
        r#"
        [every]
        headers = { a = "every", b = "every" }
        advice = "seconds"
        [accepted]
        status = 201
        body = "done"
        [conflict]
        status = 409
        [reject.first]
        headers = { A = "own" }
        advice = "none"
        [reject.second]
        headers = { retry-after = "later" }
        [reject."*"]
        headers = { c = "{reason}" }
        advice = "ms"
        "#,
        &["first", "second", "third"],
    );
    let standings = [None; 3];
    let headers = |outcome| said(&set, &told(outcome, &standings)).1;
    assert_eq!(headers(Outcome::Accepted), ["a: every", "b: every"]);
    assert_eq!(headers(rejected(0, SECOND)), ["a: own", "b: every"]);
    assert_eq!(headers(rejected(1, SECOND)), ["retry-after: later", "a: every", "b: every"]);
    assert_eq!(headers(rejected(2, SECOND)), ["c: third", "retry-after-ms: 1000", "a: every", "b: every"]);
    let by_none = Outcome::Rejected { stage: None, wait: Some(SECOND) };
    assert_eq!(headers(by_none), ["retry-after-ms: 1000", "a: every", "b: every"]);
    assert_eq!(said(&set, &told(Outcome::Conflict, &standings)).0, Some(409));
    assert_eq!(said(&set, &told(Outcome::Accepted, &standings)).2, "done");
}

#[test]
fn only_limits_of_which_an_answer_tells_are_looked_at() {
    let tells = |toml: &str| {
        let set = set(toml, &["primary", "secondary", "third"]);
        [Outcome::Accepted, rejected(1, SECOND)]
            .map(|outcome| [0, 1, 2, 3].map(|stage| set.tells_of(outcome, stage)))
    };
    assert_eq!(tells(GITHUB.split("[reject.secondary]").next().unwrap()), [[false; 4]; 2]);
    assert_eq!(tells("[every.headers]\na = '{primary.used} {now}'"), [[true, false, false, false]; 2]);
    assert_eq!(tells("[reject.'*']\nbody = '{limit} {wait}'"), [[false; 4], [false, true, false, false]]);
    assert_eq!(tells("[accepted]\nadvice = 'ietf'"), [[true, true, true, false], [false; 4]]);
    assert_eq!(tells("[every]\nadvice = 'seconds+problem'\nheaders = { a = '{reason}' }"), [[false; 4]; 2]);
}

#[test]
fn one_advice_takes_the_place_of_all() {
    let config = config(GITHUB).advising("ms");
    let set = AnswerSet::read(&config, ["primary", "secondary"]).unwrap();
    for outcome in [rejected(0, SECOND), rejected(1, SECOND)] {
        let told = told(outcome, &[]);
        assert_eq!(set.header("retry-after-ms", &told, &teller()).as_deref(), Some("1000"));
        assert_eq!((set.header("retry-after", &told, &teller()), set.status(&told)), (None, Some(403)));
    }
}

#[test]
fn whatever_a_stack_calls_its_policies_can_be_named() {
    let stack: crate::Policies = "per_key-1=gcra then gcra then gcra then concurrency:cap=3".parse().unwrap();
    let labels = stack.labels();
    let every = labels.iter().map(|label| (label.clone(), format!("{{{label}.limit}}"))).collect();
    let every = EveryConfig { headers: every, ..EveryConfig::default() };
    let config = AnswersConfig { every, ..AnswersConfig::default() };
    let set = AnswerSet::read(&config, labels.iter().map(String::as_str)).unwrap();
    let standings = [1, 2, 3, 4].map(|limit| standing(limit, 0, SECOND));
    let told = told(Outcome::Accepted, &standings);
    let values: Vec<_> = labels.iter().map(|label| set.header(label, &told, &teller()).unwrap()).collect();
    assert_eq!(values, ["1", "2", "3", "4"]);
}

#[test]
fn without_tables_nothing_is_said() {
    let config = AnswersConfig::default();
    assert!(config.is_empty());
    let set = AnswerSet::read(&config, ["a"]).unwrap();
    for outcome in [Outcome::Accepted, Outcome::Conflict, rejected(0, SECOND), rejected(9, SECOND)] {
        assert_eq!(set.render(&told(outcome, &[]), &teller()), Rendered::default());
    }
}

#[test]
fn what_is_written_is_recorded_as_it_was() {
    for text in [GITHUB, ""] {
        let config = config(text);
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<AnswersConfig>(&json).unwrap(), config);
        assert_eq!(toml::from_str::<AnswersConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
    assert_eq!(serde_json::to_string(&AnswersConfig::default()).unwrap(), "{}");
    assert!(
        toml::from_str::<AnswersConfig>("[rejct]").unwrap_err().to_string().contains("unknown field `rejct`")
    );
    assert!(
        toml::from_str::<AnswersConfig>("[accepted]\nbdy = ''").unwrap_err().to_string().contains("`bdy`")
    );
}

#[test]
fn what_cannot_be_answered_is_refused_with_its_place() {
    let long = "x".repeat((64 << 10) + 1);
    let many: Vec<String> = (0..65).map(|n| format!("h{n} = ''")).collect();
    for (toml, words) in [
        (
            "[reject.primry]",
            "`reject.primry`: no stage is called `primry`; did you mean `primary`?; the stages are `primary`, `secondary`, and `*` stands",
        ),
        ("[reject.primary]\nstatus = 99", "`reject.primary`: `status` is 99; it must be from 200 to 599"),
        ("[accepted]\nheaders = { 'a b' = '' }", "`accepted`: `a b` cannot be the name of a header"),
        (
            "[accepted]\nheaders = { Content-Length = '3' }",
            "`accepted`: the header `content-length` is set by the server itself",
        ),
        (
            "[conflict]\nheaders = { x = \"a\\nb\" }",
            "`conflict`: the header `x` has a value that cannot be sent",
        ),
        (
            "[every]\nheaders = { x = '1', X = '2' }",
            "`every`: the header `x` is there twice; keep one of them",
        ),
        (
            "[every]\nheaders = { x = '{limt}' }",
            "`every`: the header `x`: unknown field `{limt}`; did you mean `limit`?",
        ),
        (
            "[reject.'*']\nbody = '{primary.rest}'",
            "`reject.*`: `body`: unknown field `{primary.rest}`; did you mean `reset`?",
        ),
        (
            "[reject.primary]\nadvice = 'second'",
            "`reject.primary`: `advice`: unknown advice `second`; did you mean `seconds`?",
        ),
        (
            "[reject.primary]\nadvice = 'seconds'\nheaders = { Retry-After = '1' }",
            "`reject.primary`: the header `retry-after` is filled by `headers` and by `advice`; keep one",
        ),
        (
            "[every]\nadvice = 'seconds'\nheaders = { Retry-After = '1' }",
            "`every`: the header `retry-after` is filled by",
        ),
        (
            "[reject.primary]\nadvice = 'problem'\nbody = ''",
            "`reject.primary`: there is a `body`, and `advice` has `problem`",
        ),
        (
            &format!("[accepted]\nbody = '{long}'"),
            "`accepted`: `body` is 65537 bytes long; at most 65536 are accepted",
        ),
        (&format!("[every.headers]\n{}", many.join("\n")), "`every`: there are 65 headers; at most 64"),
    ] {
        let error = error(toml);
        assert!(error.starts_with(words), "{toml}: {error}");
    }
    for name in ["", "A", "1st", "a b", "a.b", "ä", &"a".repeat(65)] {
        let error = AnswerSet::read(&AnswersConfig::default(), [name]).unwrap_err();
        assert_eq!(error, AnswersError::Name(name.to_owned()));
    }
}

/// The documentation has every form, and its example is read.
#[test]
fn the_documentation_is_current() {
    let text = include_str!("../../../../docs/answers.md");
    for AdviceEntry { name, summary, header, .. } in ADVICE_FORMS {
        let row = format!("| `{name}` | `{header}` | {summary} |");
        assert!(text.contains(&row), "docs/answers.md: {row}");
    }
    let parameters = ADVICE_FORMS.iter().flat_map(AdviceEntry::parameters);
    for key in parameters.map(|parameter| parameter.key) {
        assert!(
            text.contains(&format!("`{key}` ")) || text.contains(&format!("`{key}=")),
            "docs/answers.md: {key}"
        );
    }
    let example = text.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let set = set(example, &["primary", "secondary"]);
    let body = set
        .body(&told(Outcome::Accepted, &[standing(5000, 4999, SECOND), None]), &teller())
        .unwrap()
        .into_owned();
    assert_eq!(body, r#"{"resources":{"core":{"limit":5000,"remaining":4999}}}"#);
    let fields = text.lines().skip_while(|line| *line != "| field | value |").skip(2);
    let fields: Vec<&str> = fields.map_while(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let all = format!("{{{}}}", fields.join("}{"));
    assert!(fields.len() == 8 && Template::parse(&all, &[]).is_ok(), "{all}");
}

fn any_standing() -> impl Strategy<Value = Option<Standing>> {
    let window = prop::option::of(any::<u64>().prop_map(Duration::from_nanos));
    let standing =
        (any::<u64>(), any::<u64>(), any::<u64>(), window).prop_map(|(limit, remaining, reset, window)| {
            Standing { limit, remaining, reset: Duration::from_nanos(reset), window }
        });
    prop::option::of(standing)
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Accepted),
        Just(Outcome::Conflict),
        (prop::option::of(0..3_usize), prop::option::of(any::<Duration>()))
            .prop_map(|(stage, wait)| Outcome::Rejected { stage, wait }),
    ]
}

/// An answer with everything that there is.
const ALL: &str = r#"
    [every]
    headers = { a = "{limit} {remaining} {used} {reset} {window}", b = "{b.reset_date} {now_rfc3339:decimal(9):nearest} {reason}", c = "{reset_epoch_ms} {wait_go:decimal(9)}" }
    advice = "seconds:round=nearest,malformed=0.3+ms:jitter=1h+date:header=d,skew=1d,share=0.5+epoch:places=9,early=1d+go:late=1d+rfc3339:header=r,skew=-1d+ietf:malformed=0.1+problem"
"#;

proptest! {
    #[test]
    fn whatever_is_rendered_can_be_sent(
        outcome in any_outcome(),
        standings in prop::collection::vec(any_standing(), 0..3),
        now in any::<u64>(),
        (seed, op, attempt) in any::<(u64, u64, u32)>(),
        anchor in any::<Duration>(),
        scale in 0.001..1000.0_f64,
    ) {
        let set = set(ALL, &["a", "b"]);
        let told = Told { outcome, now: Instant::from_nanos(now), standings: &standings, seed, op, attempt };
        let anchor = WallTime::from_unix(anchor);
        for teller in [Teller::experiment(anchor), Teller::real(anchor, TimeScale::parse(&scale.to_string()).unwrap())] {
            let rendered = set.render(&told, &teller);
            for (name, value) in &rendered.headers {
                prop_assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {value}");
                prop_assert_eq!(set.header(name, &told, &teller), Some(value.clone()));
            }
            prop_assert_eq!(set.render(&told, &teller), rendered);
        }
    }

    #[test]
    fn a_wait_that_is_rounded_up_is_never_early_nor_late_by_more_than_its_last_digit(
        nanos in 0..u64::MAX / 2_000_000,
        scale in 0.001..1000.0_f64,
        places in 0..=6_u32,
    ) {
        let wait = Duration::from_nanos(nanos);
        let set = set(&format!("[every]\nadvice = 'decimal:places={}+ms:header=m'", places.max(1)), &["a"]);
        let scale = TimeScale::parse(&scale.to_string()).unwrap();
        let teller = Teller::real(WallTime::VIRTUAL_START, scale);
        let told = told(rejected(0, wait), &[]);
        let millis: u128 = set.header("m", &told, &teller).unwrap().parse().unwrap();
        let real = scale.to_real(wait).as_nanos();
        prop_assert!(millis * 1_000_000 >= real && millis * 1_000_000 < real + 1_000_000);
        let text = set.header("retry-after", &told, &teller).unwrap();
        let (whole, digits) = text.split_once('.').unwrap();
        let count: u128 = format!("{whole}{digits}").parse().unwrap();
        let step = 10_u128.pow(9 - places.max(1));
        prop_assert!(count * step >= real && count * step < real + step);
    }

    #[test]
    fn any_tables_are_refused_or_rendered(
        header in "[a-z-]{0,6}",
        value in r"([{}a-z]|limit|[{]reset_epoch[}]|[{]a[.]used[}]|:up){0,8}",
        advice in "(seconds|ietf|problem|none|x)([+](ms|date))?",
        body in any::<String>(),
        status in any::<u16>(),
    ) {
        let response = ResponseConfig {
            status: Some(status),
            headers: [(header, value)].into(),
            body: Some(body),
            advice: Some(advice),
        };
        let config = AnswersConfig { reject: [("*".to_owned(), response)].into(), ..AnswersConfig::default() };
        if let Ok(set) = AnswerSet::read(&config, ["a"]) {
            drop(said(&set, &told(rejected(0, SECOND), &[None])));
        }
    }
}
