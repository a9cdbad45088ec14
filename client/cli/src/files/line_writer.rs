//! Lines that a thread of their own writes, one at a time: whoever reads them, or does not, holds up nobody else.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use super::stdout::ToStdout;
use crate::exit::is_broken_pipe;

/// How often somebody who waits looks whether that is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Hands lines over to the thread that writes them. At most one is under way, so that nothing piles up behind a reader that stands still.
pub(crate) struct LineWriter {
    lines: Sender<Vec<u8>>,
    /// Hears of every line that is written, or cannot be.
    over: Receiver<anyhow::Result<()>>,
    is_free: bool,
    /// Why a line could not be written.
    error: Option<anyhow::Error>,
}

impl LineWriter {
    /// To stdout.
    pub(crate) fn to_stdout() -> io::Result<Self> {
        Self::start(ToStdout)
    }

    /// Starts the thread. It ends when nobody hands over lines any more, or with the program.
    fn start(mut to: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, handed_over) = channel::<Vec<u8>>();
        let (tell_over, over) = channel();
        std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
            for line in handed_over {
                let written = to.write_all(&line).and_then(|()| to.flush()).map_err(ToStdout::refusal);
                // Whoever closed it does not want to read, and others are not to be held up by that.
                let written =
                    written.or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) });
                if tell_over.send(written).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { lines, over, is_free: true, error: None })
    }

    /// Whether no line is under way, so that another one can be handed over.
    pub(crate) fn is_free(&mut self) -> bool {
        if !self.is_free {
            match self.over.try_recv() {
                Ok(written) => self.on_over(written),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.is_free = true,
            }
        }
        self.is_free
    }

    /// Why a line could not be written, if that is so: no more can be.
    pub(crate) fn error(&mut self) -> Option<anyhow::Error> {
        self.error.take()
    }

    /// Hands over a line with its end; only to be called when [`is_free`](Self::is_free) says so.
    pub(crate) fn hand_over(&mut self, line: Vec<u8>) {
        // Only a panic ends the thread before, and then nothing is under way.
        self.is_free = self.lines.send(line).is_err();
    }

    /// Waits until no line is under way, for as long as that is wanted; whether it came to that.
    pub(crate) fn wait(&mut self, mut is_wanted: impl FnMut() -> bool) -> bool {
        while !self.is_free && is_wanted() {
            match self.over.recv_timeout(LOOK) {
                Ok(written) => self.on_over(written),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.is_free = true,
            }
        }
        self.is_free
    }

    /// The line is written, or cannot be.
    fn on_over(&mut self, written: anyhow::Result<()>) {
        self.is_free = true;
        self.error = self.error.take().or(written.err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a line for each time that it is let, and passes it on.
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
    fn one_line_is_under_way_until_its_reader_took_it() {
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
        // A reader that is gone holds up nobody.
        drop(allow);
        lines.hand_over(vec![3]);
        assert!(lines.wait(|| true));
    }
}
