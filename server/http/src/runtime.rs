//! Runtimes of tokio, whose start returns an error instead of a panic if too few files can be opened.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};

/// Number of pairs of files that tokio opens for the first runtime of a process.
const PAIRS: usize = 3;

/// Returns a runtime on the thread of its caller.
///
/// # Errors
/// Fails if the system provides too few files.
pub fn runtime() -> io::Result<Runtime> {
    built(&mut Builder::new_current_thread())
}

/// Builds the runtime. The first one of a process creates the sockets of tokio's signals, and tokio panics if it cannot open them. So the
/// same number of files is opened before. One runtime is built at a time, because another one could take these files.
pub(crate) fn built(builder: &mut Builder) -> io::Result<Runtime> {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _alone = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let room: Vec<_> = (0..PAIRS).map(|_| UnixStream::pair()).collect::<io::Result<_>>()?;
    drop(room);
    builder.enable_all().build()
}
