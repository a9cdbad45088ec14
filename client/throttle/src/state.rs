//! State of a throttle behind its lock: the dispatcher, the calls, and which call keeps the time.
//!
//! A throttle has no task and no timer of its own. One of the waiting calls, the *timekeeper*, sets a timer for the next event. Whoever is
//! polled processes all events that are due. A timekeeper that stops waiting, is dropped, or is late passes its duty on: some other calls
//! are its deputies, with timers that ring a little later.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use slab::Slab;
use tailback::{
    Advice, AttemptKey, Backoff, Dispatcher, GiveUp, Host, Instant, Missing, Op, OpKey, Outcome, Output,
    Settings, Strategy,
};

use crate::attempt::{Refused, Repeats, WaitReason};
use crate::log::Event;

/// Maximum number of events that are processed under one lock.
const EVENTS_AT_ONCE: u32 = 1024;

/// Time after which a timekeeper whose timer has rung counts as late, so that another call takes its place.
const LATE: Duration = Duration::from_millis(10);

/// Number of waiting calls that have a timer, too, which rings a little later than that of the timekeeper.
const DEPUTIES: u32 = 3;

/// Settings of a throttle that do not belong to its strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) deadline: Option<Duration>,
    pub(crate) attempt_timeout: Option<Duration>,
    pub(crate) max_waiting: u64,
    pub(crate) max_lateness: Duration,
    pub(crate) records: bool,
}

/// State that clones and calls of one throttle share.
pub(crate) struct Shared {
    origin: tokio::time::Instant,
    pub(crate) options: Options,
    pub(crate) reading: std::sync::Arc<tailback::ResponseParser>,
    state: Mutex<State>,
}

pub(crate) struct State {
    dispatcher: Dispatcher<Callers>,
    callers: Callers,
    next_op: u32,
    /// Latest instant at which the state changed. Time does not go back.
    now: Instant,
    is_closed: bool,
}

/// Calls that have not ended, as the observer of the dispatcher.
#[derive(Default)]
struct Callers {
    calls: Slab<Caller>,
    /// Calls that wait and have been polled, in no order.
    waiting: Vec<u32>,
    /// Waiting call that has a timer, and the instant at which its timer rings.
    timekeeper: Option<(u32, Instant)>,
    /// Wakers to be called after the lock is released.
    woken: Vec<Waker>,
    /// Wakers to be dropped after the lock is released, because a dropped waker may drop a call.
    discarded: Vec<Waker>,
    log: Option<Vec<Event>>,
}

struct Caller {
    op: OpKey,
    /// Waker of a call that waits; `None` if it was not polled yet.
    waker: Option<Waker>,
    /// Position in `Callers::waiting`; `NOWHERE` if it is not there.
    position: u32,
    stage: Stage,
    reason: WaitReason,
}

const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
enum Stage {
    Waiting,
    /// Admitted, but the call has not been polled since.
    Admitted(AttemptKey),
    InFlight(AttemptKey, Instant),
    Done,
    GivenUp(GiveUp),
    Closed,
}

/// Data of an op: its call, its deadline, and which failures are retried.
#[derive(Clone, Copy, Debug, Default)]
struct OpData {
    call: u32,
    repeats: Repeats,
    deadline: Option<Instant>,
}

/// Result of polling a call.
pub(crate) enum Polled {
    Admitted {
        at: Instant,
        /// Reason of the latest wait.
        reason: WaitReason,
    },
    Refused(Refused),
    /// It waits, until this instant if it keeps the time.
    Wait(Option<tokio::time::Instant>),
}

impl Shared {
    pub(crate) fn new(strategy: Strategy, options: Options) -> Self {
        let settings = Settings {
            timeout: Duration::MAX,
            max_waiting: options.max_waiting,
            max_lateness: options.max_lateness,
        };
        let reading = strategy.reading().clone();
        let log = options.records.then(Vec::new);
        let state = State {
            dispatcher: Dispatcher::new([strategy], settings),
            callers: Callers { log, ..Callers::default() },
            next_op: 0,
            now: Instant::ORIGIN,
            is_closed: false,
        };
        Self { origin: tokio::time::Instant::now(), options, reading, state: Mutex::new(state) }
    }

