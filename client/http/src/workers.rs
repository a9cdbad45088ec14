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
    worker: WorkerId,
}

/// A worker: which lane, and which of its workers.
#[derive(Clone, Copy, Debug)]
struct WorkerId {
    lane: usize,
    number: usize,
}

/// A thread with connections of its own.
struct Lane<T> {
    handle: Handle,
    transport: T,
    /// The way there, if it is not the driver's own thread.
    errands: Option<Errands>,
    /// By worker: what it is to do.
    assignments: Vec<Arc<Assignment>>,
    idle: Vec<usize>,
    under_way: usize,
}

/// What another thread is to do: it is told all of a turn at once, since every wake-up of it is a system call.
struct Errands {
    mailbox: Arc<Mailbox<Errand>>,
    untold: Vec<Errand>,
}

/// A worker, and its next attempt.
struct Errand {
    assignment: Arc<Assignment>,
    attempt: Launched,
}

impl Errands {
    /// The way to the thread of this runtime.
    fn to(handle: &Handle) -> Self {
        let mailbox = Arc::new(Mailbox::new());
        handle.spawn(pass_on(mailbox.clone()));
        Self { mailbox, untold: Vec::new() }
    }
}

impl<T: Transport> Lane<T> {
    fn has_room(&self) -> bool {
        self.under_way < self.transport.room()
    }
}

/// Hands attempts to idle workers and starts new ones when none is idle.
pub(crate) struct Workers<T> {
    lanes: Vec<Lane<T>>,
    clock: Clock,
    answers: Arc<Mailbox<Delivered>>,
    /// Attempts that wait for a connection, and since when. Their wait counts as send lag, too.
    waiting: VecDeque<(Launched, Instant)>,
    waits: Latencies,
    /// Which worker carries the attempt in this slot.
    carriers: Vec<Option<(u64, WorkerId)>>,
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
    /// Workers on these runtimes, each with a transport of its own. The first is the caller's.
    pub(crate) fn new(lanes: impl IntoIterator<Item = (Handle, T)>, clock: Clock) -> Self {
        let lane = |(number, (handle, transport))| Lane {
            errands: (number > 0).then(|| Errands::to(&handle)),
            handle,
            transport,
            assignments: Vec::new(),
            idle: Vec::new(),
            under_way: 0,
        };
        Self {
            lanes: lanes.into_iter().enumerate().map(lane).collect(),
            clock,
            answers: Arc::new(Mailbox::new()),
            waiting: VecDeque::new(),
            waits: Latencies::default(),
            carriers: Vec::new(),
        }
    }

    /// Where answers arrive.
    pub(crate) fn answers(&self) -> Arc<Mailbox<Delivered>> {
        self.answers.clone()
    }

    /// Sends an attempt as soon as there is room for it, and other threads are told ([`Self::tell`]).
    pub(crate) fn send(&mut self, attempt: Launched) {
        match self.free_lane() {
            Some(lane) if self.waiting.is_empty() => self.hand_out(lane, attempt),
            _ => self.waiting.push_back((attempt, self.clock.now())),
        }
    }

    /// The lane with the fewest attempts, if it has room.
    fn free_lane(&self) -> Option<usize> {
        let with_room = self.lanes.iter().enumerate().filter(|(_, lane)| lane.has_room());
        with_room.min_by_key(|(_, lane)| lane.under_way).map(|(lane, _)| lane)
    }

    /// How long those attempts waited that had to wait for a connection.
    pub(crate) fn waits(&self) -> &Latencies {
        &self.waits
    }

    /// Connections opened so far.
    pub(crate) fn connections(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.transport.connections()).sum()
    }

    /// How long each of them took to open, in real time.
    pub(crate) fn connect_times(&self) -> Latencies {
        let mut all = Latencies::default();
        for lane in &self.lanes {
            all.merge(&lane.transport.connect_times());
        }
        all
    }

    /// Sends what waits, as far as there is room.
    pub(crate) fn fill(&mut self) {
        while !self.waiting.is_empty()
            && let Some(lane) = self.free_lane()
            && let Some((attempt, since)) = self.waiting.pop_front()
        {
            self.waits.record_between(since, self.clock.now());
            self.hand_out(lane, attempt);
        }
    }

    /// Returns when there is more room for what waits.
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

    fn hand_out(&mut self, lane: usize, attempt: Launched) {
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
        match &mut lane.errands {
            None => assignment.update(|state| state.next = Some(attempt)),
            Some(errands) => errands.untold.push(Errand { assignment: assignment.clone(), attempt }),
        }
    }

    /// Tells other threads what they are to send.
    pub(crate) fn tell(&mut self) {
        for errands in self.lanes.iter_mut().filter_map(|lane| lane.errands.as_mut()) {
            if !errands.untold.is_empty() {
                errands.mailbox.put_all(&mut errands.untold);
            }
        }
    }

    /// Withdraws an attempt. Returns it when it was not sent yet.
    pub(crate) fn cancel(&mut self, key: AttemptKey) -> Option<Launched> {
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

    /// Takes note that an answer's worker is idle again.
    pub(crate) fn release(&mut self, delivered: &Delivered) {
        let lane = &mut self.lanes[delivered.worker.lane];
        lane.under_way -= 1;
        if matches!(delivered.answer.outcome.status, Status::Cancelled | Status::Failed(Failure::Transport)) {
            lane.transport.on_lost();
        }
        lane.idle.push(delivered.worker.number);
        let carrier = &mut self.carriers[delivered.attempt.slot as usize];
        if carrier.is_some_and(|(serial, _)| serial == delivered.attempt.serial) {
            *carrier = None;
        }
    }

    fn spawn_worker(&mut self, lane: usize) -> usize {
        let at = &mut self.lanes[lane];
        let number = at.assignments.len();
        let assignment = Arc::<Assignment>::default();
        at.assignments.push(assignment.clone());
        let worker = WorkerId { lane, number };
        at.handle.spawn(work(worker, assignment, at.transport.clone(), self.clock, self.answers.clone()));
        number
    }
}

/// Hands out what this thread is told to do.
async fn pass_on(errands: Arc<Mailbox<Errand>>) {
    let mut batch = Vec::new();
    loop {
        errands.filled().await;
        errands.take(&mut batch);
        for Errand { assignment, attempt } in batch.drain(..) {
            assignment.update(|state| state.next = Some(attempt));
        }
    }
}

async fn work<T: Transport>(
    worker: WorkerId,
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
