//! SIGINT, SIGTERM, SIGHUP: the first stops the run and keeps results, the second ends all waits, the third exits at once.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{
    APART, Folder, MockServer, Program, assert_conserved, count, eventually, start_loadgen, start_shell,
};

fn long_run(server: &MockServer, more: &[&str]) -> Program {
    let url = server.url();
    let args = ["--target", &url, "--ops", "100000", "--rate", "100/s", "--no-tui"];
    let run = start_loadgen(&[&args[..], more].concat());
    eventually("requests are answered", || (count(&server.stats(), "/accepted") > 20).then_some(()));
    run
}

#[test]
fn the_first_signal_stops_the_run_and_keeps_what_was_measured() {
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
        let run = long_run(&server, &["--json", "-"]);
        run.signal(signal);
        let left = run.finish().exits(code).says(&["ops done", name]);
        let result = left.json();
        assert_eq!(result["interrupted"], name);
        assert!(count(&result, "/ops/succeeded") > 0);
        // In-flight attempts may end: nothing was cancelled, and the server's counts equal the client's.
        assert_eq!(count(&result, "/attempts/total"), count(&result, "/server/received"));
        assert_eq!(count(&result, "/attempts/cancelled"), 0);
        assert_conserved(&result);
        assert_eq!(count(&server.stats(), "/received"), count(&result, "/server/received"));
    }
}

/// The files are created in the first milliseconds, so the signals arrive before, meanwhile and afterwards.
#[test]
fn no_signal_at_the_start_leaves_a_temporary_file() {
    let folder = Folder::new();
    let files = ["--json", "--csv", "--html", "--hdr", "--samples"];
    let files = files.map(|flag| format!("{flag}={}", folder.path(&flag[2..]).display()));
    for delay in 0..100 {
        let flags =
            ["--simulate", "--ops", "5", "--quiet"].into_iter().chain(files.iter().map(String::as_str));
        let run = start_loadgen(&flags.collect::<Vec<_>>());
        std::thread::sleep(Duration::from_micros(300 * delay));
        run.signal(Signal::TERM);
        run.finish();
        let left: Vec<String> = folder.files().into_iter().filter(|name| name.contains(".tmp")).collect();
        assert_eq!(left, [""; 0], "after {delay} × 0.3 ms");
    }
}

/// The summary covers complete runs only.
#[test]
fn an_interrupted_run_is_kept_but_not_summarised() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let url = server.url();
    let args =
        ["--target", &url, "--ops", "40", "--rate", "100/s", "--repeats", "1000", "--no-tui", "--json", "-"];
    let run = start_loadgen(&args);
    eventually("a second run goes on", || (count(&server.stats(), "/accepted") > 60).then_some(()));
    run.signal(Signal::INT);
    let result = run.finish().exits(130).json();
    let runs = result["runs"].as_array().expect("runs are a list");
    let whole = runs.iter().filter(|run| run["interrupted"].is_null()).count() as u64;
    assert!(whole > 0 && runs.len() as u64 - whole <= 1, "{whole} of {}", runs.len());
    assert_eq!(count(&result, "/summary/makespan_s/count"), whole);
}

#[test]
fn a_comparison_stopped_in_its_first_block_keeps_complete_runs() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let url = server.url();
    let compared = ["compare", "--strategies", "aimd,none", "--target", &url, "--no-tui"];
    let run = start_loadgen(&[&compared[..], &["--ops", "40", "--rate", "20/s", "--json", "-"]].concat());
    eventually("a second run goes on", || (count(&server.stats(), "/accepted") > 45).then_some(()));
    run.signal(Signal::INT);
    let words = ["makespan", "stopped by SIGINT: no strategy can be ranked", "1 of the 2 runs"];
    let document = run.finish().exits(130).says(&words).json();
    let runs = document["runs"].as_array().expect("runs are a list");
    assert_eq!((runs.len(), count(&document, "/comparison/blocks")), (1, 0));
    assert!(runs[0]["interrupted"].is_null());
    assert_eq!(count(&runs[0], "/ops/succeeded"), 40);

    let folder = tempfile::tempdir().unwrap();
    let [file, page] = ["a.json", "a.html"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&file, document.to_string()).unwrap();
    start_loadgen(&["report", &file, "-o", &page]).finish().exits(0);
}

