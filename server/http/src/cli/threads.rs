//! Creates the runtime with the requested number of threads. Errors suggest a remedy.

use std::io;
use std::sync::Mutex;
use std::thread;

use rustix::io::Errno;
use tokio::runtime::{Builder, Runtime};

use crate::runtime::built;

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
    fn new(what: impl Into<String>, source: io::Error) -> Self {
        let advice = if Errno::from_io_error(&source) == Some(Errno::MFILE) {
            "raise the limit on open files (`ulimit -n`)"
        } else {
            "start fewer threads, or raise the limits on memory (`ulimit -v`) or processes (`ulimit -u`)"
        };
        Self { what: what.into(), advice, source }
    }

    pub(crate) fn alarm(source: io::Error) -> Self {
        Self::new("the timer that sends delayed answers", source)
    }
}

pub(crate) fn runtime(threads: Option<usize>) -> Result<Runtime, Error> {
    let count = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let refused = |source| Error::new(format!("{count} threads (--threads)"), source);
    if threads_with_room(count, 0) < count {
        return Err(refused(io::ErrorKind::OutOfMemory.into()));
    }
    rehearse(count).map_err(refused)?;
    // A single thread uses the runtime without work stealing, which saves a tenth of the instructions per request.
    let mut builder = match count {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    built(builder.worker_threads(count)).map_err(refused)
}

/// Memory of one thread: the default stack of std and tokio, the stack of its signal handler, and guard pages.
const THREAD_BYTES: usize = (2 << 20) + (256 << 10);
const OWN_BYTES: usize = 32 << 20;

/// Returns for how many of the wanted threads there is enough memory, by allocating it and freeing it again. Each thread needs a stack and
/// `bytes_each` more. Without the check, a thread could start with the last available memory. The C library or the first steps of the
/// thread would then abort the whole program. An abort cannot be caught.
pub fn threads_with_room(wanted: usize, bytes_each: usize) -> usize {
    let room = |bytes| {
        let mut room: Vec<u8> = Vec::new();
        room.try_reserve_exact(bytes).ok().map(|()| room)
    };
    let own = room(OWN_BYTES);
    let rooms: Vec<_> = (0..wanted).map_while(|_| room(THREAD_BYTES + bytes_each)).collect();
    let (own, rooms) = std::hint::black_box((own, rooms));
    own.map_or(0, |_| rooms.len())
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
