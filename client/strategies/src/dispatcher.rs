//! Dispatcher: the decisions of a client, which ops to send when, for one strategy or several.
//!
//! It contains the queues of ready ops, the attempts in flight, the timers of backoffs, polls, timeouts and deadlines, and the rounds of
//! hedged copies. It measures nothing and sends nothing: a [`Host`] observes its decisions, and a driver carries out its [`Output`]s.
//!
//! Every event is processed at its own scheduled instant, however late the driver calls, unless [`Settings::max_lateness`] bounds how late
//! an event may be.

mod ending;
mod hedging;
mod host;
mod in_flight;
mod instance;
mod launching;
mod op;
mod rounds;
mod timers;
mod wakes;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use slab::Slab;

use crate::{Instant, Outcome, ResponseParser, Strategy};
use in_flight::InFlight;
use instance::{Instance, InstanceId};
use op::{OpSlot, OpState, Waiting};
use rounds::Rounds;
use timers::Timers;

pub use host::{Backoff, EndedAttempt, GiveUp, Host};
pub use in_flight::Attempt;
pub use op::Op;
pub use timers::Due;

/// Identifier of an op that a dispatcher stores. A slot is reused once its op has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpKey {
    /// Small number, usable as an index.
    pub slot: u32,
    /// Number of the op, as the driver passed it.
    pub op: u32,
}

/// Identifier of an attempt from [`Output::Send`] to its end. A slot is reused once its attempt has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptKey {
    /// Small number, usable as an index.
    pub slot: u32,
    /// Number of the attempt among all attempts of the dispatcher. It is used again only if the latest attempt ended [deferred], because a
    /// deferred attempt does not count.
    ///
    /// [deferred]: crate::Status::Deferred
    pub serial: u64,
}

/// Command to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this attempt.
    Send(Launch),
    /// Withdraw this attempt. Its end need not be reported.
    Cancel(AttemptKey),
}

/// Attempt that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Identifier of the attempt.
    pub attempt: AttemptKey,
    /// Identifier of the op to which the attempt belongs.
    pub op: OpKey,
    /// Ordinal of the attempt within its op, from 1.
    pub ordinal: u32,
    /// Instant at which the attempt should be sent.
    pub due: Instant,
    #[doc(hidden)]
    /// Minimum number of free slots with which the server starts the attempt; 0 without carrier sense.
    pub min_free: u32,
}

/// Settings of a dispatcher that do not belong to its strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Time after which an attempt without an answer is withdrawn, and counts as failed.
    pub timeout: Duration,
    /// Maximum number of ops that wait in a queue or for the end of a backoff. More ops are [refused](Full).
    pub max_waiting: u64,
    /// Maximum lateness of an event. An event that is due earlier is treated as if it were due that long ago. So a process that slept does
    /// not catch up on the events that it missed.
    pub max_lateness: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout: Duration::MAX, max_waiting: u64::MAX, max_lateness: Duration::MAX }
    }
}

/// Too many ops wait already ([`Settings::max_waiting`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many operations wait already")]
pub struct Full;

/// State machine of one client or several clients: each has a strategy with a queue of its own. Op `n` belongs to client `n` modulo the
/// number of strategies.
pub struct Dispatcher<H: Host> {
    settings: Settings,
    instances: Vec<Instance>,
    ops: Slab<Op<H::Op>>,
    attempts: InFlight<H::Attempt>,
    hedges: bool,
    rounds: Rounds,
    timers: Timers,
    /// Number of attempts for which it is not known yet whether the server started them. These attempts use carrier sense, so the server
    /// starts them only if enough slots are free.
    undecided: usize,
    /// Number of attempts launched, which is also the serial number of the next attempt.
    next_serial: u64,
    outbox: VecDeque<Output>,
    /// Number of ops that were cancelled while they were queued or asleep, and whose entries are still in a queue.
    dead: usize,
    is_stopping: bool,
}

impl<H: Host> Dispatcher<H> {
    /// Creates a dispatcher. There must be at least one strategy.
    pub fn new(strategies: impl IntoIterator<Item = Strategy>, settings: Settings) -> Self {
        let instances: Vec<Instance> = strategies.into_iter().map(Instance::new).collect();
        assert!(!instances.is_empty(), "a dispatcher has at least one strategy");
        Self {
            settings,
            hedges: instances.iter().any(|instance| instance.strategy.hedges()),
            instances,
            ops: Slab::new(),
            attempts: InFlight::new(),
            rounds: Rounds::default(),
            timers: Timers::default(),
            undecided: 0,
            next_serial: 0,
            outbox: VecDeque::new(),
            dead: 0,
            is_stopping: false,
        }
    }

