//! Output that is written in pieces, such as one run at a time, to a file or to stdout.

use std::io::{self, BufWriter, Read, Seek, Write};

use tempfile::NamedTempFile;

use crate::files::output::{Opened, Output, elsewhere};
use crate::files::spool::Spool;

/// Writer of an output in pieces. If the file cannot be written, all pieces are saved to another path instead, and the final error names
/// this path.
pub(crate) struct Streamed {
    to: Destination,
    written: u64,
    failed: Option<io::Error>,
}

enum Destination {
    File(BufWriter<Opened>),
    /// Buffer for text to stdout, pipes and devices. The text is written at the end, because output that was already read cannot be
    /// withdrawn.
    Later(Spool),
    Elsewhere(NamedTempFile),
    Nowhere,
}

impl Streamed {
    pub(crate) fn begin(output: &Output) -> anyhow::Result<Self> {
        let to = if output.is_file() {
            Destination::File(BufWriter::new(output.open()?))
        } else {
            Destination::Later(Spool::default())
        };
        Ok(Self { to, written: 0, failed: None })
    }

    pub(crate) fn finish(written: io::Result<Self>, output: &Output) -> anyhow::Result<()> {
        let mut streamed = written.map_err(|error| output.refusal(error))?;
        streamed.flush().map_err(|error| output.refusal(error))?;
        let Self { to, failed, .. } = streamed;
        if let Some(error) = failed {
            let saved = if let Destination::Elsewhere(file) = to { file.keep().ok() } else { None };
            return Err(output.refusal_with(error, saved.map(|(_, path)| path).as_deref()));
        }
        match to {
            Destination::File(file) => match file.into_inner() {
                Ok(opened) => output.complete_or_save(opened),
                Err(error) => Err(output.refusal(error.into_error())),
            },
            Destination::Later(mut spool) => output.write_all_of(&mut |to| spool.copy_to(to)),
            Destination::Elsewhere(_) | Destination::Nowhere => Ok(()),
        }
    }

    fn go_elsewhere(&mut self, error: io::Error) {
        self.failed = Some(error);
        let Destination::File(file) = std::mem::replace(&mut self.to, Destination::Nowhere) else { return };
        let (opened, rest) = file.into_parts();
        if let (Opened::Beside(begun), Ok(rest)) = (opened, rest) {
            // The piece whose write failed may be partly in the file. Therefore, only the first `written` bytes of the content are saved.
            self.to = saved(begun, &rest, self.written).map_or(Destination::Nowhere, Destination::Elsewhere);
        }
    }
}

/// Copies the first `length` bytes of the content to a new file. The content is the file `begun`, followed by the buffered bytes `rest`.
/// The file alone may contain fewer or more than `length` bytes.
fn saved(mut begun: NamedTempFile, rest: &[u8], length: u64) -> io::Result<NamedTempFile> {
    let mut copy = elsewhere()?;
    begun.as_file_mut().rewind()?;
    io::copy(&mut begun.as_file_mut().chain(rest).take(length), copy.as_file_mut())?;
    Ok(copy)
}

impl Write for Streamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Destination::File(file) = &mut self.to
            && let Err(error) = file.write_all(bytes)
        {
            self.go_elsewhere(error);
        } else if let Destination::File(_) = self.to {
            self.written += bytes.len() as u64;
            return Ok(bytes.len());
        }
        match &mut self.to {
            Destination::Later(spool) => spool.write_all(bytes)?,
            Destination::Elsewhere(file) => {
                if file.as_file_mut().write_all(bytes).is_err() {
                    self.to = Destination::Nowhere;
                }
            }
            Destination::File(_) | Destination::Nowhere => {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Destination::File(file) = &mut self.to
            && let Err(error) = file.flush()
        {
            self.go_elsewhere(error);
        }
        Ok(())
    }
}
