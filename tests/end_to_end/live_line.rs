//! The mockserver's live line on a terminal: it blocks nothing, and does not interfere with other output.

use rustix::process::Signal;

use super::pty::Terminal;
use super::screen::{SIZE, Screen};
use crate::support::{APART, request};

const SERVER: &str = env!("CARGO_BIN_EXE_mockserver");

fn address(screen: &Screen) -> Option<std::net::SocketAddr> {
    let (_, rest) = screen.normal.split_once("listening on http://")?;
    rest.lines().next()?.trim().parse().ok()
}

#[test]
fn a_terminal_that_was_stopped_does_not_hold_up_a_signal() {
    let mut terminal = Terminal::start_program(SIZE, &[SERVER, "--listen", "127.0.0.1:0"], |_| ());
    terminal.wait("the live line", |screen| screen.normal.contains("received 0").then_some(()));
    // Ctrl-S. From now on, writes to the terminal block.
    terminal.press("\u{13}");
    std::thread::sleep(APART);
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.finish().code, Some(143));
}

#[test]
fn a_background_server_prints_events_and_no_live_line() {
    // The server ends with its shell, and after 60 s even if that is killed.
    let script = format!(
        "set -m; timeout 60 {SERVER} --listen 127.0.0.1:0 & trap 'kill $!; wait $!; exit' TERM; wait $!"
    );
    let terminal = Terminal::start_program(SIZE, &["--ctty", "sh", "-c", &script], |_| ());
    let address = terminal.wait("it listens", address);
    request(address, "PATCH", "/_mock/config", r#"{"max_busy":7}"#);
    terminal.wait("the event", |screen| screen.normal.contains("→ 7").then_some(()));
    let told = terminal.screen().normal;
    terminal.signal(Signal::TERM);
    terminal.finish();
    assert!(!told.contains("received"), "{told}");
}

#[test]
fn the_line_of_a_preset_has_its_limits_and_counts_early_retries() {
    let preset = "openai:requests.burst=1,requests.rate=1/m";
    let fast = ["--network-delay", "0", "--service-time", "0", "--reject-time", "0"];
    let args = [&[SERVER, "--listen", "127.0.0.1:0", "--preset", preset][..], &fast].concat();
    let terminal = Terminal::start_program(SIZE, &args, |_| ());
    let address = terminal.wait("it listens", address);
    let line = |line: &str| {
        let line = line.to_owned();
        move |screen: &Screen| screen.normal.contains(&line).then_some(())
    };
    let limits = "requests 1/1 left   served 0.0/s   rejected 0.0/s   retried too early 0";
    terminal.wait("the limits before the first request", line(limits));
    for _ in 0..3 {
        request(address, "POST", "/v1/chat/completions", "{\"max_tokens\":1}");
    }
    terminal.wait("the third request, which came before its time", line("retried too early 1"));
    let normal = terminal.screen().normal;
    assert!(normal.contains("1 requests/min, 30 000 tokens/min"), "{normal:?}");
    assert!(normal.contains("\n  your client   OPENAI_BASE_URL=http://127.0.0.1:"), "{normal:?}");
    terminal.signal(Signal::TERM);
    let left = terminal.finish();
    assert!(left.screen.normal.contains("1 retried too early"), "{:?}", left.screen.normal);
}
