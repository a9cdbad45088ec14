//! The mockserver's live line on a terminal: it waits for nobody, and stays out of others' way.

use rustix::process::Signal;

use super::pty::Terminal;
use super::screen::{SIZE, Screen};
use crate::support::{APART, request};

const SERVER: &str = env!("CARGO_BIN_EXE_mockserver");

/// Where it listens, once it says so.
fn address(screen: &Screen) -> Option<std::net::SocketAddr> {
    let (_, rest) = screen.normal.split_once("listening on http://")?;
    rest.lines().next()?.trim().parse().ok()
}

#[test]
fn a_terminal_that_was_stopped_does_not_hold_up_a_signal() {
    let mut terminal = Terminal::start_program(SIZE, &[SERVER, "--listen", "127.0.0.1:0"], |_| ());
    terminal.wait("the live line", |screen| screen.normal.contains("received 0").then_some(()));
    // Ctrl-S; from now on whoever writes waits.
    terminal.press("\u{13}");
    std::thread::sleep(APART);
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.finish().code, Some(143));
}

#[test]
fn from_the_background_events_are_told_and_no_line_is_painted() {
    // It ends with its shell, and is not there for ever where that is killed.
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
