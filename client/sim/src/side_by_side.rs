//! Many simulations at once, on as many threads as wanted; results come in order, whatever the threads do.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a result waits for others: whoever takes them needs a core for a moment, each time it is woken.
const PATIENCE: Duration = Duration::from_millis(10);

/// So often in a row nothing comes before `take` gets a chance to say how things are.
const TICK: u32 = 10;

/// Results of a thread that wake whoever takes them.
const WAKING: usize = 4;

/// Results of a thread that nobody has taken: with so many, it waits.
const MOST_WAITING: usize = 16;

/// Does `count` independent pieces of work on `threads` threads and hands their results to `take`, in order and on
/// this thread, while the rest goes on; now and then, when there is none, `None`. `take` may end it by answering
/// `false`: then no further piece is begun, but what was begun is still handed over.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(Option<T>) -> bool,
) {
    let threads = threads.clamp(1, count.max(1));
    let shared = Shared::new(count, threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _leaving = Leaving(&shared);
                while let Some(index) = shared.begin() {
                    let result = work(index);
                    shared.hand_over(index, result);
                }
            });
        }
        let _ending = Ending(&shared);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let mut idle = 0;
        // What was begun is handed over even after the end was asked for.
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

/// What the threads have in common.
struct Shared<T> {
    state: Mutex<State<T>>,
    /// There is enough to take, or nobody works any more.
    worth_taking: Condvar,
    /// Results were taken.
    room: Condvar,
    threads: usize,
}

struct State<T> {
    /// The piece that is begun next.
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
        // No piece of work is done while it is held, so that no panic leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece, if there is one. Bounded, so that workers do not run far ahead of whoever takes.
    fn begin(&self) -> Option<usize> {
        let full = |state: &mut State<T>| {
            state.next < state.count && state.results.len() >= MOST_WAITING * self.threads
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

    /// What there is, after a while if that is little; nothing once nobody works and all was taken.
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

    /// Nothing more is begun.
    fn end(&self) {
        let mut state = self.state();
        state.next = state.count;
        self.room.notify_all();
    }
}

/// A worker goes, also when its work panics: nobody waits for it then.
struct Leaving<'a, T>(&'a Shared<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        self.0.state().working -= 1;
        self.0.worth_taking.notify_one();
    }
}

/// Whoever takes goes, also when it panics: workers do not wait for room then.
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
    fn whoever_takes_results_may_end_it() {
        let taken = taken(1_000_000, 2, 3);
        assert!(taken.len() < 100_000, "{}", taken.len());
        assert_eq!(taken[..3], [0, 1, 2]);
    }
}
