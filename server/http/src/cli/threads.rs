//! Creates the runtime with the requested number of threads. Errors suggest a remedy.

use std::io;
use std::sync::Mutex;
use std::thread;

use tokio::runtime::{Builder, Runtime};

/// Maximum number of threads. More threads would only wait for each other, because all of them share one state machine.
pub(crate) const MOST: u64 = 256;

#[derive(Debug, thiserror::Error)]
#[error("{what} could not be started: {source}; {advice}")]
pub(crate) struct Error {
    what: String,
    advice: &'static str,
    source: io::Error,
}

impl Error {
    pub(crate) fn alarm(source: io::Error) -> Self {
        let advice = "raise the limit on open files (`ulimit -n`)";
        Self { what: "the timer that sends delayed answers".to_owned(), advice, source }
    }
}

pub(crate) fn runtime(threads: Option<usize>) -> Result<Runtime, Error> {
    let count = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let refused = |source| Error {
        what: format!("{count} threads (--threads)"),
        advice: "start fewer threads, or raise the limits on memory (`ulimit -v`) or processes (`ulimit -u`)",
        source,
    };
    room_for(count).map_err(refused)?;
    rehearse(count).map_err(refused)?;
    // A single thread uses the runtime without work stealing, which saves a tenth of the instructions per request.
    let mut builder = match count {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(count).enable_all().build().map_err(refused)
}

/// Memory of one thread: the default stack of std and tokio, the stack of its signal handler, and guard pages.
const THREAD_BYTES: usize = (2 << 20) + (256 << 10);
const OWN_BYTES: usize = 32 << 20;

/// Checks that there is enough memory for `count` threads, by allocating it and freeing it again. Without the check, a thread could start
/// with the last available memory. The C library or the first steps of the thread would then abort the whole program. An abort cannot be
/// caught.
fn room_for(count: usize) -> io::Result<()> {
    let mut rooms = Vec::new();
    for bytes in std::iter::repeat_n(THREAD_BYTES, count).chain([OWN_BYTES]) {
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        rooms.push(room);
    }
    Ok(())
}

/// Checks that the system allows `count` threads, by starting them and ending them again. Without the check, the runtime would panic if the
/// system refused a thread.
fn rehearse(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        for _ in 0..count {
            thread::Builder::new().spawn_scoped(scope, || drop(gate.lock()))?;
        }
        Ok(())
    })
}
