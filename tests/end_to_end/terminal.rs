//! The dashboard on a real terminal: shown during the run, with the terminal restored however it ends.

use std::path::Path;

use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use serde_json::Value;
use tempfile::TempDir;

use super::pty::Terminal;
use super::screen::Screen;
use crate::support::{APART, MockServer, assert_conserved, count, eventually, request};

/// A run of one or two seconds.
const SHORT: &[&str] =
    &["--strategy", "aimd", "--max-busy", "10", "--ops", "200", "--rate", "10/s", "--time-scale", "0.1"];

const LONG: &[&str] = &["--strategy", "aimd", "--service-time", "20ms", "--ops", "100000", "--rate", "50/s"];

/// A run without any response.
const STUCK: &[&str] = &[
    "--ops",
    "10",
    "--service-time",
    "10m",
    "--network-delay",
    "0",
    "--max-busy",
    "1000",
    "--timeout",
    "1h",
];

fn done(screen: &Screen) -> Option<u64> {
    let lines = screen.lines();
    let (before, _) = lines.iter().find_map(|line| line.split_once(" ops "))?;
    let (done, _) = before.split_once('/')?;
    done.replace(' ', "").parse().ok()
}

fn watched(args: &[&str]) -> Terminal {
    let terminal = Terminal::start(args);
    terminal.wait("ops are done", |screen| done(screen).filter(|&ops| ops > 0));
    terminal
}

fn place() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json").to_str().unwrap().to_owned();
    (folder, file)
}

fn saved(file: &str) -> Value {
    let result = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_conserved(&result);
    result
}

#[test]
fn the_dashboard_is_live_and_the_summary_stays() {
    let (_folder, file) = place();
    let terminal = watched(&[SHORT, &["--json", &file]].concat());
    let screen = terminal.screen();
    assert!(screen.lines()[0].starts_with("aimd "), "{screen:?}");
    assert!(terminal.is_raw() && !screen.cursor_shown);
    assert!(!screen.normal.contains("ops done"), "{screen:?}");
    let first = done(&screen).unwrap();
    terminal.wait("more ops are done", |screen| done(screen).filter(|&ops| ops > first));

    let left = terminal.finish().restored("a normal end", 0);
    assert_eq!(left.screen.entered, 1);
    let summary = left.screen.normal;
    for words in ["aimd: all 200 ops done in", "attempts", "latency", "checked"] {
        assert!(summary.contains(words), "no `{words}` in: {summary}");
    }
    let result = saved(&file);
    assert_eq!(count(&result, "/ops/succeeded"), 200);
    assert!(result["interrupted"].is_null());
}

/// It may be stopped by a key or a signal.
#[test]
fn a_stopped_run_restores_the_terminal_and_saves_the_result() {
    type Stop = fn(&mut Terminal);
    let cases: [(&str, Stop, i32); 5] = [
        ("user", |terminal| terminal.press("q"), 130),
        ("user", |terminal| terminal.press("\x03"), 130),
        ("SIGINT", |terminal| terminal.signal(Signal::INT), 130),
        ("SIGTERM", |terminal| terminal.signal(Signal::TERM), 143),
        ("SIGHUP", |terminal| terminal.signal(Signal::HUP), 129),
    ];
    for (case, (name, stop, code)) in cases.into_iter().enumerate() {
        let (_folder, file) = place();
        let mut terminal = watched(&[LONG, &["--json", &file]].concat());
        assert!(terminal.is_raw());
        stop(&mut terminal);
        let left = terminal.finish().restored(&format!("case {case}"), code);
        assert!(left.screen.normal.contains("ops done"), "{}", left.screen.normal);
        let by = if name == "user" { "stopped by the user".to_owned() } else { format!("stopped by {name}") };
        assert!(left.screen.normal.contains(&by), "{}", left.screen.normal);
        let result = saved(&file);
        assert_eq!(result["interrupted"], name);
        assert!(count(&result, "/ops/succeeded") > 0);
    }
}

