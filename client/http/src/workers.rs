//! Workers: long-lived tasks that each carry one attempt at a time, and the hub, where they report their ends and get their next attempts.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use loadgen_core::{AttemptKey, AttemptResult, Input, Latencies, Output, Run, SentAttempt};
use tailback::{Failure, Status};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use vocabulary::Instant;

use crate::clock::Clock;
use crate::control::locked;
use crate::transport::Transport;
use crate::transport::exchange::send;

/// The run in progress, with the workers that carry its attempts. All threads share it.
///
/// A worker whose attempt has ended passes the result to the run itself, and takes the run's next attempt. So an answer is processed as soon
/// as it has been read, while its data are in the processor's cache.
pub(crate) struct Hub<T> {
    state: Mutex<InProgress<T>>,
    clock: Clock,
    /// Wakes the driver before the instant for which it has set its timer.
    pub early: Notify,
}

pub(crate) struct InProgress<T> {
    /// The run. It is taken out while somebody works with it, so that it is missing after a panic.
    pub run: Option<Box<Run>>,
    lanes: Vec<Lane<T>>,
    /// Attempts that wait for a connection, each with the instant at which its wait began. The send lag of an attempt includes its wait.
    waiting: VecDeque<(SentAttempt, Instant)>,
    pub waits: Latencies,
    /// For each slot, the serial number of its attempt, and the worker that carries this attempt.
    carriers: Vec<Option<(u64, WorkerId)>>,
    /// Latest instant that was passed to the run. Time must not go back, even if threads report their answers out of order.
    present: Instant,
    /// Instant for which the driver has set its timer.
    timer: Instant,
    pub is_over: bool,
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
    assignments: Vec<Arc<Assignment>>,
    idle: Vec<usize>,
    under_way: usize,
}

/// Orders for one worker.
#[derive(Default)]
struct Assignment(Mutex<Orders>);

#[derive(Default)]
struct Orders {
    next: Option<SentAttempt>,
    withdrawn: Option<AttemptKey>,
    waker: Option<Waker>,
}

/// A worker that has just become free, and the attempt that it gets.
#[derive(Default)]
struct Free {
    worker: Option<WorkerId>,
    attempt: Option<SentAttempt>,
}

impl<T: Transport> Hub<T> {
    /// Creates a hub without workers. Each pair in `lanes` is the runtime of one thread and the transport for its connections.
    pub(crate) fn new(run: Run, lanes: impl IntoIterator<Item = (Handle, T)>, clock: Clock) -> Arc<Self> {
        let lane = |(handle, transport)| Lane {
            handle,
            transport,
            assignments: Vec::new(),
            idle: Vec::new(),
            under_way: 0,
        };
        let state = InProgress {
            run: Some(Box::new(run)),
            lanes: lanes.into_iter().map(lane).collect(),
            waiting: VecDeque::new(),
            waits: Latencies::default(),
            carriers: Vec::new(),
            present: Instant::ORIGIN,
            timer: Instant::ORIGIN,
            is_over: false,
        };
        Arc::new(Self { state: Mutex::new(state), clock, early: Notify::new() })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, InProgress<T>> {
        locked(&self.state)
    }

    /// Processes the end of a worker's attempt. Returns the worker's next attempt, if there is one at once.
    fn end(
        self: &Arc<Self>,
        worker: WorkerId,
        attempt: AttemptKey,
        sent_at: Instant,
        result: &AttemptResult,
    ) -> Option<SentAttempt> {
        let mut state = self.lock();
        state.present = state.present.max(self.clock.now());
        state.release(worker, attempt, result.outcome.status);
        let mut free = Free { worker: Some(worker), attempt: None };
        if !state.is_over
            && let Some(mut run) = state.run.take()
        {
            run.on_attempt_end(state.present, attempt, Some(sent_at), result);
            let next = state.carry_out(self, &mut run, &mut free);
            if next < state.timer {
                state.timer = next;
                self.early.notify_one();
            }
            state.run = Some(run);
        }
        if let Some(WorkerId { lane, number }) = free.worker {
            state.lanes[lane].idle.push(number);
        }
        free.attempt
    }
}

impl<T: Transport> InProgress<T> {
    /// Lets the run continue at the present time. Returns the instant at which the driver must call again.
    pub(crate) fn go_on(&mut self, hub: &Arc<Hub<T>>, run: &mut Run) -> Instant {
        self.present = self.present.max(hub.clock.now());
        self.timer = self.carry_out(hub, run, &mut Free::default());
        self.timer
    }

    /// Sends waiting attempts for which there is room, and carries out the outputs of the run until it waits. Returns the instant of the
    /// run's next event.
    fn carry_out(&mut self, hub: &Arc<Hub<T>>, run: &mut Run, free: &mut Free) -> Instant {
        let present = self.present;
        while !self.waiting.is_empty()
            && let Some(lane) = self.lane_with_room(free)
            && let Some((attempt, since)) = self.waiting.pop_front()
        {
            self.waits.record_between(since, hub.clock.now());
            run.handle_input(present, Input::Connected(attempt.attempt));
            if run.is_in_flight(attempt.attempt) {
                self.hand_out(hub, lane, attempt, free);
            }
        }
        loop {
            match run.poll_output(present) {
                Output::Send(attempt) => {
                    if let Some(lane) = self.lane_with_room(free).filter(|_| self.waiting.is_empty()) {
                        self.hand_out(hub, lane, attempt, free);
                    } else {
                        self.waiting.push_back((attempt, hub.clock.now()));
                        run.handle_input(present, Input::Waiting(attempt.attempt));
                    }
                }
                Output::Cancel(key) => {
                    if let Some(due) = self.cancel(key, hub.clock.now()) {
                        run.on_never_sent(due, present);
                    }
                }
                Output::WaitUntil(at) => return at,
                Output::Idle => return Instant::FAR_FUTURE,
                Output::Done => {
                    self.is_over = true;
                    return Instant::ORIGIN;
                }
            }
        }
    }

