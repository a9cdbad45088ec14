//! `--progress ndjson`: a line of JSON a second on stdout, for programs that have a loadgen within them.

use std::io;
use std::time::{Duration, Instant};

use experiments::runs::one_run::Underway;
use loadgen_core::{Phase, Snapshot};
use results::ProgressLine;

use super::watch::every_second;
use crate::files::line_writer::LineWriter;
use crate::interrupt::Interrupt;
use crate::text::stderr::to_stderr;
use crate::text::wrapping::wrapped;

/// Real time that the last line of a run is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is told of runs, one after the other. Each line is the difference to the one that was handed over before, so that what happens while
/// one is held up is in the next.
pub(crate) struct LiveFigures {
    /// Nothing once whoever reads was given up.
    lines: Option<LineWriter>,
    /// That stdout could not be written.
    told: anyhow::Result<()>,
}

impl LiveFigures {
    /// On stdout.
    pub(crate) fn on_stdout() -> io::Result<Self> {
        Ok(Self { lines: Some(LineWriter::to_stdout()?), told: Ok(()) })
    }

    /// Whether all could be written that somebody wanted to read.
    ///
    /// # Errors
    /// When stdout could not be written.
    pub(crate) fn conclude(self) -> anyhow::Result<()> {
        self.told
    }

    /// Tells of a run until it is over: a line a second, and one of the rest.
    pub(crate) fn watch(&mut self, underway: &Underway, interrupt: &Interrupt) {
        let Some(lines) = &mut self.lines else {
            // An error means that the run's thread is gone, which its end will tell.
            let _ = underway.over.recv();
            return;
        };
        let (mut before, mut now) = (Snapshot::default(), Snapshot::default());
        every_second(underway, || {
            underway.control.latest(&mut now);
            // What happens while a line is held up goes into the next one, and the last line follows when the run is over.
            if lines.is_free() && now.phase != Phase::Done {
                lines.hand_over(line(underway, &before, &now));
                before.clone_from(&now);
            }
        });
        underway.control.latest(&mut now);
        // Whoever stopped the run may read its last line as well; whoever asks once more does not.
        let (over, heard) = (Instant::now(), interrupt.heard());
        let is_wanted = || over.elapsed() < PATIENCE && interrupt.heard() == heard;
        let mut is_told = lines.wait(is_wanted);
        if is_told {
            lines.hand_over(line(underway, &before, &now));
            is_told = lines.wait(is_wanted);
        }
        if let Some(error) = lines.error() {
            (self.lines, self.told) = (None, Err(error));
        } else if !is_told {
            self.lines = None;
            let words = "nobody reads stdout: the last line of `--progress` could not be written, and no more are; results are";
            to_stderr(&format!("{}\n", wrapped(words, "warning: ", "         ")));
        }
    }
}

/// What happened between two looks at a run.
fn line(underway: &Underway, before: &Snapshot, now: &Snapshot) -> Vec<u8> {
    // Numbers and texts can always be written.
    let mut line =
        serde_json::to_vec(&ProgressLine::between(underway.seed(), before, now)).unwrap_or_default();
    line.push(b'\n');
    line
}