    /// Records that an op arrived at `at`, and stores it. Its first attempt may be among the outputs at once. The op is given up at its
    /// deadline, unless it has an attempt in flight then. Op numbers may repeat once the earlier op has ended.
    ///
    /// # Errors
    /// Fails if too many ops wait already.
    pub fn arrive(
        &mut self,
        host: &mut H,
        at: Instant,
        op: u32,
        deadline: Option<Instant>,
        data: H::Op,
    ) -> Result<OpKey, Full> {
        if self.waiting() >= self.settings.max_waiting {
            return Err(Full);
        }
        let stored = Op::new(op, at, data);
        let slot = self.store(host, stored);
        if let Some(deadline) = deadline {
            self.timers.expire(deadline, slot, op, &self.ops);
        }
        self.begin(host, Waiting::stored(slot, &stored), at);
        Ok(OpKey { slot: slot.0, op })
    }

    /// Variant of [`arrive`](Self::arrive) for many ops that cannot be cancelled and have no deadline: an op takes memory only in its
    /// queue until its first attempt is sent.
    pub fn arrive_unstored(&mut self, host: &mut H, at: Instant, op: u32) {
        self.begin(host, Waiting::fresh(op, at), at);
    }

    fn begin(&mut self, host: &mut H, op: Waiting, at: Instant) {
        let instance = self.instance_of(op.id);
        self.launch_with(host, op, instance, at);
    }

    #[inline]
    fn store(&mut self, host: &mut H, op: Op<H::Op>) -> OpSlot {
        let slot = u32::try_from(self.ops.insert(op)).expect("fewer than 2^32 ops wait at once");
        host.on_stored(slot, &op);
        OpSlot(slot)
    }

    fn instance_of(&self, op: u32) -> InstanceId {
        // Fast path: skips the division if there is only one instance, the usual case.
        match self.instances.len() {
            1 => InstanceId(0),
            #[expect(clippy::cast_possible_truncation, reason = "a number below a u32")]
            count => InstanceId((op as usize % count) as u32),
        }
    }

    /// Returns the next command to the driver, if there is one.
    #[inline]
    pub fn take_output(&mut self) -> Option<Output> {
        self.outbox.pop_front()
    }

    /// Returns the next command to the driver without removing it.
    #[inline]
    pub fn peek_output(&self) -> Option<&Output> {
        self.outbox.front()
    }

    /// Returns an instant before which no event is due: a lower bound on the result of [`next_due`](Self::next_due), at no cost.
    #[inline]
    pub fn quiet_until(&self) -> Instant {
        self.timers.quiet_until
    }

    /// Returns the next event and its instant. The driver passes both to [`fire`](Self::fire) once the instant has come.
    #[inline]
    pub fn next_due(&mut self) -> Option<(Instant, Due)> {
        if self.is_stopping {
            return self.next_timeout();
        }
        if let Some(due) = self.timers.foreseen {
            return Some((self.timers.quiet_until, due));
        }
        let Self { timers, rounds, attempts, settings, .. } = self;
        timers.next(|| {
            let timeout = attempts.first().map(|attempt| (attempt.due + settings.timeout, Due::Timeout));
            [timeout, rounds.next().map(|at| (at, Due::Copy))]
        })
    }

    fn next_timeout(&self) -> Option<(Instant, Due)> {
        self.attempts.first().map(|attempt| (attempt.due + self.settings.timeout, Due::Timeout))
    }

    /// Processes the event that [`next_due`](Self::next_due) returned. It is processed at its own instant, or
    /// [`Settings::max_lateness`] before `now` if that is later. Returns the instant used.
    #[inline]
    pub fn fire(&mut self, host: &mut H, now: Instant, (due_at, due): (Instant, Due)) -> Instant {
        self.timers.foreseen = None;
        let at = self.bounded(now, due_at);
        match due {
            Due::Wake => self.on_wake(host, at),
            Due::Poll => self.on_poll(host, at, due_at),
            Due::Copy => self.on_copy_due(host, at),
            Due::Timeout => self.on_timeout(host, at),
            Due::Deadline => self.on_deadline(host, at),
        }
        at
    }

    #[inline]
    fn bounded(&self, now: Instant, at: Instant) -> Instant {
        match self.settings.max_lateness {
            Duration::MAX => at,
            most => at.max(Instant::from_nanos(now.as_nanos().saturating_sub(vocabulary::whole_nanos(most)))),
        }
    }