#[test]
fn a_closed_terminal_ends_a_run_like_sighup() {
    // No signal arrives, because the program is in a session of its own, without this terminal.
    let (_folder, file) = place();
    let code = watched(&[LONG, &["--json", &file]].concat()).hang_up();
    let result = saved(&file);
    assert_eq!((code, &result["interrupted"]), (Some(129), &"SIGHUP".into()));
    assert!(count(&result, "/ops/succeeded") > 0);

    // The same holds for several strategies.
    let (_folder, file) = place();
    let small =
        ["compare", "--strategies", "aimd,none", "--ops", "20", "--rate", "100/s", "--repeats", "1000"];
    let lanes = Terminal::start(&[&small[..], &["--json", &file]].concat());
    lanes.wait("a block is complete", |screen| screen.shows("seed 2 of").then_some(()));
    assert_eq!(lanes.hang_up(), Some(129));
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(count(&document, "/comparison/blocks") > 0);
}

#[test]
fn a_closed_terminal_changes_nothing_if_sighup_is_ignored() {
    let (_folder, file) = place();
    let size = super::screen::SIZE;
    let ignoring = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_loadgen")];
    let terminal = Terminal::start_program(size, &[&ignoring, SHORT, &["--json", &file]].concat(), |_| ());
    terminal.wait("ops are done", |screen| done(screen).filter(|&ops| ops > 0));
    assert_eq!(terminal.hang_up(), Some(0));
    let result = saved(&file);
    assert_eq!((count(&result, "/ops/succeeded"), &result["interrupted"]), (200, &Value::Null));
}

/// It leaves no half-written file.
#[test]
fn sigquit_while_drawing_restores_the_terminal() {
    let showing = |args: &[&str]| {
        let terminal = Terminal::start(args);
        // All ops may have arrived before the first frame.
        let shown = |screen: &Screen| (screen.shows("arriving") || screen.shows("finishing")).then_some(());
        terminal.wait("the dashboard is shown", shown);
        terminal
    };
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).expect("less is always allowed");
    for case in 0..40 {
        // Every key causes a redraw, so that the signal arrives while it draws. Nothing may be drawn after the terminal is restored.
        let (folder, file) = place();
        let mut busy = showing(&[STUCK, &["--samples", &file]].concat());
        busy.press(&"\t".repeat(1_000));
        busy.signal(Signal::QUIT);
        let left = busy.finish().restored(&format!("SIGQUIT, {case}"), 128 + 3);
        assert!(!left.screen.normal.contains("ops done"), "{}", left.screen.normal);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left half written");
    }
}

