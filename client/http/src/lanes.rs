//! Threads that carry attempts: the driver's own, and the additional ones that were configured.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

use crate::usage::thread_cpu;

pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A thread that only carries attempts, until it is ended or this handle is dropped.
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
            // An error means that the owner of the handle is gone, which also ends the thread.
            let _ = runtime.block_on(ended);
            let cpu = thread_cpu();
            // Abandons connections that still wait for an answer.
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
        // The thread may have ended by itself.
        let _ = self.end.send(());
        self.thread.join().ok().flatten()
    }
}