    fn on_wake(&mut self, host: &mut H, at: Instant) {
        let Self { timers, ops, .. } = self;
        let touch = |slot: OpSlot| {
            std::hint::black_box(ops.get(slot.index()).map(|op| op.state));
        };
        let Some(slot) = timers.wakes.pop(touch) else { return };
        let op = self.ops[slot];
        if op.state == OpState::Dead {
            self.ops.remove(slot.index());
            self.dead -= 1;
            return;
        }
        let instance = self.instance_of(op.id);
        self.instances[instance].sleeping -= 1;
        host.on_awake(slot.0);
        if op.state == OpState::Leaving {
            return self.give_up(host, at, slot, GiveUp::After(op.last.unwrap_or(crate::Status::Cancelled)));
        }
        self.ops[slot].state = OpState::Ready;
        self.launch_with(host, Waiting::stored(slot, &op), instance, at);
    }

    fn on_poll(&mut self, host: &mut H, at: Instant, due_at: Instant) {
        let Some(id) = self.timers.polled() else { return };
        let instance = &mut self.instances[id];
        if instance.armed != Some(due_at) {
            return;
        }
        instance.armed = None;
        instance.strategy.on_timer(at);
        self.launch(host, id, at);
    }

    fn on_timeout(&mut self, host: &mut H, at: Instant) {
        if let Some(key) = self.attempts.first_key() {
            self.withdraw(host, at, key, &TIMED_OUT, false);
        }
    }

    /// Gives up an op at its deadline. An op with an attempt in flight continues, because that attempt may still succeed.
    fn on_deadline(&mut self, host: &mut H, at: Instant) {
        let Some((slot, id)) = self.timers.expired() else { return };
        let Some(op) = self.ops.get(slot.index()).copied().filter(|op| op.id == id) else { return };
        if op.state == OpState::InFlight {
            return self.on_deadline_in_flight(host, at, slot);
        }
        if op.state != OpState::Dead {
            self.kill(host, at, slot, &op);
            host.on_given_up(at, slot.0, &op, GiveUp::Expired);
            self.launch_if_ready(host, self.instance_of(id), at);
        }
    }

    /// Ends an op that is queued or asleep. A queue still refers to the op's slot, which is freed when the queue next reaches it.
    fn kill(&mut self, host: &mut H, at: Instant, slot: OpSlot, op: &Op<H::Op>) {
        let instance = self.instance_of(op.id);
        if op.state != OpState::Ready {
            self.instances[instance].sleeping -= 1;
            host.on_awake(slot.0);
        }
        let entry = &mut self.ops[slot];
        entry.state = OpState::Dead;
        self.instances[instance].strategy.on_over(at, &mut entry.retry_state, op.awaits_retry());
        self.dead += 1;
        self.sweep();
    }

    /// Removes the entries of dead ops if they outnumber all others. So ops that are cancelled during a long wait do not pile up.
    fn sweep(&mut self) {
        if self.dead <= self.ops.len() / 2 + timers::FEW_OUTDATED {
            return;
        }
        let Self { ops, instances, timers, dead, .. } = self;
        let mut is_alive = |slot: OpSlot| {
            let alive = ops[slot].state != OpState::Dead;
            if !alive {
                ops.remove(slot.index());
                *dead -= 1;
            }
            alive
        };
        for instance in instances {
            instance.ready.retain(|op| op.slot().is_none_or(&mut is_alive));
            instance.resumed.retain(|op| op.slot().is_none_or(&mut is_alive));
        }
        timers.wakes.retain(&mut is_alive);
    }

    fn launch_if_ready(&mut self, host: &mut H, instance: InstanceId, at: Instant) {
        if self.instances[instance].ready_ops() > 0 {
            self.launch(host, instance, at);
        }
    }

    /// Cancels an op, wherever it is: queued, in a backoff, or in flight. `attempt` is one of its attempts in flight; `None` if it has
    /// none. Its attempts end as [cancelled](crate::Status::Cancelled), which no part of a strategy counts as success or failure. Does
    /// nothing if the op has already ended.
    pub fn cancel(&mut self, host: &mut H, at: Instant, key: OpKey, attempt: Option<AttemptKey>) {
        let slot = OpSlot(key.slot);
        let is_it = |op: &Op<H::Op>| op.id == key.op && op.state != OpState::Dead;
        let Some(op) = self.ops.get(slot.index()).copied().filter(is_it) else { return };
        let instance = self.instance_of(op.id);
        if op.state == OpState::InFlight {
            self.withdraw_copies(host, at, slot);
            if let Some(attempt) =
                attempt.filter(|key| self.attempts.get(*key).is_some_and(|it| it.op == slot))
            {
                self.withdraw(host, at, attempt, &CANCELLED, true);
            }
            let mut op = self.ops.remove(slot.index());
            self.instances[instance].strategy.on_over(at, &mut op.retry_state, false);
            self.launch(host, instance, at);
        } else {
            self.kill(host, at, slot, &op);
            self.launch_if_ready(host, instance, at);
        }
    }