#[test]
fn repeated_signals_end_at_once_and_keep_the_result() {
    let showing = |args: &[&str]| {
        let terminal = Terminal::start(args);
        let shown = |screen: &Screen| (screen.shows("arriving") || screen.shows("finishing")).then_some(());
        terminal.wait("the dashboard is shown", shown);
        terminal
    };
    let (_folder, file) = place();
    showing(&[STUCK, &["--json", &file]].concat())
        .insist(|terminal| terminal.signal(Signal::INT))
        .restored("many signals", 130);

    let (folder, file) = place();
    let mut keys = showing(&[STUCK, &["--json", &file]].concat());
    keys.press("q");
    keys.wait("it says that it stops", |screen| screen.shows("stopping…").then_some(()));
    // Two keys at the same time count as one.
    std::thread::sleep(APART);
    keys.press("\x03");
    let left = keys.finish().restored("two keys", 130);
    assert!(left.screen.normal.contains("ops done"), "{}", left.screen.normal);
    let result = saved(&file);
    assert_eq!(result["interrupted"], "user");
    assert_eq!(count(&result, "/ops/succeeded"), 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file is left half written");
}

#[test]
fn without_a_dashboard_nothing_but_text_is_written() {
    let cases: [(&[&str], &str); 3] = [(&[], "dumb"), (&["--no-tui"], "xterm"), (&["--quiet"], "xterm")];
    let start = |(flags, term)| {
        let (folder, file) = place();
        let stderr = std::fs::File::create(folder.path().join("stderr")).unwrap();
        let terminal = Terminal::start_with(&[SHORT, &["--json", &file], flags].concat(), |command| {
            command.env("TERM", term).stderr(stderr);
        });
        (terminal, folder, file)
    };
    // All run at once, because their progress lines appear only once a second.
    for ((terminal, folder, file), (flags, _)) in cases.map(start).into_iter().zip(cases) {
        let left = terminal.finish().restored(&format!("{flags:?}"), 0);
        assert_eq!((left.screen.codes, left.screen.entered), (0, 0), "{flags:?}: {:?}", left.screen.normal);
        let quiet = flags.contains(&"--quiet");
        assert_eq!(left.screen.normal.contains("ops done"), !quiet, "{flags:?}: {}", left.screen.normal);
        assert_plain_progress(&folder.path().join("stderr"), !quiet);
        assert_eq!(count(&saved(&file), "/ops/succeeded"), 200);
    }
}

#[test]
fn a_file_gets_the_summary_and_no_codes() {
    let (folder, _) = place();
    let [shown, said] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let [stdout, stderr] = [&shown, &said].map(|path| std::fs::File::create(path).unwrap());
    let terminal = Terminal::start_with(SHORT, |command| {
        command.stdout(stdout).stderr(stderr);
    });
    let left = terminal.finish().restored("stdout is a file", 0);
    assert_eq!((left.screen.codes, left.screen.normal.as_str()), (0, ""));
    let summary = std::fs::read_to_string(&shown).unwrap();
    assert!(summary.contains("ops done") && !summary.contains('\x1b'), "{summary:?}");
    assert_plain_progress(&said, true);
}

fn assert_plain_progress(stderr: &Path, wanted: bool) {
    let said = std::fs::read_to_string(stderr).unwrap();
    assert!(!said.contains(['\x1b', '\r']), "{said:?}");
    assert_eq!(said.lines().any(|line| line.contains("/200 ops")), wanted, "{said:?}");
}

#[test]
fn a_reproduction_shows_its_progress_in_one_transient_line() {
    let terminal = Terminal::start(&["reproduce", "occ", "--repeats", "1000"]);
    let first = terminal.wait("the line is there", |screen| {
        let line = screen.normal.lines().last()?.to_owned();
        (line.contains(" of ") && line.contains(" left")).then_some(line)
    });
    terminal.wait("it is another", |screen| (screen.normal.lines().last()? != first).then_some(()));
    let lines = terminal.screen().normal.lines().filter(|line| line.contains(" runs")).count();
    assert!(lines <= 1, "{}", terminal.screen().normal);
    terminal.signal(Signal::INT);
    let left = terminal.finish();
    assert_eq!(left.code, Some(130));
    assert!(!left.screen.normal.contains(" left"), "{}", left.screen.normal);
}

#[test]
fn a_narrow_summary_breaks_between_figures_and_words() {
    let left = Terminal::start_in(40, &["--simulate", "-s", "exponential:jitter=0.5", "--no-tui"]).finish();
    assert_eq!(left.code, Some(0));
    let text = left.screen.normal;
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("exponential:jitter=0.5: all")).collect();
    assert!(rows.len() > 8, "{text}");
    assert!(rows.iter().all(|row| row.chars().count() <= 40), "{text}");
    assert!(rows.iter().any(|row| row.starts_with("             2 000 accepted")), "{text}");
}

#[test]
fn brackets_change_the_cap_of_the_server_during_the_run() {
    let server = MockServer::start(&["--max-busy", "50", "--service-time", "20ms"]);
    let url = server.url();
    let mut terminal = watched(&["--target", &url, "--ops", "100000", "--rate", "50/s"]);
    for (key, answer, cap) in [("[", "cap 50 → 45", 45), ("[", "cap 45 → 41", 41), ("]", "cap 41 → 45", 45)]
    {
        terminal.press(key);
        terminal.wait("the key is answered", |screen| screen.shows(answer).then_some(()));
        eventually("the server has another cap", || {
            let config = request(server.address, "GET", "/_mock/config", "").json();
            (count(&config, "/max_busy") == cap).then_some(())
        });
        let shown = format!("cap {cap:>4}");
        terminal.wait("the new cap is shown", |screen| screen.shows(&shown).then_some(()));
    }
    terminal.press("q");
    let left = terminal.finish().restored("after a change of the cap", 130);
    assert!(left.screen.normal.contains("was changed during the run"), "{}", left.screen.normal);
}
