//! Writing to stdout. Errors from a closed reader or a closed terminal are distinguished from failures.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::Errno;

use crate::{Exit, Fatal};

/// Writes to stdout. A closed reader yields a broken-pipe error, which is not a failure. A closed terminal yields the same error.
pub fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    ToStdout.write_all(bytes).map_err(ToStdout::refusal)
}

pub(crate) struct ToStdout;

impl ToStdout {
    pub(crate) fn refusal(error: io::Error) -> anyhow::Error {
        match error.kind() {
            io::ErrorKind::BrokenPipe => error.into(),
            _ if is_closed_terminal(&error) => io::Error::new(io::ErrorKind::BrokenPipe, error).into(),
            _ => Fatal::because(Exit::Output, "stdout cannot be written", error),
        }
    }
}

impl Write for ToStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// True if writing failed because the terminal was closed. A closed terminal is no longer recognised as a terminal, but it is still a
/// character device. A file on a disk can cause the same error, but it is not a character device.
fn is_closed_terminal(error: &io::Error) -> bool {
    let is_device = || {
        fstat(io::stdout())
            .is_ok_and(|there| FileType::from_raw_mode(there.st_mode) == FileType::CharacterDevice)
    };
    error.raw_os_error() == Some(Errno::IO.raw_os_error()) && is_device()
}

/// True if the program was started with a closed stdout (`>&-`). Rust's runtime then opens `/dev/null` as stdout, for reading and writing.
/// Output that a user redirects to `/dev/null` is opened for writing only.
pub(super) fn is_closed() -> bool {
    let stdout = io::stdout();
    let both_ways = fcntl_getfl(&stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    let null = fs::metadata("/dev/null").map(|null| null.rdev());
    both_ways && fstat(&stdout).is_ok_and(|there| null.is_ok_and(|null| there.st_rdev == null))
}
