//! Commands that cannot start, never end, leave children behind, or flood the server or their output.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Folder, eventually, loadgen, start_loadgen};

#[test]
fn a_command_that_cannot_be_started_is_refused() {
    let left = loadgen(&["judge", "--", "./does-not-exist", "{url}"]).exits(2);
    left.says(&["the command `./does-not-exist` cannot be started; is it installed, and in PATH?"]);
    loadgen(&["judge"]).exits(2).says(&["<COMMAND>"]);
}

#[test]
fn a_command_that_sends_nothing_is_an_error_with_its_output() {
    let left = loadgen(&["judge", "--", "sh", "-c", "echo no server at $OTHER_URL; exit 3"]).exits(1);
    left.says(&["no request reached {url}: does the command use it?", "no server at"]);
}

#[test]
fn an_unknown_key_of_a_suite_is_refused_with_its_line() {
    let folder = Folder::new();
    folder.write("s.toml", "[[situation]]\nname = \"a\"\ncolour = 3\n");
    let left = folder.loadgen("judge --suite s.toml -- true").exits(2);
    left.says(&["`s.toml` (--suite) cannot be used", "colour"]);
    folder.loadgen("judge --suite missing.toml -- true").exits(2).says(&["missing.toml"]);
    folder.loadgen("judge --only thrott -- true").exits(2).says(&["there is no situation `thrott`"]);
}

/// The command sends one request, then starts a child that would run for a minute.
#[test]
fn no_child_of_a_command_survives() {
    let folder = Folder::new();
    let script = format!(
        "sleep 61 & echo $! >> {}; exec 3<>/dev/tcp/${{TAILBACK_URL#http://127.0.0.1:}}",
        folder.path("pids").display()
    )
    .replace("/dev/tcp/$", "/dev/tcp/127.0.0.1/$");
    let command = format!("{script}; printf 'GET / HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n' >&3; head -c 12 <&3");
    loadgen(&["judge", "--quiet", "--only", "404,400", "--", "bash", "-c", &command]).exits(0);
    assert_eq!(survivors(&folder), [""; 0]);
}

/// The body arrives piece by piece for longer than the idle timeout.
#[test]
fn a_slow_body_is_judged_and_a_stalled_one_is_named() {
    let head = "POST /v1/things HTTP/1.1\\r\\nhost: a\\r\\ncontent-length: 9\\r\\n\\r\\n";
    let open = format!("exec 3<>/dev/tcp/127.0.0.1/${{TAILBACK_URL##*:}}; printf '{head}' >&3");
    let judged = |rest: &str| {
        let flags = ["judge", "--quiet", "--only", "404", "--idle-timeout", "1s", "--json", "-"];
        loadgen(&[&flags[..], &["--", "bash", "-c", &format!("{open}; {rest}")]].concat())
    };
    let slow = "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3; printf x >&3; done; head -c 12 <&3";
    let document = judged(slow).exits(0).json();
    assert_eq!(document["situations"][0]["runs"][0]["received"], 1);
    let document = judged("sleep 30").exits(99).json();
    let finding = &document["situations"][0]["findings"][0];
    assert_eq!(finding["text"], "attempt 1 promises 9 bytes in Content-Length, but sends 0");
}

#[test]
fn a_command_that_ignores_sigterm_is_killed() {
    let command = "trap '' TERM; curl --silent $TAILBACK_URL >/dev/null; while true; do sleep 1; done";
    let flags = ["judge", "--quiet", "--only", "404", "--idle-timeout", "1s", "--json", "-"];
    let started = Instant::now();
    let document = loadgen(&[&flags[..], &["--", "bash", "-c", command]].concat()).exits(0).json();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(document["situations"][0]["runs"][0]["end"], "idle");
}

#[test]
fn a_flood_of_requests_and_of_output_is_bounded() {
    let command = "yes & curl --silent $TAILBACK_URL/x $TAILBACK_URL/x >/dev/null; while true; do curl --silent $TAILBACK_URL/[1-200] $TAILBACK_URL/x >/dev/null; done";
    let folder = Folder::new();
    let json = folder.path("j.json");
    let flags = ["judge", "--only", "404", "--call", "GET /x", "--json", json.to_str().unwrap()];
    let left = loadgen(&[&flags[..], &["--", "bash", "-c", command]].concat());
    let document: serde_json::Value = serde_json::from_str(&folder.read("j.json")).unwrap();
    let run = &document["situations"][0]["runs"][0];
    assert_eq!(run["end"], "too_many_attempts");
    assert!(run["attempts"].as_array().unwrap().len() == 50);
    assert!(run["others"].as_array().unwrap().len() <= 100);
    assert!(left.stdout.contains("| [the output is longer than 64 KiB]\n"), "{}", left.stdout);
}

#[test]
fn an_interruption_ends_all_commands_and_keeps_completed_situations() {
    let folder = Folder::new();
    let pids = folder.path("pids");
    let command = format!(
        "echo $$ >> {}; curl --silent $TAILBACK_URL >/dev/null; [ $TAILBACK_SITUATION = 400 ] || sleep 60",
        pids.display()
    );
    let (json, junit) = (folder.path("j.json"), folder.path("j.xml"));
    let files = ["--json", json.to_str().unwrap(), "--junit", junit.to_str().unwrap()];
    let flags = ["judge", "--only", "400,404", "--idle-timeout", "50s"];
    let program = start_loadgen(&[&flags[..], &files, &["--", "bash", "-c", &command]].concat());
    eventually("both commands run", || {
        let text = std::fs::read_to_string(&pids).unwrap_or_default();
        (text.lines().count() == 2 && survivors(&folder).len() == 1).then_some(())
    });
    program.signal(Signal::INT);
    program.finish().exits(130).says(&["interrupted: 1 of 2 situations are complete"]);
    assert_eq!(survivors(&folder), [""; 0]);
    let document: serde_json::Value = serde_json::from_str(&folder.read("j.json")).unwrap();
    assert_eq!((&document["complete"], &document["passed"]), (&false.into(), &1.into()));
    assert!(folder.read("j.xml").contains("tests=\"1\""));
}

#[test]
fn texts_of_the_client_are_escaped_in_every_output() {
    let folder = Folder::new();
    let junit = folder.path("j.xml");
    let command = "for i in 1 2; do curl --silent -H 'Idempotency-Key: <&\">' $TAILBACK_URL/a%1b >/dev/null; done; printf '\\e[31m<red>\\x01'";
    let flags = ["judge", "--only", "404", "--junit", junit.to_str().unwrap()];
    let left = loadgen(&[&flags[..], &["--", "bash", "-c", command]].concat()).exits(99);
    assert!(!left.stdout.contains('\u{1b}') && left.stdout.contains("<red>"), "{}", left.stdout);
    let xml = folder.read("j.xml");
    assert!(xml.contains("404 was retried") && !xml.contains('\u{1b}') && !xml.contains('\u{1}'), "{xml}");
}

/// Returns the processes of the file `pids` that still run.
fn survivors(folder: &Folder) -> Vec<String> {
    let is_running = |pid: &&str| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    folder.read("pids").lines().filter(is_running).map(str::to_owned).collect()
}