    /// Returns a lane with room for another attempt, preferably that of the worker that is free.
    fn lane_with_room(&self, free: &Free) -> Option<usize> {
        let has_room = |lane: &usize| {
            let lane = &self.lanes[*lane];
            lane.under_way < lane.transport.room()
        };
        let own = free.worker.map(|worker| worker.lane).filter(has_room);
        let any = || (0..self.lanes.len()).filter(has_room).min_by_key(|lane| self.lanes[*lane].under_way);
        own.or_else(any)
    }

    fn hand_out(&mut self, hub: &Arc<Hub<T>>, lane: usize, attempt: SentAttempt, free: &mut Free) {
        let number = if let Some(worker) = free.worker.take_if(|worker| worker.lane == lane) {
            free.attempt = Some(attempt);
            worker.number
        } else {
            let number = self.lanes[lane].idle.pop().unwrap_or_else(|| self.spawn_worker(hub, lane));
            self.lanes[lane].assignments[number].update(|orders| orders.next = Some(attempt));
            number
        };
        let slot = attempt.attempt.slot as usize;
        if self.carriers.len() <= slot {
            self.carriers.resize(slot + 1, None);
        }
        self.carriers[slot] = Some((attempt.attempt.serial, WorkerId { lane, number }));
        self.lanes[lane].under_way += 1;
    }

    /// Withdraws an attempt. Returns the instant at which it was due, if it was still waiting for a connection.
    fn cancel(&mut self, key: AttemptKey, at: Instant) -> Option<Instant> {
        if let Some(position) = self.waiting.iter().position(|(attempt, _)| attempt.attempt == key) {
            let (launched, since) = self.waiting.remove(position)?;
            self.waits.record_between(since, at);
            return Some(launched.due);
        }
        let (serial, WorkerId { lane, number }) = (*self.carriers.get(key.slot as usize)?)?;
        if serial == key.serial {
            self.lanes[lane].assignments[number].update(|orders| orders.withdrawn = Some(key));
        }
        None
    }

    fn release(&mut self, worker: WorkerId, attempt: AttemptKey, status: Status) {
        let lane = &mut self.lanes[worker.lane];
        lane.under_way -= 1;
        if matches!(status, Status::Cancelled | Status::Failed(Failure::Transport)) {
            lane.transport.on_lost();
        }
        self.carriers[attempt.slot as usize].take_if(|(serial, _)| *serial == attempt.serial);
    }

    fn spawn_worker(&mut self, hub: &Arc<Hub<T>>, lane: usize) -> usize {
        let at = &mut self.lanes[lane];
        let number = at.assignments.len();
        let assignment = Arc::<Assignment>::default();
        at.assignments.push(assignment.clone());
        at.handle.spawn(work(hub.clone(), WorkerId { lane, number }, assignment, at.transport.clone()));
        number
    }
}

async fn work<T: Transport>(hub: Arc<Hub<T>>, worker: WorkerId, assignment: Arc<Assignment>, transport: T) {
    let _alarm = Alarm(&hub);
    let mut link = T::Link::default();
    let mut result = AttemptResult::plain(Status::Cancelled);
    let mut next = None;
    loop {
        let launched = match next {
            Some(launched) => launched,
            None => poll_fn(|context| assignment.poll(context, |orders| orders.next.take())).await,
        };
        let sent_at = hub.clock.now();
        let is_withdrawn = {
            let mut request = pin!(send(&transport, &mut link, &launched, &mut result));
            poll_fn(|context| {
                if assignment
                    .poll(context, |orders| (orders.withdrawn == Some(launched.attempt)).then_some(()))
                    .is_ready()
                {
                    return Poll::Ready(true);
                }
                request.as_mut().poll(context).map(|()| false)
            })
            .await
        };
        if is_withdrawn {
            // A withdrawn attempt has no result. Its end is reported only because the worker is free again.
            result = AttemptResult::plain(Status::Cancelled);
        }
        next = hub.end(worker, launched.attempt, sent_at, &result);
    }
}

/// Notifies the driver if a worker panics. Otherwise the run would wait for ever.
struct Alarm<'a, T>(&'a Hub<T>);

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            locked(&self.0.state).run = None;
            self.0.early.notify_one();
        }
    }
}

impl Assignment {
    /// Changes the assignment, and wakes the worker.
    fn update(&self, change: impl FnOnce(&mut Orders)) {
        let waker = {
            let mut orders = locked(&self.0);
            change(&mut orders);
            orders.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns what `take` takes from the assignment. If it takes nothing, the worker is woken at the next change of the assignment.
    fn poll<R>(&self, context: &Context<'_>, take: impl FnOnce(&mut Orders) -> Option<R>) -> Poll<R> {
        let mut orders = locked(&self.0);
        if let Some(taken) = take(&mut orders) {
            return Poll::Ready(taken);
        }
        if !orders.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            orders.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}
