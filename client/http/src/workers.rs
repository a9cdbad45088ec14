//! Workers: long-lived tasks that each carry one attempt at a time.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use loadgen_core::{AttemptKey, AttemptResult, Completion, Latencies, SentAttempt};
use tailback::{Failure, Status};
use tokio::runtime::Handle;
use vocabulary::Instant;

use crate::clock::Clock;
use crate::control::locked;
use crate::transport::Transport;
use crate::transport::exchange::send;

/// The end of an attempt, with the instant at which its answer was complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub completion: Completion,
    pub at: Instant,
    worker: WorkerId,
}

#[derive(Clone, Copy, Debug)]
struct WorkerId {
    lane: usize,
    number: usize,
}

/// A lane: a thread that carries attempts over connections of its own.
struct Lane<T> {
    handle: Handle,
    transport: T,
    /// Jobs for the thread of this lane. `None` for the driver's own thread, which receives its jobs directly.
    jobs: Option<Errands>,
    assignments: Vec<Arc<Awaited<Assignment>>>,
    idle: Vec<usize>,
    under_way: usize,
}

/// Jobs for another thread. They are collected and sent together once per turn of the driver, because every wake-up of a thread
/// is a system call.
struct Errands {
    mailbox: Arc<Mailbox<Job>>,
    untold: Vec<Job>,
}

struct Job {
    assignment: Arc<Awaited<Assignment>>,
    attempt: SentAttempt,
}

pub(crate) struct Workers<T> {
    lanes: Vec<Lane<T>>,
    clock: Clock,
    pub answers: Arc<Mailbox<Delivered>>,
    /// Attempts that wait for a connection, each with the instant at which its wait began. The send lag of an attempt includes its wait.
    waiting: VecDeque<(SentAttempt, Instant)>,
    pub waits: Latencies,
    /// For each slot, the serial number of its attempt, and the worker that carries this attempt.
    carriers: Vec<Option<(u64, WorkerId)>>,
}

#[derive(Default)]
struct Assignment {
    next: Option<SentAttempt>,
    withdrawn: Option<AttemptKey>,
}

impl<T: Transport> Workers<T> {
    /// Creates the workers of each thread that sends attempts. Each pair in `lanes` is the runtime of one thread and the transport for its
    /// attempts. The first runtime belongs to the calling thread.
    pub(crate) fn new(lanes: impl IntoIterator<Item = (Handle, T)>, clock: Clock) -> Self {
        let lane = |(number, (handle, transport)): (usize, (Handle, T))| Lane {
            jobs: (number > 0).then(|| {
                let mailbox = Arc::<Mailbox<_>>::default();
                handle.spawn(dispatch(mailbox.clone()));
                Errands { mailbox, untold: Vec::new() }
            }),
            handle,
            transport,
            assignments: Vec::new(),
            idle: Vec::new(),
            under_way: 0,
        };
        Self {
            lanes: lanes.into_iter().enumerate().map(lane).collect(),
            clock,
            answers: Arc::default(),
            waiting: VecDeque::new(),
            waits: Latencies::default(),
            carriers: Vec::new(),
        }
    }

    /// Sends an attempt as soon as a thread has room for it. Returns false if the attempt must wait. Attempts for other threads are only
    /// collected, and [`Self::tell`] passes the collected attempts on.
    pub(crate) fn send(&mut self, attempt: SentAttempt) -> bool {
        let lane = self.free_lane().filter(|_| self.waiting.is_empty());
        match lane {
            Some(lane) => self.hand_out(lane, attempt),
            None => self.waiting.push_back((attempt, self.clock.now())),
        }
        lane.is_some()
    }

