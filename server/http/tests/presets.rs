//! Every preset on the wire: what a client that nobody knows is told, word by word, when it is served and when it is not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mockserver::Embedded;
use mockserver::core::{Config, server_presets};
use vocabulary::{Distribution, TimeScale};

/// What answers of one kind say: the first line, header by header, the body. `#` stands for digits, `~` for anything else.
struct Said {
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
}

/// A request that is served, and one after it that is not.
struct Case {
    preset: &'static str,
    request: &'static str,
    accepted: Said,
    rejected: Said,
}

const CASES: &[Case] = &[
    Case {
        preset: "github:primary.limit=1",
        request: "GET /user",
        accepted: Said {
            status: 200,
            headers: &[
                ("content-type", "application/json; charset=utf-8"),
                ("x-ratelimit-limit", "1"),
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "##########"),
                ("x-ratelimit-resource", "core"),
                ("x-ratelimit-used", "1"),
            ],
            body: r#"{"id":1,"node_id":"MDQ6VXNlcjE="}"#,
        },
        rejected: Said {
            status: 403,
            headers: &[
                ("content-type", "application/json; charset=utf-8"),
                ("x-ratelimit-limit", "1"),
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "##########"),
                ("x-ratelimit-resource", "core"),
                ("x-ratelimit-used", "1"),
            ],
            body: r#"{"message":"API rate limit exceeded for user ID 1.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api"}"#,
        },
    },
    Case {
        preset: "github:points.limit=5",
        request: "DELETE /repos/a/b",
        accepted: Said {
            status: 200,
            headers: &[
                ("content-type", "application/json; charset=utf-8"),
                ("x-ratelimit-limit", "5000"),
                ("x-ratelimit-remaining", "4999"),
                ("x-ratelimit-reset", "##########"),
                ("x-ratelimit-resource", "core"),
                ("x-ratelimit-used", "1"),
            ],
            body: r#"{"id":1,"node_id":"MDQ6VXNlcjE="}"#,
        },
        rejected: Said {
            status: 403,
            headers: &[
                ("content-type", "application/json; charset=utf-8"),
                ("retry-after", "?##"),
                ("x-ratelimit-limit", "5000"),
                ("x-ratelimit-remaining", "4999"),
                ("x-ratelimit-reset", "##########"),
                ("x-ratelimit-resource", "core"),
                ("x-ratelimit-used", "1"),
            ],
            body: r#"{"documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits","message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}"#,
        },
    },
    Case {
        preset: "openai:requests.burst=1,requests.rate=1/h",
        request: "POST /v1/chat/completions",
        accepted: Said {
            status: 200,
            headers: &[
                ("content-type", "application/json"),
                ("x-ratelimit-limit-requests", "1"),
                ("x-ratelimit-limit-tokens", "30000"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-remaining-tokens", "29999"),
                ("x-ratelimit-reset-requests", "~m~s"),
                ("x-ratelimit-reset-tokens", "~s"),
            ],
            body: r#"{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"served"},"finish_reason":"stop"}]}"#,
        },
        rejected: Said {
            status: 429,
            headers: &[
                ("content-type", "application/json"),
                ("retry-after", "####"),
                ("retry-after-ms", "#######"),
                ("x-ratelimit-limit-requests", "1"),
                ("x-ratelimit-limit-tokens", "30000"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-remaining-tokens", "~"),
                ("x-ratelimit-reset-requests", "~s"),
                ("x-ratelimit-reset-tokens", "~s"),
                ("x-should-retry", "true"),
            ],
            body: r#"{"error":{"message":"Rate limit reached on requests per min (RPM): Limit 1, Used 1, Requested 1. Please try again in ~s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
        },
    },
    Case {
        preset: "aws-api-gateway:account.burst=1,account.rate=1/h",
        request: "GET /stage/resource",
        accepted: Said {
            status: 200,
            headers: &[("content-type", "application/json")],
            body: r#"{"message":"served"}"#,
        },
        rejected: Said {
            status: 429,
            headers: &[
                ("content-type", "application/json"),
                ("x-amzn-errortype", "TooManyRequestsException"),
            ],
            body: r#"{"message":"Too Many Requests"}"#,
        },
    },
    Case {
        preset: "google-drive:user.limit=1",
        request: "GET /drive/v3/files",
        accepted: Said {
            status: 200,
            headers: &[("content-type", "application/json; charset=UTF-8")],
            body: r#"{"kind":"drive#fileList","files":[]}"#,
        },
        rejected: Said {
            status: 403,
            headers: &[("content-type", "application/json; charset=UTF-8")],
            body: r#"{"error":{"code":403,"message":"User Rate Limit Exceeded","errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded","message":"User Rate Limit Exceeded"}]}}"#,
        },
    },
    Case {
        preset: "stripe:endpoint-rate.burst=1,endpoint-rate.rate=1/h",
        request: "POST /v1/charges",
        accepted: Said {
            status: 200,
            headers: &[("content-type", "application/json")],
            body: r#"{"id":"ch_1","object":"charge","status":"succeeded"}"#,
        },
        rejected: Said {
            status: 429,
            headers: &[
                ("content-type", "application/json"),
                ("stripe-rate-limited-reason", "endpoint-rate"),
                ("stripe-should-retry", "true"),
            ],
            body: r#"{"error":{"code":"rate_limit","doc_url":"https://stripe.com/docs/error-codes/rate-limit","message":"Request rate limit exceeded.","type":"invalid_request_error"}}"#,
        },
    },
];

/// Headers of HTTP itself, which every answer of the server has.
const OF_HTTP: &[&str] = &["cache-control", "connection", "content-length", "date"];

fn start(preset: &str) -> Embedded {
    let quick = Config {
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        service_time: Distribution::ZERO,
        ..Config::default()
    };
    Embedded::start(quick.with_preset(preset, None).unwrap(), TimeScale::default()).unwrap()
}

/// Sends a request as any client would, and returns the status, the headers in the order of their names, and the body.
fn ask(server: &Embedded, request: &str) -> (u16, Vec<(String, String)>, String) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer me\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let named = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_lowercase(), value.to_owned())
    };
    let mut headers: Vec<(String, String)> = lines.map(named).collect();
    headers.sort();
    (status, headers, body.to_owned())
}

