//! `--progress ndjson`: prints one line of JSON per second on stdout, for programs that run `loadgen` as a subprocess.

use std::time::{Duration, Instant};

use experiments::runs::one_run::Underway;
use loadgen_core::{Phase, Snapshot};
use results::ProgressLine;

use crate::files::line_writer::LineWriter;
use crate::runner::interrupt::Interrupt;
use crate::screen::watch::every_second;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

/// Maximum real time to wait until the last line of a run has been written.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writer of live figures for consecutive runs. Each line contains the changes since the previous line. If writing a line was blocked, the
/// next line therefore includes the events of that time.
pub struct LiveFigures {
    /// Writer of the lines; `None` after the reader of the lines stalled or stdout failed.
    lines: Option<LineWriter>,
    result: anyhow::Result<()>,
}

impl LiveFigures {
    pub fn on_stdout() -> anyhow::Result<Self> {
        Ok(Self { lines: Some(LineWriter::to_stdout()?), result: Ok(()) })
    }

    pub fn conclude(self) -> anyhow::Result<()> {
        self.result
    }

    pub fn watch(&mut self, underway: &Underway, interrupt: &Interrupt) {
        let Some(lines) = &mut self.lines else {
            // A receive error means that the run's thread is gone. The error is ignored, because the end of the run reports it.
            let _ = underway.over.recv();
            return;
        };
        let (mut before, mut now) = (Snapshot::default(), Snapshot::default());
        every_second(underway, || {
            underway.control.latest(&mut now);
            if lines.is_free() && now.phase != Phase::Done {
                lines.hand_over(line(underway, &before, &now));
                before.clone_from(&now);
            }
        });
        underway.control.latest(&mut now);
        // The last line of a run is written even if an interrupt stopped the run. A further interrupt ends the wait for this line.
        let (over, received) = (Instant::now(), interrupt.received());
        let is_wanted = || over.elapsed() < PATIENCE && interrupt.received() == received;
        let mut is_recorded = lines.wait(is_wanted);
        if is_recorded {
            lines.hand_over(line(underway, &before, &now));
            is_recorded = lines.wait(is_wanted);
        }
        if let Some(error) = lines.error() {
            (self.lines, self.result) = (None, Err(error));
        } else if !is_recorded {
            self.lines = None;
            let words = "stdout is closed or has no reader, so `--progress` writes no more lines; results are still written";
            to_stderr(&format!("{}\n", wrapped(words, "warning: ", "         ")));
        }
    }
}

fn line(underway: &Underway, before: &Snapshot, now: &Snapshot) -> Vec<u8> {
    // Serialisation of numbers and strings never fails, so the empty default is never used.
    let mut line =
        serde_json::to_vec(&ProgressLine::between(underway.seed(), before, now)).unwrap_or_default();
    line.push(b'\n');
    line
}
