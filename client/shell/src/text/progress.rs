//! Progress lines of long operations on stderr.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use command_line::columns_of;
use loadgen_core::{Run, Snapshot};
use vocabulary::printable;

use crate::text::to_stderr;

/// Maximum width of a run's progress line in columns.
const WIDEST: usize = 120;

/// Occasional progress output. On a terminal, one line is overwritten. Elsewhere a new line is printed each time the elapsed time has
/// doubled.
pub struct Live {
    wanted: bool,
    terminal: bool,
    started: Instant,
    next: Instant,
    drawn: bool,
}

impl Live {
    pub fn new(wanted: bool) -> Self {
        let terminal = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        let started = Instant::now();
        let next = started + Duration::from_millis(if terminal { 300 } else { 2_000 });
        Self { wanted, terminal, started, next, drawn: false }
    }

    pub fn line(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.wanted || now < self.next {
            return;
        }
        if self.terminal {
            self.next = now + Duration::from_millis(200);
            self.drawn = true;
            // The line is cut to fit the terminal, because a wrapped line could not be erased.
            let columns = columns_of(&io::stderr()).map_or(78, |columns| columns.saturating_sub(2).min(78));
            let line: String = printable(&line()).chars().take(columns).collect();
            drop(write!(io::stderr().lock(), "{ANEW}{line}"));
        } else {
            self.next = now + (now - self.started);
            to_stderr(&format!("{}\n", line()));
        }
    }
}

/// Control sequence that moves the cursor to the start of the line and erases the line.
const ANEW: &str = "\r\u{1b}[2K";

impl Drop for Live {
    fn drop(&mut self) {
        if self.drawn {
            drop(write!(io::stderr().lock(), "{ANEW}"));
        }
    }
}

/// Prints one progress line of a run, which fits the terminal.
pub fn run_line(snapshot: &Snapshot) {
    let columns = columns_of(&io::stderr()).map_or(WIDEST, |columns| columns.min(WIDEST));
    to_stderr(&format!("{}\n", dashboards::progress_line(snapshot, columns)));
}

/// Printer of progress lines. It prints at most one line per second, and the first line after one second.
pub struct Progress {
    /// Time at which the next line may be printed; `None` if no lines are wanted.
    next: Option<Instant>,
    /// Progress line that was printed last. An equal line is not printed again, because a log does not need it twice.
    last: String,
    snapshot: Snapshot,
}

impl Progress {
    pub fn new(wanted: bool) -> Self {
        Self {
            next: wanted.then(|| Instant::now() + Duration::from_secs(1)),
            last: String::new(),
            snapshot: Snapshot::default(),
        }
    }

    pub fn line(&mut self, line: impl FnOnce() -> String) {
        if self.due() {
            let line = line();
            if line != self.last {
                to_stderr(&format!("{line}\n"));
                self.last = line;
            }
        }
    }

    pub fn run(&mut self, run: &Run, now: vocabulary::Instant) {
        if self.due() {
            run.snapshot(now, &mut self.snapshot);
            run_line(&self.snapshot);
        }
    }

    fn due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.next.is_some_and(|next| next <= now);
        if due {
            self.next = Some(now + Duration::from_secs(1));
        }
        due
    }
}