#[test]
fn a_signal_does_not_wait_for_a_slow_server() {
    let server = MockServer::start(&["--service-time", "10m", "--network-delay", "0", "--max-busy", "1000"]);
    let url = server.url();
    let run = start_loadgen(&[
        "--target",
        &url,
        "--ops",
        "10",
        "--rate",
        "1000/s",
        "--timeout",
        "1h",
        "--no-tui",
        "--json",
        "-",
    ]);
    eventually("requests arrive", || (count(&server.stats(), "/received") == 10).then_some(()));
    run.signal(Signal::INT);
    let asked = Instant::now();
    let result = run.finish().exits(130).json();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!((count(&result, "/attempts/cancelled"), count(&result, "/ops/unfinished")), (10, 10));
    assert_conserved(&result);
    eventually("the slots of withdrawn requests are free", || {
        (count(&server.stats(), "/busy") == 0).then_some(())
    });
}

fn held(server: &MockServer, more: &[&str]) -> Program {
    let url = server.url();
    let args = ["--target", &url, "--ops", "10", "--timeout", "1h", "--no-tui"];
    let run = start_loadgen(&[&args[..], more].concat());
    eventually("requests arrive", || (count(&server.stats(), "/received") == 10).then_some(()));
    run
}

fn holding() -> MockServer {
    MockServer::start(&["--service-time", "10m", "--network-delay", "0", "--max-busy", "1000"])
}

#[test]
fn signals_that_come_together_are_one() {
    for pair in [[Signal::INT, Signal::INT], [Signal::INT, Signal::TERM]] {
        let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
        let run = long_run(&server, &["--json", "-"]);
        for signal in pair {
            run.signal(signal);
            std::thread::sleep(Duration::from_millis(1));
        }
        let result = run.finish().exits(130).json();
        assert_eq!(result["interrupted"], "SIGINT");
        // The program waited for in-flight attempts.
        assert_eq!(count(&result, "/attempts/cancelled"), 0);
        assert_conserved(&result);
    }
}

#[test]
fn the_second_signal_waits_for_nothing_but_keeps_the_result() {
    // The first signal alone would wait for these responses, because it waits for up to two seconds.
    let server =
        MockServer::start(&["--service-time", "1900ms", "--network-delay", "0", "--max-busy", "1000"]);
    let run = held(&server, &["--json", "-"]);
    run.signal(Signal::INT);
    std::thread::sleep(APART);
    run.signal(Signal::INT);
    let result = run.finish().exits(130).json();
    assert_eq!((count(&result, "/attempts/cancelled"), count(&result, "/ops/unfinished")), (10, 10));
    assert_conserved(&result);
}

#[test]
fn the_third_signal_leaves_at_once_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pipe, samples) = (place("pipe"), place("samples"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let server = holding();
    // The result is never read.
    let run = held(&server, &["--json", &pipe, "--samples", &samples]);
    run.signal(Signal::INT);
    std::thread::sleep(APART);
    run.signal(Signal::INT);
    eventually("the requests are withdrawn", || (count(&server.stats(), "/busy") == 0).then_some(()));
    std::thread::sleep(APART);
    run.signal(Signal::INT);
    run.finish().exits(130);
    let mut left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.retain(|name| name != "samples");
    assert_eq!(left, ["pipe"]);
}

#[test]
fn a_hang_up_ends_like_sigterm_unless_it_is_ignored() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let run = long_run(&server, &["--json", "-"]);
    run.signal(Signal::HUP);
    let result = run.finish().exits(129).says(&["SIGHUP"]).json();
    assert_eq!(result["interrupted"], "SIGHUP");
    assert_conserved(&result);

    // Started as by `nohup`.
    let url = server.url();
    let args = ["--target", &url, "--ops", "100000", "--rate", "100/s", "--no-tui", "--json", "-"];
    let run = start_shell("trap '' HUP; exec \"$0\" \"$@\"", &args);
    let answered = |more: u64| count(&server.stats(), "/accepted") > more;
    let before = count(&server.stats(), "/accepted");
    eventually("requests are answered", || answered(before + 20).then_some(()));
    run.signal(Signal::HUP);
    let before = count(&server.stats(), "/accepted");
    eventually("it goes on", || answered(before + 40).then_some(()));
    run.signal(Signal::INT);
    assert_eq!(run.finish().exits(130).json()["interrupted"], "SIGINT");
}

