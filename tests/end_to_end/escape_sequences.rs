//! Escape sequences in any input of the programs: they are printed, and no terminal interprets them.

use std::io::Write as _;
use std::net::SocketAddr;

use rustix::process::Signal;
use serde_json::Value;

use super::foreign_server::ForeignServer;
use super::hostile_servers::bare_server;
use crate::support::{Folder, Left, MockServer, eventually, loadgen, request, start_mockserver};

/// Sets a terminal's title, twice. The second form has one character for `ESC ]`, and a byte that is not valid UTF-8 on its own.
const ATTACK: &str = "\u{1b}]0;x\u{7}\u{9d}0;x\u{9c}";

fn is_harmless(left: &Left, of: &str) {
    for text in [&left.stdout, &left.stderr] {
        let obeyed = text.chars().find(|letter| letter.is_control() && !"\n\t".contains(*letter));
        assert_eq!(obeyed, None, "{of}: {text:?}");
    }
    assert!(!left.stderr.contains("panicked"), "{of}: {}", left.stderr);
}

/// Checks that output is harmless, and that the escape sequence is printed somewhere.
fn is_shown(left: &Left, of: &str) {
    is_harmless(left, of);
    let shown = [&left.stdout, &left.stderr].iter().any(|text| text.contains("\\u{1b}]0;x\\u{7}"));
    assert!(shown, "{of}: {left:?}");
}

/// Returns one copy of the document for each text in it, with the attack appended to that text, and the text's path.
fn attacked(document: &Value) -> Vec<(String, Value)> {
    let places = places(document, "");
    let with = |place: &String| {
        let mut changed = document.clone();
        let text = changed.pointer_mut(place).unwrap();
        *text = Value::from(format!("{}{ATTACK}", text.as_str().unwrap()));
        (place.clone(), changed)
    };
    places.iter().map(with).collect()
}

