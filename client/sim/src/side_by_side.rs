//! Execution of simulations on several threads. Results arrive in order, regardless of the threads' timing.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum time for which a finished result waits until more results are finished. Results are delivered in batches, because each wake-up
/// of the receiver occupies a core for a moment.
const PATIENCE: Duration = Duration::from_millis(10);

/// Number of consecutive waits without a result after which the callback `take` is called with `None`.
const TICK: u32 = 10;

/// Number of finished results, per worker thread, at which the receiver is woken.
const WAKING: usize = 4;

/// Number of undelivered results, per worker thread, at which the workers pause.
const MAX_WAITING: usize = 16;

/// Executes `count` independent jobs on `threads` threads, or on the calling thread if no other can be started. Passes the results to
/// `take`, in the order of the jobs and on the calling thread, while other jobs continue. While there is no result, calls `take` with
/// `None` from time to time.
///
/// If `take` returns `false`, no further job is started, but the results of started jobs are still delivered.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(Option<T>) -> bool,
) {
    let threads = threads.min(count);
    let shared = Shared::new(count, threads);
    let worker = || {
        let _leaving = Leaving(&shared);
        while let Some(index) = shared.begin() {
            let result = work(index);
            shared.hand_over(index, result);
        }
    };
    thread::scope(|scope| {
        // The system may refuse some of the threads. The others then execute all jobs.
        let start = |_: &usize| thread::Builder::new().spawn_scoped(scope, worker).is_ok();
        let missing = threads - (0..threads).take_while(start).count();
        for _ in 0..missing {
            drop(Leaving(&shared));
        }
        if missing == threads {
            let _ = (0..count).all(|index| take(Some(work(index))));
            return;
        }
        let _ending = Ending(&shared);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let mut idle = 0;
        // Results of started jobs are delivered even after `take` has returned `false`.
        while let Some(mut results) = shared.collect() {
            early.append(&mut results);
            let mut go_on = true;
            idle += 1;
            while let Some(result) = early.remove(&wanted) {
                (wanted, idle) = (wanted + 1, 0);
                go_on &= take(Some(result));
            }
            if idle == TICK {
                idle = 0;
                go_on = take(None);
            }
            if !go_on {
                shared.end();
            }
        }
    });
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Condition variable for the receiver: signalled when enough results are ready, or when no worker is left.
    worth_taking: Condvar,
    /// Condition variable for the workers: signalled when the receiver has taken results, so that they may continue.
    room: Condvar,
    threads: usize,
}

struct State<T> {
    next: usize,
    count: usize,
    results: BTreeMap<usize, T>,
    working: usize,
}

impl<T> Shared<T> {
    fn new(count: usize, threads: usize) -> Self {
        let state = State { next: 0, count, results: BTreeMap::new(), working: threads };
        Self { state: Mutex::new(state), worth_taking: Condvar::new(), room: Condvar::new(), threads }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // A panic cannot leave the state inconsistent, because no job runs while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index of the next job for a worker thread, or `None` if no job is left. If too many results are undelivered, first
    /// waits, so that workers do not run far ahead of the receiver of the results.
    fn begin(&self) -> Option<usize> {
        let full = |state: &mut State<T>| {
            state.next < state.count && state.results.len() >= MAX_WAITING * self.threads
        };
        let mut state = self.room.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
        let index = state.next;
        (index < state.count).then(|| {
            state.next += 1;
            index
        })
    }

    fn hand_over(&self, index: usize, result: T) {
        let mut state = self.state();
        state.results.insert(index, result);
        if state.results.len() >= WAKING * self.threads {
            self.worth_taking.notify_one();
        }
    }

    /// Returns the results that are ready. If only few are ready, first waits for more, but only for a limited time. Returns `None` once no
    /// worker is left and all results were taken.
    fn collect(&self) -> Option<BTreeMap<usize, T>> {
        let few = |state: &mut State<T>| state.working > 0 && state.results.len() < WAKING * self.threads;
        let waited = self.worth_taking.wait_timeout_while(self.state(), PATIENCE, few);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let results = std::mem::take(&mut state.results);
        if results.is_empty() && state.working == 0 {
            return None;
        }
        self.room.notify_all();
        Some(results)
    }

    fn end(&self) {
        let mut state = self.state();
        state.next = state.count;
        self.room.notify_all();
    }
}

/// Guard that deregisters a worker when it is dropped, so that the receiver does not wait for the worker even if its job panics.
struct Leaving<'a, T>(&'a Shared<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        self.0.state().working -= 1;
        self.0.worth_taking.notify_one();
    }
}

/// Guard that ends all work when it is dropped, so that workers do not wait for room even if the receiver panics.
struct Ending<'a, T>(&'a Shared<T>);

impl<T> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(count: usize, threads: usize, until: usize) -> Vec<usize> {
        let mut taken = Vec::new();
        side_by_side(
            count,
            threads,
            |index| index * index,
            |square| {
                if let Some(square) = square {
                    assert_eq!(square, taken.len() * taken.len());
                    taken.push(taken.len());
                }
                taken.len() < until
            },
        );
        taken
    }

    #[test]
    fn results_come_in_order_whatever_the_threads_do() {
        for threads in [0, 1, 2, 7] {
            assert_eq!(taken(100, threads, usize::MAX), (0..100).collect::<Vec<_>>());
        }
        assert!(taken(0, 2, usize::MAX).is_empty());
    }

    #[test]
    fn the_consumer_of_results_may_stop_early() {
        let taken = taken(1_000_000, 2, 3);
        assert!(taken.len() < 100_000, "{}", taken.len());
        assert_eq!(taken[..3], [0, 1, 2]);
    }
}
