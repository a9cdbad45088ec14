//! Mailbox for messages between threads. Senders add items one by one or in groups, and the receiver takes all items at once.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

pub(crate) struct Mailbox<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    letters: Vec<T>,
    reader: Option<Waker>,
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        Self { inner: Mutex::new(Inner { letters: Vec::new(), reader: None }) }
    }

    pub(crate) fn put(&self, letter: T) {
        self.leave(|letters| letters.push(letter));
    }

    pub(crate) fn put_all(&self, more: &mut Vec<T>) {
        self.leave(|letters| letters.append(more));
    }

    fn leave(&self, leave: impl FnOnce(&mut Vec<T>)) {
        let reader = {
            let mut inner = self.lock();
            leave(&mut inner.letters);
            inner.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Moves all items to `into`, which must be empty, by swapping the two lists.
    pub(crate) fn take(&self, into: &mut Vec<T>) {
        std::mem::swap(&mut self.lock().letters, into);
    }

    pub(crate) async fn filled(&self) {
        poll_fn(|context| {
            let mut inner = self.lock();
            if inner.letters.is_empty() {
                inner.reader = Some(context.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        // A poisoned lock is used like any other, because a writer that panics leaves no partial change behind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
