//! Long-lived tasks that each carry one attempt at a time.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use loadgen_core::{AttemptKey, Latencies, Launched};
use tailback::{Failure, Status};
use tokio::runtime::Handle;
use vocabulary::Instant;

use crate::clock::Clock;
use crate::mailbox::Mailbox;
use crate::transport::{Answer, Transport};

/// An answer, with the time at which the request went out and the time at which the answer was complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) attempt: AttemptKey,
    pub(crate) sent_at: Instant,
    pub(crate) at: Instant,
    pub(crate) answer: Answer,
    /// Which worker is idle again.
    worker: usize,
}

/// Hands attempts to idle workers and starts new ones when none is idle.
pub(crate) struct Workers<T> {
    handle: Handle,
    transport: T,
    clock: Clock,
    answers: Arc<Mailbox<Delivered>>,
    /// By worker: what it is to do.
    assignments: Vec<Arc<Assignment>>,
    idle: Vec<usize>,
    /// Attempts that wait for a connection, and since when. Their wait counts as send lag, too.
    waiting: VecDeque<(Launched, Instant)>,
    waits: Latencies,
    under_way: usize,
    /// Which worker carries the attempt in this slot.
    carriers: Vec<Option<(u64, usize)>>,
}

/// Where one worker finds its next attempt, and learns that it is withdrawn.
#[derive(Default)]
struct Assignment {
    state: Mutex<AssignmentState>,
}

#[derive(Default)]
struct AssignmentState {
    next: Option<Launched>,
    withdrawn: Option<AttemptKey>,
    /// Wakes the worker.
    waker: Option<Waker>,
}

impl<T: Transport> Workers<T> {
    pub(crate) fn new(handle: Handle, transport: T, clock: Clock) -> Self {
        Self {
            handle,
            transport,
            clock,
            answers: Arc::new(Mailbox::new()),
            assignments: Vec::new(),
            idle: Vec::new(),
            waiting: VecDeque::new(),
            waits: Latencies::default(),
            under_way: 0,
            carriers: Vec::new(),
        }
    }

    /// Where answers arrive.
    pub(crate) fn answers(&self) -> Arc<Mailbox<Delivered>> {
        self.answers.clone()
    }

    /// Sends an attempt as soon as there is room for it.
    pub(crate) fn send(&mut self, attempt: Launched) {
        if self.waiting.is_empty() && self.under_way < self.transport.room() {
            self.hand_out(attempt);
        } else {
            self.waiting.push_back((attempt, self.clock.now()));
        }
    }

    /// How long those attempts waited that had to wait for a connection.
    pub(crate) fn waits(&self) -> &Latencies {
        &self.waits
    }

    /// Sends what waits, as far as there is room.
    pub(crate) fn fill(&mut self) {
        while self.under_way < self.transport.room()
            && let Some((attempt, since)) = self.waiting.pop_front()
        {
            self.waits.record_between(since, self.clock.now());
            self.hand_out(attempt);
        }
    }

    /// Returns when there is more room for what waits.
    pub(crate) async fn grown(&self) {
        if self.waiting.is_empty() {
            std::future::pending::<()>().await;
        }
        self.transport.grown().await;
    }

    fn hand_out(&mut self, attempt: Launched) {
        self.under_way += 1;
        let worker = self.idle.pop().unwrap_or_else(|| self.spawn_worker());
        let slot = attempt.attempt.slot as usize;
        if self.carriers.len() <= slot {
            self.carriers.resize(slot + 1, None);
        }
        self.carriers[slot] = Some((attempt.attempt.serial, worker));
        self.assignments[worker].update(|state| state.next = Some(attempt));
    }

    /// Withdraws an attempt. Returns it when it was not sent yet.
    pub(crate) fn cancel(&mut self, key: AttemptKey) -> Option<Launched> {
        if let Some(position) = self.waiting.iter().position(|(attempt, _)| attempt.attempt == key) {
            let (launched, since) = self.waiting.remove(position)?;
            self.waits.record_between(since, self.clock.now());
            return Some(launched);
        }
        if let Some(Some((serial, worker))) = self.carriers.get(key.slot as usize).copied()
            && serial == key.serial
        {
            self.assignments[worker].update(|state| state.withdrawn = Some(key));
        }
        None
    }

    /// Takes note that an answer's worker is idle again.
    pub(crate) fn release(&mut self, delivered: &Delivered) {
        self.under_way -= 1;
        if matches!(delivered.answer.outcome.status, Status::Cancelled | Status::Failed(Failure::Transport)) {
            self.transport.on_lost();
        }
        self.idle.push(delivered.worker);
        let carrier = &mut self.carriers[delivered.attempt.slot as usize];
        if carrier.is_some_and(|(serial, _)| serial == delivered.attempt.serial) {
            *carrier = None;
        }
    }

    fn spawn_worker(&mut self) -> usize {
        let worker = self.assignments.len();
        let assignment = Arc::<Assignment>::default();
        self.assignments.push(assignment.clone());
        let answers = self.answers.clone();
        self.handle.spawn(work(worker, assignment, self.transport.clone(), self.clock, answers));
        worker
    }
}

async fn work<T: Transport>(
    worker: usize,
    assignment: Arc<Assignment>,
    transport: T,
    clock: Clock,
    answers: Arc<Mailbox<Delivered>>,
) {
    loop {
        let launched = poll_fn(|context| assignment.poll_next(context)).await;
        let sent_at = clock.now();
        let mut request = pin!(transport.send(launched));
        let answer = poll_fn(|context| {
            if assignment.poll_withdrawn(context, launched.attempt) {
                return Poll::Ready(None);
            }
            request.as_mut().poll(context).map(Some)
        })
        .await;
        let at = clock.now();
        // Nothing is expected of a withdrawn attempt; its answer only tells that the worker is idle.
        let answer = answer.unwrap_or_else(Answer::withdrawn);
        answers.put(Delivered { attempt: launched.attempt, sent_at, at, answer, worker });
    }
}

impl Assignment {
    fn update(&self, change: impl FnOnce(&mut AssignmentState)) {
        let waker = {
            let mut state = self.lock();
            change(&mut state);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll_next(&self, context: &Context<'_>) -> Poll<Launched> {
        let mut state = self.lock();
        if let Some(launched) = state.next.take() {
            return Poll::Ready(launched);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether this attempt was withdrawn; the worker is woken when it is.
    fn poll_withdrawn(&self, context: &Context<'_>, attempt: AttemptKey) -> bool {
        let mut state = self.lock();
        if state.withdrawn == Some(attempt) {
            return true;
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, AssignmentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