fn places(value: &Value, here: &str) -> Vec<String> {
    let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::String(_) => vec![here.to_owned()],
        Value::Array(values) => values
            .iter()
            .enumerate()
            .flat_map(|(index, value)| places(value, &format!("{here}/{index}")))
            .collect(),
        Value::Object(values) => values
            .iter()
            .flat_map(|(key, value)| places(value, &format!("{here}/{}", escaped(key))))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn of_the_command_line() {
    const FLAGS: &[&str] = &[
        "--strategy",
        "--ops",
        "--duration",
        "--rate",
        "--arrivals",
        "--in-flight",
        "--clients",
        "--timeout",
        "--within",
        "--max-attempts",
        "--kind",
        "--mix",
        "--rejected-when",
        "--seed",
        "--repeats",
        "--time-scale",
        "--target",
        "--method",
        "--header",
        "--body",
        "--cacert",
        "--transport",
        "--admin-token",
        "--preset",
        "--policy",
        "--service-time",
        "--network-delay",
        "--outages",
        "--caps",
        "--retry-after",
        "--faults",
        "--json",
        "--csv",
        "--html",
        "--hdr",
        "--samples",
        "--fail-if",
        "--baseline",
        "--save-baseline",
        "--shard",
        "--progress",
        "--theme",
        "--no-such-flag",
    ];
    let folder = Folder::new();
    let nowhere = format!("nowhere/{ATTACK}/file");
    for flag in FLAGS {
        for value in [ATTACK, &format!("5{ATTACK}"), &format!("@{ATTACK}"), &nowhere] {
            is_harmless(
                &folder.loadgen_words(&["--simulate", "--ops", "1", &format!("{flag}={value}")]),
                flag,
            );
        }
    }
    for words in [
        &["strategies"][..],
        &["strategies", "--check"],
        &["reproduce"],
        &["reproduce", "--scenario"],
        &["reproduce", "occ", "--set"],
        &["compare", "--strategies"],
        &["compare", "--by"],
        &["sweep", "--vary"],
        &["merge"],
        &["report", "-o", "x.html"],
        &["plot", "-f", "window"],
        &["completions"],
        &["strategies", "aimd", "--print-settings"],
    ] {
        is_shown(&folder.loadgen_words(&[words, &[ATTACK]].concat()), &words.join(" "));
    }
    for words in [
        &["--policy"][..],
        &["--preset"],
        &["--max-busy"],
        &["--listen"],
        &["--admin-remote"],
        &["presets"],
        &[],
    ] {
        is_harmless(
            &start_mockserver(&[words, &[ATTACK]].concat()).finish(),
            &format!("mockserver {}", words.join(" ")),
        );
    }
}

#[test]
fn of_names_of_files() {
    let folder = Folder::new();
    let name = |extension: &str| format!("{ATTACK}.{extension}");
    let simulated = ["--simulate", "--ops", "5"];
    for flag in ["json", "csv", "html", "hdr", "samples"] {
        is_harmless(
            &folder
                .loadgen_words(&[&simulated[..], &[&format!("--{flag}={}", name(flag))]].concat())
                .exits(0),
            flag,
        );
    }
    is_harmless(
        &folder.loadgen_words(&["report", &name("json"), "-o", &name("page.html")]).exits(0),
        "report",
    );
    is_harmless(&folder.loadgen_words(&["plot", &name("json"), "-f", "window"]).exits(0), "plot");
    folder.write(&name("broken"), "{");
    for words in [
        &["merge"][..],
        &["report"],
        &["plot", "-f", "window"],
        &["strategies", "--check"],
        &["reproduce", "--scenario"],
        &["--simulate", "--baseline"],
        &["--simulate", "--shard", "0/2", "--json", "nowhere/x", "--cacert"],
    ] {
        is_harmless(&folder.loadgen_words(&[words, &[&name("broken")]].concat()).exits(2), &words.join(" "));
    }
}

#[test]
fn of_documents() {
    let folder = Folder::new();
    folder.done("--simulate --ops 20 --json run.json --save-baseline ./baseline.json");
    for shard in [0, 1] {
        folder.done(&format!("--simulate --ops 5 --repeats 2 --shard {shard}/2 --json {shard}.json"));
    }
    for (document, commands) in [
        ("run.json", &["report X -o page.html", "plot X -f window"][..]),
        ("baseline.json", &["--simulate --ops 20 --baseline ./X"]),
        ("0.json", &["merge X 1.json --csv -"]),
    ] {
        let value: Value = serde_json::from_str(&folder.read(document)).unwrap();
        for (place, changed) in attacked(&value) {
            folder.write("X", &changed.to_string());
            for command in commands {
                is_harmless(&folder.loadgen(command), &format!("{command}: {document}{place}"));
            }
        }
        let mut with_key = value.clone();
        with_key.as_object_mut().unwrap().insert(ATTACK.to_owned(), Value::from(ATTACK));
        for broken in [with_key.to_string(), format!("{{\"{ATTACK}\":1}}"), ATTACK.to_owned()] {
            folder.write("X", &broken);
            for command in commands {
                is_harmless(&folder.loadgen(command), &format!("{command}: {document}, {broken:.40?}"));
            }
        }
    }
}

#[test]
fn of_recordings_and_maps() {
    let folder = Folder::new();
    let recording = include_str!("../real_clients/httpx.json");
    let value: Value = serde_json::from_str(recording).unwrap();
    for (place, changed) in attacked(&value) {
        folder.write("X", &changed.to_string());
        is_harmless(&folder.loadgen("strategies --check X"), &format!("httpx.json{place}"));
    }
    folder.write("httpx.json", recording);
    for map in [
        "[[recorded]]\nfile = 'X'",
        "[[recorded]]\nfile = 'a'\nconfig = 'X'\ntext = 'aimd'",
        "X = 1",
        "'X' = 1",
        "X",
    ] {
        folder.write(
            "map.toml",
            &map.replace("'X'", &format!("{:?}", "\u{1}")).replace("\\u{1}", "\\u001b]0;x\\u0007"),
        );
        is_harmless(&folder.loadgen("strategies --check httpx.json --map map.toml"), map);
        folder.write("map.toml", &map.replace('X', ATTACK));
        is_harmless(&folder.loadgen("strategies --check httpx.json --map map.toml"), map);
    }
}

#[test]
fn of_scenarios() {
    const SCENARIO: &str = r#"
        name = "mine"
        title = "TITLE"
        about = "ABOUT"
        source = "SOURCE"
        repeats = 1

        [workload]
        ops = 5

        [strategies]
        "LABEL" = "aimd"

        [experiment."one"]
        title = "CAPTION"
        columns = [{ title = "COLUMN", figure = "attempts.total" }]

        [[claim]]
        says = "CLAIM"
        experiment = "one"
        figure = "attempts.total"
        of = "LABEL"
        at_most = "1"
        published = "PUBLISHED"
        note = "NOTE"
    "#;
    let folder = Folder::new();
    for (command, exit) in [("reproduce --scenario X", 1), ("reproduce --scenario X --list", 0)] {
        folder.write("X", SCENARIO);
        is_harmless(&folder.loadgen(command).exits(exit), command);
        let words = [
            "TITLE",
            "ABOUT",
            "SOURCE",
            "LABEL",
            "CAPTION",
            "COLUMN",
            "CLAIM",
            "PUBLISHED",
            "NOTE",
            "mine",
            "aimd",
            "one",
        ];
        for word in words {
            folder.write("X", &SCENARIO.replace(word, &format!("{word}\\u001b]0;x\\u0007")));
            is_harmless(&folder.loadgen(command), &format!("{command}: {word}"));
            folder.write("X", &SCENARIO.replace(word, ATTACK));
            is_harmless(&folder.loadgen(command), &format!("{command}: {word}, raw"));
        }
    }
}

#[test]
fn of_answers_of_servers() {
    let flags = ["--ops", "4", "--in-flight", "2", "--max-attempts", "2", "--timeout", "2s", "--no-tui"];
    let head = |status: &str, headers: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
    };
    for answer in [
        head("500 Wrong", "", ATTACK),
        head(&format!("503 {ATTACK}"), "", ATTACK),
        head("429 Wait", &format!("retry-after: {ATTACK}\r\n"), ATTACK),
        head(
            "429 Wait",
            "retry-after: \u{9d}0;x\u{9c}\r\n",
            "{\"error\":{\"message\":\"\\u001b]0;x\\u0007\"}}",
        ),
        head("302 Found", &format!("location: http://{ATTACK}/\r\n"), ""),
        head("200 OK", &format!("server: {ATTACK}\r\nx-tailback-busy: {ATTACK}\r\n"), ATTACK),
        format!("HTTP/1.1 {ATTACK}\r\n\r\n"),
        ATTACK.to_owned(),
    ] {
        for transport in ["hyper", "reqwest"] {
            let sent = answer.clone();
            let server = ForeignServer::start(move |_, connection| {
                connection.write_all(sent.as_bytes())?;
                connection.flush()
            });
            let target =
                ["--target", &server.url(), "--transport", transport, "--rejected-when", "body:wait"];
            is_harmless(&loadgen(&[&target[..], &flags].concat()), &format!("{transport}: {answer:?}"));
        }
    }
}