/// Whether a text is of this form: `#` is a digit, `~` is anything, also nothing.
fn is_of(text: &str, form: &str) -> bool {
    match form.chars().next() {
        None => text.is_empty(),
        Some('~') => {
            (0..=text.len()).any(|end| text.is_char_boundary(end) && is_of(&text[end..], &form[1..]))
        }
        Some(wanted) => {
            let mut letters = text.chars();
            let is = letters.next().is_some_and(|it| it == wanted || wanted == '#' && it.is_ascii_digit());
            is && is_of(letters.as_str(), &form[wanted.len_utf8()..])
        }
    }
}

fn assert_said(place: &str, said: &Said, (status, headers, body): (u16, Vec<(String, String)>, String)) {
    assert_eq!(status, said.status, "{place}: {body}");
    assert!(!headers.iter().any(|(name, _)| name.starts_with("x-tailback")), "{place}: {headers:?}");
    let own: Vec<&(String, String)> =
        headers.iter().filter(|(name, _)| !OF_HTTP.contains(&name.as_str())).collect();
    let wanted: Vec<&(&str, &str)> = said
        .headers
        .iter()
        // What is there only sometimes.
        .filter(|(name, form)| !form.starts_with('?') || own.iter().any(|(there, _)| there == name))
        .collect();
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, wanted.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{place}: {headers:?}");
    for ((name, value), (_, form)) in own.iter().zip(wanted) {
        assert!(is_of(value, form.trim_start_matches('?')), "{place}: `{name}: {value}` is not `{form}`");
    }
    assert!(is_of(&body, said.body), "{place}: the body is {body}");
}

#[test]
fn every_preset_speaks_as_its_vendor_does() {
    for case in CASES {
        let server = start(case.preset);
        assert_said(&format!("{}, accepted", case.preset), &case.accepted, ask(&server, case.request));
        assert_said(&format!("{}, rejected", case.preset), &case.rejected, ask(&server, case.request));
    }
}

#[test]
fn no_preset_is_left_out() {
    for preset in server_presets() {
        let is_there = |case: &Case| case.preset.split(':').next() == Some(&*preset.name);
        assert!(CASES.iter().any(is_there), "{} has no case", preset.name);
    }
}

#[test]
fn presets_are_listed_and_shown_where_the_configuration_is() {
    let server = start("github");
    let (status, _, list) = ask(&server, "GET /_mock/presets");
    assert_eq!(status, 200);
    for preset in server_presets() {
        assert!(list.contains(&format!(r#""name":"{}""#, preset.name)), "{list}");
    }
    let (status, _, one) = ask(&server, "GET /_mock/presets/github:primary.limit=7,points=off");
    assert_eq!(status, 200);
    assert!(
        one.contains(r#""policy":"primary=fixed-window:limit=7,"#) && one.contains("github/docs"),
        "{one}"
    );
    let (status, _, error) = ask(&server, "GET /_mock/presets/githup");
    assert!(status == 404 && error.contains("did you mean `github`?"), "{error}");
    let (_, _, config) = ask(&server, "GET /_mock/config");
    assert!(
        config.contains(r#""preset":"github""#) && config.contains(r#""policy":"primary=fixed-window:"#),
        "{config}"
    );
}