    /// Calls `change` with the state and the present instant, and then wakes the calls that it concerns, after the lock is released.
    fn with<R>(&self, change: impl FnOnce(&mut State, Instant) -> R) -> R {
        let elapsed = self.origin.elapsed();
        let (result, woken, _discarded) = {
            let mut state = self.lock();
            let now = state.now.max(Instant::ORIGIN + elapsed);
            state.now = now;
            let result = change(&mut state, now);
            let Callers { woken, discarded, .. } = &mut state.callers;
            (result, std::mem::take(woken), std::mem::take(discarded))
        };
        woken.into_iter().for_each(Waker::wake);
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code of a caller runs under the lock, except that wakers are cloned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn real(&self, at: Instant) -> tokio::time::Instant {
        self.origin.checked_add(at.since_origin()).unwrap_or(self.origin)
    }

    /// Begins a call. Returns its number, and the instant of its arrival.
    pub(crate) fn arrive(&self, repeats: Repeats) -> Result<(u32, Instant), Refused> {
        let deadline = self.options.deadline;
        self.with(|state, now| {
            let call = state.arrive(now, repeats, deadline.map(|deadline| now + deadline))?;
            Ok((call, now))
        })
    }

    pub(crate) fn poll(&self, call: u32, waker: &Waker) -> Polled {
        let (polled, timer) = self.with(|state, now| state.poll(now, call, waker));
        match polled {
            Polled::Wait(_) => Polled::Wait(timer.map(|at| self.real(at))),
            polled => polled,
        }
    }

    /// Processes the end of the call's attempt. Returns the instant from which the call waits; `None` if it has ended, and is forgotten.
    pub(crate) fn ended(&self, call: u32, outcome: &Outcome) -> Option<Instant> {
        self.with(|state, now| state.ended(now, call, outcome).then_some(now))
    }

    pub(crate) fn forget(&self, call: u32) {
        self.with(|state, now| state.forget(now, call));
    }

    pub(crate) fn close(&self) {
        self.with(State::close);
    }

    pub(crate) fn take_log(&self) -> Vec<Event> {
        self.lock().callers.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.lock().dispatcher.in_flight()
    }

    /// Returns the number of calls that have not ended.
    pub(crate) fn calls(&self) -> usize {
        self.lock().callers.calls.len()
    }

    pub(crate) fn held_until(&self) -> Option<tokio::time::Instant> {
        let state = self.lock();
        let until = state.dispatcher.strategies().next()?.held_until()?;
        Some(self.real(until))
    }

    /// Returns whether no call is open and nothing holds, so that nothing is lost if the throttle is dropped.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        let held_until = state.dispatcher.strategies().next().and_then(Strategy::held_until);
        state.callers.calls.is_empty()
            && held_until.is_none_or(|until| until <= Instant::ORIGIN + self.origin.elapsed())
    }
}

impl State {
    fn arrive(&mut self, now: Instant, repeats: Repeats, deadline: Option<Instant>) -> Result<u32, Refused> {
        if self.is_closed {
            return Err(Refused::Closed);
        }
        self.fire_until(now, false);
        let Self { dispatcher, callers, next_op, .. } = self;
        let op = *next_op;
        let place = callers.calls.vacant_entry();
        let call = u32::try_from(place.key()).expect("fewer than 2^32 calls are open");
        place.insert(Caller {
            op: OpKey { slot: NOWHERE, op },
            waker: None,
            position: NOWHERE,
            stage: Stage::Waiting,
            reason: WaitReason::Queue,
        });
        callers.record(|| Event::Arrive { at: now, op, deadline });
        let data = OpData { call, repeats, deadline };
        if dispatcher.arrive(callers, now, op, deadline, data).is_err() {
            callers.calls.remove(call as usize);
            return Err(Refused::Full);
        }
        *next_op = op.wrapping_add(1);
        self.settle(now);
        Ok(call)
    }

    fn poll(&mut self, now: Instant, call: u32, waker: &Waker) -> (Polled, Option<Instant>) {
        self.fire_until(now, true);
        let Self { dispatcher, callers, .. } = self;
        let caller = &mut callers.calls[call as usize];
        if let Stage::Admitted(attempt) = caller.stage {
            if !dispatcher.holds(attempt, now) {
                caller.stage = Stage::InFlight(attempt, now);
                let reason = caller.reason;
                return (Polled::Admitted { at: now, reason }, None);
            }
            caller.stage = Stage::Waiting;
            callers.record(|| Event::Unsend { at: now, attempt });
            dispatcher.unsend(callers, now, attempt);
            self.settle(now);
        }
        let caller = &mut self.callers.calls[call as usize];
        let refused = match caller.stage {
            Stage::Waiting => {
                if caller.waker.as_ref().is_none_or(|known| !known.will_wake(waker)) {
                    let before = caller.waker.replace(waker.clone());
                    self.callers.discarded.extend(before);
                }
                let caller = &mut self.callers.calls[call as usize];
                if caller.position == NOWHERE {
                    caller.position = u32::try_from(self.callers.waiting.len()).unwrap_or(NOWHERE);
                    self.callers.waiting.push(call);
                }
                if self.dispatcher.strategies().any(|strategy| strategy.holds_all(now)) {
                    self.callers.calls[call as usize].reason = WaitReason::Hold;
                }
                let timer = self.keep_time(now, Some(call));
                return (Polled::Wait(None), timer);
            }
            Stage::GivenUp(GiveUp::Expired | GiveUp::Late) => Refused::Deadline,
            Stage::Closed => Refused::Closed,
            Stage::GivenUp(GiveUp::After(_)) | Stage::Done | Stage::Admitted(_) | Stage::InFlight(..) => {
                Refused::Shed
            }
        };
        (Polled::Refused(refused), None)
    }

