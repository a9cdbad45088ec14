//! The threads that carry attempts: the driver's own, and as many others as were asked for.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::usage::thread_cpu;

/// A runtime for connections of one thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A thread that does nothing but carry attempts, until this is dropped or ended.
pub(crate) struct Helper {
    handle: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<Option<Duration>>,
}

impl Helper {
    /// Starts one.
    ///
    /// # Errors
    /// When the system gives no thread or runtime.
    pub(crate) fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let carry = move || {
            // Whoever started this may be gone: that ends it, too.
            let _ = runtime.block_on(ended);
            let cpu = thread_cpu();
            // Connections that still wait for an answer are not waited for.
            runtime.shutdown_background();
            cpu
        };
        let thread = std::thread::Builder::new().name(format!("load-{number}")).spawn(carry)?;
        Ok(Self { handle, end, thread })
    }

    /// Where its tasks are started.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Ends it; gives the processor time that it took.
    pub(crate) fn end(self) -> Option<Duration> {
        // It may have ended by itself.
        let _ = self.end.send(());
        self.thread.join().ok().flatten()
    }
}
