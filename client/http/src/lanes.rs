//! Threads that carry attempts (lanes): the driver's own thread, and additional threads as configured.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::rusage::thread_cpu;

pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// An additional thread that only carries attempts. It ends when `end` is called or when this handle is dropped.
pub(crate) struct Helper {
    handle: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<Option<Duration>>,
}

impl Helper {
    pub(crate) fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let carry = move || {
            // An error means that the sending end was dropped together with the thread's `Helper`. This ends the
            // thread, too.
            let _ = runtime.block_on(ended);
            let cpu = thread_cpu();
            // Does not wait for connections on which an answer is still outstanding.
            runtime.shutdown_background();
            cpu
        };
        let thread = std::thread::Builder::new().name(format!("load-{number}")).spawn(carry)?;
        Ok(Self { handle, end, thread })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn end(self) -> Option<Duration> {
        // Sending fails if the thread has already ended by itself. This error is ignored, because the thread is then
        // over as intended.
        let _ = self.end.send(());
        self.thread.join().ok().flatten()
    }
}
