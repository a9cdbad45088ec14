//! Many simulations at once, on as many threads as wanted; results come in order, whatever the threads do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// How long `take` waits for a result before it gets a chance to say how things are.
const TICK: Duration = Duration::from_millis(100);

/// Does `count` independent pieces of work on `threads` threads and hands their results to `take`, in order and on
/// this thread, while the rest goes on; now and then, when there is none, `None`. `take` may end it by answering
/// `false`: then no further piece is begun, but what was begun is still handed over.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(Option<T>) -> bool,
) {
    let next = AtomicUsize::new(0);
    let stop = || next.store(count, Ordering::Relaxed);
    thread::scope(|scope| {
        // Bounded, so that workers do not run far ahead of whoever takes.
        let (sender, results) = sync_channel(threads.clamp(1, 64) * 4);
        for _ in 0..threads.clamp(1, count.max(1)) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    // An error means that nobody takes results any more.
                    if index >= count || sender.send((index, work(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = std::collections::BTreeMap::new();
        let mut wanted = 0;
        // What was begun is handed over even after the end was asked for.
        loop {
            let mut go_on = true;
            match results.recv_timeout(TICK) {
                Ok((index, result)) => {
                    early.insert(index, result);
                    while let Some(result) = early.remove(&wanted) {
                        wanted += 1;
                        go_on &= take(Some(result));
                    }
                }
                Err(RecvTimeoutError::Timeout) => go_on = take(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !go_on {
                stop();
            }
        }
    });
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
