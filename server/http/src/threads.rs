//! The threads that serve: as many as are asked for, or an error that says what to do.

use std::io;
use std::sync::Mutex;
use std::thread;

use tokio::runtime::{Builder, Runtime};

/// More would only wait for one another: all of them share one state machine.
pub(crate) const MOST: u64 = 256;

/// The system gives no more threads, or no timer.
#[derive(Debug, thiserror::Error)]
#[error("{what} could not be started: {source}; {advice}")]
pub(crate) struct Error {
    what: String,
    advice: &'static str,
    source: io::Error,
}

impl Error {
    /// About the timer of answers.
    pub(crate) fn alarm(source: io::Error) -> Self {
        let advice = "raise the limit on open files (`ulimit -n`)";
        Self { what: "the timer of answers".to_owned(), advice, source }
    }
}

/// A runtime with this many threads, or one per processor.
pub(crate) fn runtime(threads: Option<usize>) -> Result<Runtime, Error> {
    let count = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let refused = |source| Error {
        what: format!("{count} threads (--threads)"),
        advice: "give fewer, or raise the limits on memory (`ulimit -v`) or processes (`ulimit -u`)",
        source,
    };
    room_for(count).map_err(refused)?;
    rehearse(count).map_err(refused)?;
    // One alone has nobody to share with, nor to be watched by: a tenth of the instructions of a request.
    let mut builder = match count {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(count).enable_all().build().map_err(refused)
}

/// What a thread takes: the stack of std's and tokio's default, the stack of its signal handler, guards.
const THREAD_BYTES: usize = (2 << 20) + (256 << 10);
/// What the program takes itself besides.
const OWN_BYTES: usize = 32 << 20;

/// Asks for the memory of as many threads and gives it back: a thread that starts with the last of it ends the whole
/// program, in the C library or in its own first steps, where nobody can catch it.
fn room_for(count: usize) -> io::Result<()> {
    let mut rooms = Vec::new();
    for bytes in std::iter::repeat_n(THREAD_BYTES, count).chain([OWN_BYTES]) {
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        rooms.push(room);
    }
    Ok(())
}

/// Starts as many threads and lets them go: where the system refuses one, the runtime would panic.
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