    fn ended(&mut self, now: Instant, call: u32, outcome: &Outcome) -> bool {
        self.fire_until(now, false);
        let Self { dispatcher, callers, .. } = self;
        let caller = &mut callers.calls[call as usize];
        if let Stage::InFlight(attempt, sent_at) = caller.stage {
            caller.stage = Stage::Waiting;
            callers.record(|| Event::End { at: now, attempt, sent_at, outcome: *outcome });
            dispatcher.ended(callers, now, attempt, sent_at, outcome, &());
        }
        let continues =
            !matches!(callers.calls[call as usize].stage, Stage::Done | Stage::GivenUp(_) | Stage::Closed);
        if !continues {
            callers.calls.remove(call as usize);
        }
        self.settle(now);
        continues
    }

    /// Removes a call. If it has not ended, it is cancelled.
    fn forget(&mut self, now: Instant, call: u32) {
        let caller = &self.callers.calls[call as usize];
        if !matches!(caller.stage, Stage::Done | Stage::GivenUp(_) | Stage::Closed) {
            self.fire_until(now, false);
            self.cancel(now, call);
        }
        self.callers.leave(call);
        self.callers.calls.remove(call as usize);
        self.settle(now);
    }

    /// Ends the op of a call that has not ended.
    fn cancel(&mut self, now: Instant, call: u32) {
        let Self { dispatcher, callers, .. } = self;
        let caller = &callers.calls[call as usize];
        let attempt = match caller.stage {
            Stage::Admitted(attempt) | Stage::InFlight(attempt, _) => Some(attempt),
            Stage::Waiting => None,
            Stage::Done | Stage::GivenUp(_) | Stage::Closed => return,
        };
        let op = caller.op;
        callers.record(|| Event::Cancel { at: now, op, attempt });
        dispatcher.cancel(callers, now, op, attempt);
    }

    /// Ends all calls that wait. Attempts in flight continue.
    fn close(&mut self, now: Instant) {
        self.is_closed = true;
        let waiting = |(call, caller): (usize, &Caller)| {
            matches!(caller.stage, Stage::Waiting | Stage::Admitted(_))
                .then(|| u32::try_from(call).unwrap_or(NOWHERE))
        };
        let calls: Vec<u32> = self.callers.calls.iter().filter_map(waiting).collect();
        self.dispatcher.stop();
        for call in calls {
            self.cancel(now, call);
            self.callers.end(call, Stage::Closed);
        }
        self.settle(now);
    }

    /// Processes all events that are due before `now`, or also those at `now` if `and_now` is true.
    fn fire_until(&mut self, now: Instant, and_now: bool) {
        let is_due = |at: Instant| at < now || and_now && at == now;
        for _ in 0..EVENTS_AT_ONCE {
            if !is_due(self.dispatcher.quiet_until()) {
                return;
            }
            let Self { dispatcher, callers, .. } = self;
            let Some((due_at, due)) = dispatcher.next_due().filter(|(at, _)| is_due(*at)) else { return };
            callers.record(|| Event::Fire { at: now, due_at, due });
            dispatcher.fire(callers, now, (due_at, due));
            self.admit();
        }
    }

    /// Informs calls that were admitted.
    fn admit(&mut self) {
        while let Some(output) = self.dispatcher.take_output() {
            // An attempt is withdrawn only with its call.
            let Output::Send(launch) = output else { continue };
            self.callers.record(|| Event::Admit(launch));
            if let Some(op) = self.dispatcher.op(launch.op.slot) {
                self.callers.end(op.data.call, Stage::Admitted(launch.attempt));
            }
        }
    }