/// The server does not wait for requests in flight after the later signal.
#[test]
fn close_signals_to_the_server_are_one_and_a_later_one_ends_it() {
    let server = holding();
    let asking = ask_for_work(&server);
    server.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(1));
    server.signal(Signal::INT);
    let asked = Instant::now();
    std::thread::sleep(APART);
    // The first signal waits for five seconds. If the second had counted, the server would have ended by now.
    assert!(server.is_alive(), "both were one");
    server.signal(Signal::INT);
    server.finish().exits(130).says(&["mockserver stopped"]);
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    drop(asking);
}

#[test]
fn a_hang_up_ends_the_server_like_sigterm_unless_it_is_ignored() {
    let server = MockServer::start(&[]);
    server.signal(Signal::HUP);
    server.finish().exits(129).says(&["mockserver stopped"]);

    let program =
        start_shell("trap '' HUP; exec \"$1\" --listen 127.0.0.1:0", &[env!("CARGO_BIN_EXE_mockserver")]);
    eventually("it listens", || program.said().contains("listening on").then_some(()));
    program.signal(Signal::HUP);
    std::thread::sleep(APART);
    program.signal(Signal::TERM);
    program.finish().exits(143);
}

fn ask_for_work(server: &MockServer) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    eventually("it arrives", || (count(&server.stats(), "/busy") == 1).then_some(()));
    stream
}

/// Repeated runs, comparisons, sweeps and reproductions, whatever outputs were requested.
#[test]
fn interrupted_in_the_first_run_every_command_exits_130() {
    let folder = tempfile::tempdir().unwrap();
    let outputs: Vec<String> = ["a.html", "a.json", "a.csv", "a.hdr", "a.samples"]
        .map(|name| folder.path().join(name).to_str().unwrap().to_owned())
        .into();
    let outputs: Vec<&str> = ["--html", "--json", "--csv", "--hdr"]
        .into_iter()
        .zip(&outputs)
        .flat_map(|(flag, file)| [flag, file.as_str()])
        .collect();
    let server = holding();
    let run = held(&server, &[&["--repeats", "3"][..], &outputs].concat());
    run.signal(Signal::INT);
    run.finish().exits(130);
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(page.contains("</html>"));

    // A hundred million ops, so that the first run does not end soon.
    let strategies = ["--strategy", "aimd"];
    let compared = ["--strategies", "aimd,none"];
    for (command, rest) in [
        (&[][..], &strategies[..]),
        (&["compare"][..], &compared[..]),
        (&["sweep", "--vary", "max-busy=40,50"][..], &compared[..]),
    ] {
        let endless = ["--simulate", "--ops", "100000000", "--repeats", "3", "--threads", "2"];
        let run = start_loadgen(&[command, &endless, rest, &outputs[..4]].concat());
        eventually("it says what it does", || run.said().contains("simulated server").then_some(()));
        run.signal(Signal::INT);
        run.finish().exits(130);
    }
    let run = start_loadgen(&["reproduce", "occ", "--repeats", "10000", "--html", outputs[1]]);
    eventually("it says how far it is", || run.said().contains(" of ").then_some(()));
    run.signal(Signal::INT);
    run.finish().exits(130);
}

#[test]
fn repeats_that_were_not_begun_are_left_out() {
    let server = MockServer::start(&["--service-time", "50ms", "--network-delay", "1ms"]);
    let run = long_run(&server, &["--repeats", "3", "--json", "-"]);
    run.signal(Signal::INT);
    let document = run.finish().exits(130).json();
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(1), "{document}");
}
