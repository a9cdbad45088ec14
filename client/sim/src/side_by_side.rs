//! Many simulations at once, on as many threads as wanted; results come in order, whatever the threads do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long `take` waits for a result before it gets a chance to say how things are.
const TICK: Duration = Duration::from_millis(100);

/// Does `count` independent pieces of work on `threads` threads and hands their results to `take`, in order and on
/// this thread, while the rest goes on; now and then, when there is none, `None`. `take` may end it by answering
/// `false`: then no further piece is begun, and what comes late is dropped.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(Option<T>) -> bool,
) {
    let next = AtomicUsize::new(0);
    let stop = || next.store(count, Ordering::Relaxed);
    thread::scope(|scope| {
        let (sender, results) = channel();
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
        loop {
            match results.recv_timeout(TICK) {
                Ok((index, result)) => {
                    early.insert(index, result);
                    while let Some(result) = early.remove(&wanted) {
                        wanted += 1;
                        if !take(Some(result)) {
                            return stop();
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !take(None) {
                        return stop();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
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
        assert_eq!(taken(1_000_000, 2, 3), [0, 1, 2]);
    }
}
