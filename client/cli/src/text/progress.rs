//! Lines that say how far something long is.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use loadgen_core::{Run, Snapshot};
use vocabulary::printable;

use crate::text::stderr::to_stderr;

/// Says now and then how far something long is: on a terminal in one line that is always of now; elsewhere in few lines,
/// each twice as late as the one before.
pub(crate) struct Live {
    wanted: bool,
    terminal: bool,
    started: Instant,
    next: Instant,
    drawn: bool,
}

impl Live {
    pub(crate) fn new(wanted: bool) -> Self {
        let terminal = io::stderr().is_terminal() && std::env::var("TERM").is_ok_and(|term| term != "dumb");
        let started = Instant::now();
        let next = started + Duration::from_millis(if terminal { 300 } else { 2_000 });
        Self { wanted, terminal, started, next, drawn: false }
    }

    /// Says this if it is time to.
    pub(crate) fn line(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if !self.wanted || now < self.next {
            return;
        }
        if self.terminal {
            self.next = now + Duration::from_millis(200);
            self.drawn = true;
            // Short enough for every terminal: a line that wraps could not be taken back.
            let line: String = printable(&line()).chars().take(78).collect();
            drop(write!(io::stderr().lock(), "{ANEW}{line}"));
        } else {
            self.next = now + (now - self.started);
            to_stderr(&format!("{}\n", line()));
        }
    }
}

/// The beginning of the line, with nothing left of what was there.
const ANEW: &str = "\r\u{1b}[2K";

impl Drop for Live {
    fn drop(&mut self) {
        if self.drawn {
            drop(write!(io::stderr().lock(), "{ANEW}"));
        }
    }
}

/// Says once a second how far a simulation is.
pub(crate) struct Progress {
    /// When the next line is due; `None` when nobody wants any.
    next: Option<Instant>,
    /// What was said last: a log does not need it twice.
    last: String,
    snapshot: Snapshot,
}

impl Progress {
    /// Lines on stderr from the second second on, if they are wanted at all.
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            next: wanted.then(|| Instant::now() + Duration::from_secs(1)),
            last: String::new(),
            snapshot: Snapshot::default(),
        }
    }

    /// Prints this line if one is due.
    pub(crate) fn line(&mut self, line: impl FnOnce() -> String) {
        if self.due() {
            let line = line();
            if line != self.last {
                to_stderr(&format!("{line}\n"));
                self.last = line;
            }
        }
    }

    /// Prints how far a run is if a line is due.
    pub(crate) fn run(&mut self, run: &Run, now: vocabulary::Instant) {
        if self.due() {
            run.snapshot(now, &mut self.snapshot);
            to_stderr(&format!("{}\n", dashboards::progress_line(&self.snapshot, 120)));
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