    fn free_lane(&self) -> Option<usize> {
        let with_room =
            self.lanes.iter().enumerate().filter(|(_, lane)| lane.under_way < lane.transport.room());
        with_room.min_by_key(|(_, lane)| lane.under_way).map(|(lane, _)| lane)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.transport.connections()).sum()
    }

    pub(crate) fn resent(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.transport.resent()).sum()
    }

    pub(crate) fn connect_times(&self) -> Latencies {
        let mut all = Latencies::default();
        for lane in &self.lanes {
            all.merge(&lane.transport.connect_times());
        }
        all
    }

    /// Sends waiting attempts for which a thread has room. Asks `may_send` for each of them, and drops those that may not be sent.
    pub(crate) fn fill(&mut self, mut may_send: impl FnMut(AttemptKey) -> bool) {
        while !self.waiting.is_empty()
            && let Some(lane) = self.free_lane()
            && let Some((attempt, since)) = self.waiting.pop_front()
        {
            self.waits.record_between(since, self.clock.now());
            if may_send(attempt.attempt) {
                self.hand_out(lane, attempt);
            }
        }
    }

    pub(crate) async fn grown(&self) {
        match &self.lanes[..] {
            _ if self.waiting.is_empty() => std::future::pending().await,
            [only] => only.transport.grown().await,
            several => {
                let mut grown: Vec<_> = several.iter().map(|lane| Box::pin(lane.transport.grown())).collect();
                poll_fn(|context| {
                    let mut polled = grown.iter_mut().map(|lane| lane.as_mut().poll(context));
                    polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
                })
                .await;
            }
        }
    }

    fn hand_out(&mut self, lane: usize, attempt: SentAttempt) {
        let number = match self.lanes[lane].idle.pop() {
            Some(number) => number,
            None => self.spawn_worker(lane),
        };
        let slot = attempt.attempt.slot as usize;
        if self.carriers.len() <= slot {
            self.carriers.resize(slot + 1, None);
        }
        self.carriers[slot] = Some((attempt.attempt.serial, WorkerId { lane, number }));
        let lane = &mut self.lanes[lane];
        lane.under_way += 1;
        let assignment = &lane.assignments[number];
        match &mut lane.jobs {
            None => assignment.update(|state| state.next = Some(attempt)),
            Some(jobs) => jobs.untold.push(Job { assignment: assignment.clone(), attempt }),
        }
    }

    /// Passes the collected attempts on to the threads that send them.
    pub(crate) fn tell(&mut self) {
        for jobs in self.lanes.iter_mut().filter_map(|lane| lane.jobs.as_mut()) {
            if !jobs.untold.is_empty() {
                jobs.mailbox.update(|letters| letters.append(&mut jobs.untold));
            }
        }
    }

    /// Withdraws an attempt. Returns the attempt if it was still waiting for a connection.
    pub(crate) fn cancel(&mut self, key: AttemptKey) -> Option<SentAttempt> {
        if let Some(position) = self.waiting.iter().position(|(attempt, _)| attempt.attempt == key) {
            let (launched, since) = self.waiting.remove(position)?;
            self.waits.record_between(since, self.clock.now());
            return Some(launched);
        }
        if let Some(Some((serial, WorkerId { lane, number }))) = self.carriers.get(key.slot as usize).copied()
            && serial == key.serial
        {
            self.lanes[lane].assignments[number].update(|state| state.withdrawn = Some(key));
        }
        None
    }

    pub(crate) fn release(&mut self, delivered: &Delivered) {
        let Delivered { completion, worker, .. } = delivered;
        let lane = &mut self.lanes[worker.lane];
        lane.under_way -= 1;
        if matches!(completion.result.outcome.status, Status::Cancelled | Status::Failed(Failure::Transport))
        {
            lane.transport.on_lost();
        }
        lane.idle.push(worker.number);
        let carrier = &mut self.carriers[completion.attempt.slot as usize];
        if carrier.is_some_and(|(serial, _)| serial == completion.attempt.serial) {
            *carrier = None;
        }
    }

    fn spawn_worker(&mut self, lane: usize) -> usize {
        let at = &mut self.lanes[lane];
        let number = at.assignments.len();
        let assignment = Arc::<Awaited<Assignment>>::default();
        at.assignments.push(assignment.clone());
        let worker = WorkerId { lane, number };
        at.handle.spawn(work(worker, assignment, at.transport.clone(), self.clock, self.answers.clone()));
        number
    }
}

async fn dispatch(jobs: Arc<Mailbox<Job>>) {
    let mut batch = Vec::new();
    loop {
        jobs.filled().await;
        jobs.take(&mut batch);
        for Job { assignment, attempt } in batch.drain(..) {
            assignment.update(|state| state.next = Some(attempt));
        }
    }
}

async fn work<T: Transport>(
    worker: WorkerId,
    assignment: Arc<Awaited<Assignment>>,
    transport: T,
    clock: Clock,
    answers: Arc<Mailbox<Delivered>>,
) {
    loop {
        let launched =
            poll_fn(|context| assignment.poll_take(context, |assignment| assignment.next.take())).await;
        let sent_at = clock.now();
        let mut request = pin!(send(&transport, &launched));
        let answer = poll_fn(|context| {
            let is_withdrawn = |assignment: &mut Assignment| assignment.withdrawn == Some(launched.attempt);
            if assignment.poll_take(context, |assignment| is_withdrawn(assignment).then_some(())).is_ready() {
                return Poll::Ready(None);
            }
            request.as_mut().poll(context).map(Some)
        })
        .await;
        let at = clock.now();
        // A withdrawn attempt has no result. The answer is delivered only to report that the worker is idle again.
        let result = answer.unwrap_or_else(|| AttemptResult::plain(Status::Cancelled));
        let completion = Completion { attempt: launched.attempt, sent_at, result };
        answers.update(|letters| letters.push(Delivered { completion, at, worker }));
    }
}

/// A value that several tasks change, and that one task waits for.
#[derive(Default)]
pub(crate) struct Awaited<T> {
    state: Mutex<State<T>>,
}

#[derive(Default)]
struct State<T> {
    value: T,
    waker: Option<Waker>,
}

impl<T> Awaited<T> {
    /// Changes the value, and wakes the task that waits for it.
    fn update(&self, change: impl FnOnce(&mut T)) {
        let waker = {
            let mut state = locked(&self.state);
            change(&mut state.value);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns what `take` takes from the value. If it takes nothing, the calling task is woken at the next change of the value.
    fn poll_take<R>(&self, context: &Context<'_>, take: impl FnOnce(&mut T) -> Option<R>) -> Poll<R> {
        let mut state = locked(&self.state);
        if let Some(taken) = take(&mut state.value) {
            return Poll::Ready(taken);
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Mailbox for messages between threads. Senders add items one by one or in groups, and the receiver takes all items at once.
pub(crate) type Mailbox<T> = Awaited<Vec<T>>;

impl<T> Mailbox<T> {
    /// Moves all items to `into`, which must be empty, by swapping the two lists.
    pub(crate) fn take(&self, into: &mut Vec<T>) {
        std::mem::swap(&mut locked(&self.state).value, into);
    }

    pub(crate) async fn filled(&self) {
        poll_fn(|context| self.poll_take(context, |letters| (!letters.is_empty()).then_some(()))).await;
    }
}
