//! An output that is written piece by piece.

use std::io::{self, BufWriter, Write};

use crate::files::output::{Opened, Output, to_stdout};

/// Where pieces go. Stdout gets them in one piece at the end: it may be closed early, which is no failure.
pub(crate) enum Streamed {
    File(BufWriter<Opened>),
    Stdout(Vec<u8>),
}

impl Streamed {
    /// Begins to write; [`finish`](Self::finish) gives a file its name.
    pub(crate) fn begin(output: &Output) -> anyhow::Result<Self> {
        if output.is_stdout() {
            return Ok(Self::Stdout(Vec::new()));
        }
        Ok(Self::File(BufWriter::new(output.open()?)))
    }

    /// Ends what was begun, if all was written.
    pub(crate) fn finish(written: io::Result<Self>, output: &Output) -> anyhow::Result<()> {
        match written {
            Ok(Self::Stdout(bytes)) => to_stdout(&bytes),
            Ok(Self::File(file)) => {
                output.complete(file.into_inner().map_err(io::IntoInnerError::into_error))
            }
            Err(error) => output.complete(Err(error)),
        }
    }
}

impl Write for Streamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(bytes_so_far) => bytes_so_far.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(bytes_so_far) => bytes_so_far.flush(),
        }
    }
}