/// Starts a mockserver with one endpoint that returns these words. Other endpoints are forwarded to the real server.
fn lying(real: SocketAddr, endpoint: &'static str, status: &'static str, words: &str) -> String {
    let words = words.to_owned();
    bare_server(move |line, stream| {
        let mut line = line.split(' ');
        let (method, path) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
        let (status, body) = if path.starts_with(endpoint) {
            (status.to_owned(), words.clone())
        } else {
            let answer = request(real, method, path, "");
            (format!("{} Real", answer.status), answer.body)
        };
        let (name, version, length) = (wire::MOCK, wire::MOCK_VERSION, body.len());
        write!(stream, "HTTP/1.1 {status}\r\n{name}: {version}\r\ncontent-length: {length}\r\n\r\n{body}")?;
        stream.flush()
    })
}

#[test]
fn of_the_admin_endpoints_of_a_claimed_mockserver() {
    let real = MockServer::start(&["--service-time", "5ms", "--policy", "token-bucket:rate=100/s"]);
    let with = |url: &str, more: &[&str]| {
        let flags = ["--ops", "2", "--timeout", "2s", "--no-tui", "--max-attempts", "2", "--target", url];
        loadgen(&[&flags[..], more].concat())
    };
    for endpoint in ["/_mock/config", "/_mock/stats"] {
        let truth = request(real.address, "GET", endpoint, "").json();
        for (place, lie) in attacked(&truth) {
            let url = lying(real.address, endpoint, "200 OK", &lie.to_string());
            is_harmless(&with(&url, &[]), &format!("{endpoint}{place}"));
        }
    }
    let refusal = serde_json::json!({ "error": ATTACK, "missing": [1] }).to_string();
    for words in [&refusal, ATTACK] {
        for status in ["200 OK", "400 Bad", "500 Wrong"] {
            for endpoint in ["/_mock/config", "/_mock/stats"] {
                let url = lying(real.address, endpoint, status, words);
                is_harmless(&with(&url, &[]), &format!("{endpoint} {status}"));
            }
        }
        let url = lying(real.address, "/_mock/config", "403 Forbidden", words);
        is_shown(&with(&url, &[]).exits(2), "refused");
    }
}

#[test]
fn of_configurations_of_a_mockserver() {
    let server = MockServer::start(&[]);
    let config = serde_json::json!({ "policy": ATTACK, "max_busy": 7 });
    assert_ne!(request(server.address, "PATCH", "/_mock/config", &config.to_string()).status, 200);
    assert_eq!(request(server.address, "PATCH", "/_mock/config", "{\"max_busy\":7}").status, 200);
    eventually("it is told", || server.said().contains("→ 7").then_some(()));
    is_harmless(&server.finish_by_signals(Signal::TERM), "PATCH /_mock/config");
}
