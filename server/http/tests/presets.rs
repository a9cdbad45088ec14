//! Every preset on the wire: the exact responses to an unknown client, accepted and rejected.
//!
//! `presets/NAME.txt` has cases. `>` is the preset as on the command line, then `>` the request. The answers follow in order: `<` the
//! status, `<` every header except those of HTTP itself, `?` a header that is sometimes absent, `=` the body. `#` matches a digit, `~`
//! anything.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mockserver::Embedded;
use mockserver::core::{Config, server_presets};
use vocabulary::{Distribution, TimeScale};

/// Headers of HTTP itself, which every answer of the server has.
const OF_HTTP: &[&str] = &["cache-control", "connection", "content-length", "date"];

/// Suffix of a request that is sent while the only slot is busy.
const WHILE_SERVED: &str = " while another is served";

struct Answer {
    status: String,
    /// Sorted by name.
    headers: Vec<(String, String)>,
    body: String,
}

#[derive(Default)]
struct Form<'a> {
    status: &'a str,
    /// Name, value, and whether the header is always present.
    headers: Vec<(&'a str, &'a str, bool)>,
    body: String,
}

struct Case<'a> {
    preset: &'a str,
    request: &'a str,
    answers: Vec<Form<'a>>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    text.split("\n\n").filter(|block| !block.trim().is_empty()).map(case).collect()
}

fn case(block: &str) -> Case<'_> {
    let mut lines = block.trim_start().lines();
    let mut typed = || lines.next().unwrap().strip_prefix("> ").unwrap();
    let (preset, request) = (typed(), typed());
    let (mut answers, mut form) = (Vec::new(), Form::default());
    for line in lines {
        let (mark, rest) = line.split_at(2.min(line.len()));
        match (mark, rest.split_once(':')) {
            ("= " | "=", _) => {
                form.body = rest.replace("\\r", "\r").replace("\\n", "\n");
                answers.push(std::mem::take(&mut form));
            }
            ("< ", None) => form.status = rest,
            (_, Some((name, value))) => form.headers.push((name, value.trim(), mark == "< ")),
            _ => panic!("{preset}: `{line}`"),
        }
    }
    Case { preset, request, answers }
}

fn start(preset: &str, service: Distribution) -> Embedded {
    let quick = Config {
        network_delay: Distribution::ZERO,
        reject_time: Distribution::ZERO,
        service_time: service,
        ..Config::default()
    };
    Embedded::start(quick.with_preset(preset, None).unwrap(), TimeScale::default()).unwrap()
}

fn send(server: &Embedded, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer me\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn ask(server: &Embedded, request: &str) -> Answer {
    let mut answer = String::new();
    send(server, request).read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let named = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_lowercase(), value.trim().to_owned())
    };
    let mut headers: Vec<(String, String)> = lines.map(named).collect();
    headers.sort();
    Answer { status, headers, body: body.to_owned() }
}

/// Whether a text matches a pattern: `#` is a digit, `~` is any text, also an empty one.
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

fn assert_is(place: &str, answer: &Answer, form: &Form<'_>) {
    let Answer { status, headers, body } = answer;
    assert_eq!(status, form.status, "{place}: {body}");
    assert!(!headers.iter().any(|(name, _)| name.starts_with("x-tailback")), "{place}: {headers:?}");
    let own: Vec<&(String, String)> =
        headers.iter().filter(|(name, _)| !OF_HTTP.contains(&name.as_str())).collect();
    let is_there = |name: &str| own.iter().any(|(there, _)| there == name);
    let wanted: Vec<_> = form.headers.iter().filter(|(name, _, always)| *always || is_there(name)).collect();
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, wanted.iter().map(|(name, ..)| *name).collect::<Vec<_>>(), "{place}: {headers:?}");
    for ((name, value), (_, form, _)) in own.iter().zip(wanted) {
        assert!(is_of(value, form), "{place}: `{name}: {value}` is not `{form}`");
    }
    assert!(is_of(body, &form.body), "{place}: `{body}` is not `{}`", form.body);
}

fn check(case: &Case<'_>) {
    let place = |index: usize| format!("{}, {}, answer {}", case.preset, case.request, index + 1);
    let server = start(case.preset, Distribution::ZERO);
    let Some(request) = case.request.strip_suffix(WHILE_SERVED) else {
        for (index, form) in case.answers.iter().enumerate() {
            assert_is(&place(index), &ask(&server, case.request), form);
        }
        return;
    };
    let [accepted, rejected] = &case.answers[..] else { panic!("{}: two answers", place(0)) };
    assert_is(&place(0), &ask(&server, request), accepted);
    let server = start(case.preset, Distribution::millis(3_600_000));
    let first = send(&server, request);
    while server.stats(None).busy == 0 {
        std::thread::yield_now();
    }
    assert_is(&place(1), &ask(&server, request), rejected);
    drop(first);
}

#[test]
fn every_preset_speaks_as_its_vendor_does() {
    for preset in server_presets() {
        let path = format!("{}/tests/presets/{}.txt", env!("CARGO_MANIFEST_DIR"), preset.name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let cases = cases(&text);
        assert!(!cases.is_empty(), "{path} has no case");
        for case in cases {
            assert_eq!(case.preset.split(':').next(), Some(&*preset.name));
            assert!(case.answers.len() >= 2, "{}: accepted and rejected", case.preset);
            check(&case);
        }
    }
}

#[test]
fn presets_are_listed_and_shown_where_the_configuration_is() {
    let server = start("github", Distribution::ZERO);
    let list = ask(&server, "GET /_mock/presets");
    assert_eq!(list.status, "200");
    for preset in server_presets() {
        assert!(list.body.contains(&format!(r#""name":"{}""#, preset.name)), "{}", list.body);
    }
    let one = ask(&server, "GET /_mock/presets/github:primary.limit=7,points=off");
    assert_eq!(one.status, "200");
    for words in [r#""policy":"primary=fixed-window:limit=7,"#, "github/docs"] {
        assert!(one.body.contains(words), "{}", one.body);
    }
    let unknown = ask(&server, "GET /_mock/presets/githup");
    assert!(unknown.status == "404" && unknown.body.contains("did you mean `github`?"), "{}", unknown.body);
    let config = ask(&server, "GET /_mock/config");
    for words in [r#""preset":"github""#, r#""policy":"primary=fixed-window:"#] {
        assert!(config.body.contains(words), "{}", config.body);
    }
}