    fn settle(&mut self, now: Instant) {
        self.admit();
        self.keep_time(now, None);
    }

    /// Sees to it that a waiting call has a timer for the next event. `polled` is the waiting call that is polled at present. Returns the
    /// instant of its timer, if it is the timekeeper or a deputy.
    fn keep_time(&mut self, now: Instant, polled: Option<u32>) -> Option<Instant> {
        let Self { dispatcher, callers, .. } = self;
        let Some((due, _)) = dispatcher.next_due().filter(|(at, _)| *at < Instant::FAR_FUTURE) else {
            callers.timekeeper = None;
            return None;
        };
        let timely = callers.timekeeper.filter(|(_, rings)| *rings <= due && now < *rings + LATE);
        if let Some((keeper, _)) = timely
            && Some(keeper) != polled
        {
            // Nothing shows whether the timekeeper will be polled when its timer rings.
            let rank = callers.rank(polled?).filter(|rank| *rank < DEPUTIES)?;
            return Some(due.max(now) + LATE * (rank + 2));
        }
        if let Some(call) = polled {
            callers.timekeeper = Some((call, due));
            return Some(due);
        }
        let late = callers.timekeeper.map(|(keeper, _)| keeper);
        let mut others = callers.waiting.iter().rev().copied().filter(|call| Some(*call) != late);
        let (next, deputy) = (others.next().or(late)?, others.next());
        callers.timekeeper = Some((next, due));
        callers.wake(next);
        if let Some(deputy) = deputy {
            callers.wake(deputy);
        }
        None
    }
}

impl Callers {
    #[inline]
    fn record(&mut self, event: impl FnOnce() -> Event) {
        if let Some(log) = &mut self.log {
            log.push(event());
        }
    }

    /// Ends the wait of a call, and wakes it.
    fn end(&mut self, call: u32, stage: Stage) {
        let caller = &mut self.calls[call as usize];
        caller.stage = stage;
        self.woken.extend(caller.waker.take());
        self.leave(call);
    }

    fn wake(&mut self, call: u32) {
        self.woken.extend(self.calls[call as usize].waker.clone());
    }

    /// Returns the position of a waiting call, counted from the latest one.
    fn rank(&self, call: u32) -> Option<u32> {
        let position = self.calls[call as usize].position;
        u32::try_from(self.waiting.len()).ok()?.checked_sub(1)?.checked_sub(position)
    }

    /// Removes a call from those that wait.
    fn leave(&mut self, call: u32) {
        if self.timekeeper.is_some_and(|(keeper, _)| keeper == call) {
            self.timekeeper = None;
        }
        let caller = &mut self.calls[call as usize];
        self.discarded.extend(caller.waker.take());
        let position = std::mem::replace(&mut caller.position, NOWHERE);
        if position != NOWHERE {
            self.waiting.swap_remove(position as usize);
            if let Some(moved) = self.waiting.get(position as usize) {
                self.calls[*moved as usize].position = position;
            }
        }
    }
}

impl Host for Callers {
    type Op = OpData;
    type Attempt = ();
    type Note = ();

    fn is_late(&self, op: &Op<OpData>, at: Instant) -> bool {
        op.data.deadline.is_some_and(|deadline| at >= deadline)
    }

    fn retries(&self, op: &Op<OpData>, failure: &Outcome) -> bool {
        match op.data.repeats {
            Repeats::All => true,
            Repeats::Unprocessed => failure.facts.missing == Some(Missing::Refused),
            Repeats::Never => false,
        }
    }

    fn on_stored(&mut self, slot: u32, op: &Op<OpData>) {
        self.calls[op.data.call as usize].op.slot = slot;
    }

    fn on_asleep(&mut self, at: Instant, backoff: Backoff<'_, Self>) {
        let is_advised = matches!(
            backoff.outcome.advice,
            Advice::After(wait) if wait > Duration::ZERO && backoff.until >= at + wait
        );
        let reason = if is_advised { WaitReason::Advice } else { WaitReason::Backoff };
        self.calls[backoff.op.data.call as usize].reason = reason;
    }

    fn on_done(&mut self, _at: Instant, _slot: u32, op: &Op<OpData>, _note: Option<&()>) {
        self.end(op.data.call, Stage::Done);
    }

    fn on_given_up(&mut self, at: Instant, _slot: u32, op: &Op<OpData>, why: GiveUp) {
        self.record(|| Event::GiveUp { at, op: op.id, why });
        self.end(op.data.call, Stage::GivenUp(why));
    }
}