    /// Stops: nothing more is sent. Attempts in flight may still end.
    pub fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// Stops and withdraws all attempts in flight.
    pub fn abort(&mut self, host: &mut H, at: Instant) {
        self.stop();
        for key in self.attempts.keys() {
            self.withdraw(host, at, key, &CANCELLED, false);
        }
    }

    /// Returns whether the dispatcher sends nothing more.
    #[inline]
    pub fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Returns the attempt if it has neither ended nor been taken back.
    #[inline]
    pub fn attempt(&self, key: AttemptKey) -> Option<&Attempt<H::Attempt>> {
        self.attempts.get(key)
    }

    /// Variant of [`attempt`](Self::attempt) that lends the host's data of the attempt for a change.
    pub fn attempt_data(&mut self, key: AttemptKey) -> Option<&mut H::Attempt> {
        self.attempts.get_mut(key).map(|attempt| &mut attempt.data)
    }

    /// Returns the op in this slot.
    #[inline]
    pub fn op(&self, slot: u32) -> Option<&Op<H::Op>> {
        self.ops.get(slot as usize).filter(|op| op.state != OpState::Dead)
    }

    /// Returns the unfinished ops that the dispatcher stores.
    pub fn ops(&self) -> impl Iterator<Item = &Op<H::Op>> {
        self.ops.iter().map(|(_, op)| op).filter(|op| op.state != OpState::Dead)
    }

    /// Returns the number of unfinished ops.
    pub fn unfinished(&self) -> usize {
        let fresh = |instance: &Instance| instance.ready.iter().filter(|op| op.slot().is_none()).count();
        self.ops().count() + self.instances.iter().map(fresh).sum::<usize>()
    }

    /// Returns whether no op, attempt or queue entry is left. Entries of ops that ended while they waited count, too.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.in_flight() == 0 && self.ready() == 0 && self.rounds.is_empty()
    }

    /// Returns the number of attempts in flight.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.attempts.len()
    }

    /// Returns the number of ops that are ready to be sent. Ops that reached their deadline or were cancelled may still be included.
    pub fn ready(&self) -> u64 {
        self.instances.iter().map(Instance::ready_ops).sum()
    }

    /// Returns the number of ops that wait for the end of a backoff.
    pub fn sleeping(&self) -> u64 {
        self.instances.iter().map(|instance| instance.sleeping).sum()
    }

    /// Returns the number of stored ops without an attempt in flight. Of an op with several copies in flight, all but one are subtracted
    /// from this number, too.
    fn waiting(&self) -> u64 {
        (self.ops.len().saturating_sub(self.dead + self.attempts.len())) as u64
    }

    /// Returns the strategies, in the order of their clients.
    pub fn strategies(&self) -> impl ExactSizeIterator<Item = &Strategy> {
        self.instances.iter().map(|instance| &instance.strategy)
    }

    /// Returns the parser for the parts of answers that the strategies use. All strategies use the same parser.
    pub fn reading(&self) -> &Arc<ResponseParser> {
        self.instances[InstanceId(0)].strategy.reading()
    }

    /// Returns whether the strategy of this attempt allows nothing to be sent now, not even an attempt that it has admitted but that is
    /// not sent yet. The driver then [takes back](Self::unsend) the attempt.
    pub fn holds(&self, key: AttemptKey, now: Instant) -> bool {
        let attempt = self.attempts.get(key);
        attempt.is_some_and(|attempt| self.instances[attempt.instance].strategy.holds_all(now))
    }
}

/// Outcome of an attempt that took longer than [`Settings::timeout`].
const TIMED_OUT: Outcome = Outcome {
    facts: crate::Facts::missing(crate::Missing::Timeout),
    ..Outcome::plain(crate::Status::Failed(crate::Failure::Timeout))
};

const CANCELLED: Outcome = Outcome::plain(crate::Status::Cancelled);

const DEFERRED: Outcome = Outcome::plain(crate::Status::Deferred);

impl<H: Host> std::fmt::Debug for Dispatcher<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher")
            .field("ready", &self.ready())
            .field("sleeping", &self.sleeping())
            .field("in_flight", &self.attempts.len())
            .finish_non_exhaustive()
    }
}
