//! `--progress ndjson`: prints one line of JSON per second on stdout, for programs that run `loadgen` as a subprocess.

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use experiments::runs::one_run::Underway;
use loadgen_core::{Phase, Snapshot};
use results::ProgressLine;

use crate::Interrupt;
use crate::exit::unless_closed;
use crate::files::stdout::ToStdout;
use crate::screen::watch::every_second;
use crate::text::labelled_to_stderr;

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
        Ok(Self { lines: Some(LineWriter::start(ToStdout)?), result: Ok(()) })
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
        if let Some(error) = lines.error.take() {
            (self.lines, self.result) = (None, Err(error));
        } else if !is_recorded {
            self.lines = None;
            let words = "stdout is closed or has no reader, so `--progress` writes no more lines; results are still written";
            labelled_to_stderr("warning: ", words);
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

/// Interval at which [`LineWriter::wait`] checks whether the caller still wants to wait.
const LOOK: Duration = Duration::from_millis(20);

/// Sender of lines to a writing thread. At most one line is in flight, so that lines do not pile up behind a stalled reader.
struct LineWriter {
    lines: Sender<Vec<u8>>,
    over: Receiver<anyhow::Result<()>>,
    is_free: bool,
    /// Error of the first line that could not be written. After this error, no later line can be written.
    error: Option<anyhow::Error>,
}

impl LineWriter {
    fn start(mut to: impl Write + Send + 'static) -> anyhow::Result<Self> {
        let (lines, handed_over) = channel::<Vec<u8>>();
        let (tell_over, over) = channel();
        let write = move || {
            for line in handed_over {
                let written = to.write_all(&line).and_then(|()| to.flush()).map_err(ToStdout::refusal);
                // A broken pipe means that the reader closed stdout and wants no more lines. This is not a failure, and other outputs
                // continue.
                if tell_over.send(unless_closed(written)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("lines".to_owned()).spawn(write);
        thread.context("the thread that writes lines could not be started")?;
        Ok(Self { lines, over, is_free: true, error: None })
    }

    fn is_free(&mut self) -> bool {
        self.look(Duration::ZERO);
        self.is_free
    }

    /// Sends a line, which ends with a line break, to the writing thread. Call this method only if [`is_free`](Self::is_free) returns true.
    fn hand_over(&mut self, line: Vec<u8>) {
        // Sending a line fails only if the writing thread has panicked. No line is in flight after a panic.
        self.is_free = self.lines.send(line).is_err();
    }

    fn wait(&mut self, mut is_wanted: impl FnMut() -> bool) -> bool {
        while !self.is_free && is_wanted() {
            self.look(LOOK);
        }
        self.is_free
    }

    /// Waits until the line in flight is written, but at most for `patience`.
    fn look(&mut self, patience: Duration) {
        if self.is_free {
            return;
        }
        match self.over.recv_timeout(patience) {
            Ok(written) => {
                self.is_free = true;
                self.error = self.error.take().or(written.err());
            }
            Err(error) => self.is_free = error == RecvTimeoutError::Disconnected,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Reads one line per permit, and passes it on.
    struct Reader {
        lets: Receiver<()>,
        passes_on: Sender<Vec<u8>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.lets.recv().map_err(io::Error::other)?;
            self.passes_on.send(bytes.to_owned()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_line_is_in_flight_until_it_was_read() {
        let ((allow, lets), (passes_on, read)) = (channel(), channel());
        let mut lines = LineWriter::start(Reader { lets, passes_on }).unwrap();
        for number in 1..3 {
            assert!(lines.is_free());
            lines.hand_over(vec![number]);
            assert!(!lines.is_free());
            let mut looks = 2;
            let few = || {
                looks -= 1;
                looks > 0
            };
            assert!(!lines.wait(few), "it is waited for only as long as that is wanted");
            allow.send(()).unwrap();
            assert!(lines.wait(|| true));
            assert_eq!(read.recv().unwrap(), [number]);
        }
        drop(allow);
        lines.hand_over(vec![3]);
        assert!(lines.wait(|| true));
    }
}
