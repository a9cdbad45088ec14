//! What a strategy remembers of an op beyond the eight bytes that a retry policy has: only strategies that need it keep it.

use slab::Slab;

use crate::budget::MAX_BUDGETS;
use crate::rules::FailureKind;
use crate::{Instant, Opinion, Permit, RetryState, Status};

/// Layers of one strategy.
pub(crate) const MAX_LAYERS: usize = 3;

/// What every budget gave an attempt when it was sent.
pub type Permits = [Permit; MAX_BUDGETS];

/// The memory of every op that is being tried, found by its [`RetryState`].
///
/// Eight bytes until it is needed: most clients never do.
#[derive(Debug, Default)]
pub(super) struct Memory {
    ops: Option<Box<Slab<OpMemory>>>,
}

/// Of one op.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpMemory {
    /// By layer, the inner first.
    pub(super) layers: [LayerMemory; MAX_LAYERS],
    /// The layer whose budget refused the op's last launch, if that was refused.
    pub(super) shed_by: usize,
}

/// Of one op in one layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerMemory {
    /// The retry policy's own.
    pub(super) policy: RetryState,
    /// When the op, as this layer sees it, began.
    pub(super) since: Instant,
    /// The op's failures and attempts before it began for this layer.
    pub(super) failures_before: u32,
    /// Its failures, of those since, when advice made its policy begin anew.
    pub(super) failures_at_restart: u32,
    pub(super) attempts_before: u32,
    /// Retries by the kind of failure before them.
    pub(super) retries: [u32; 3],
    /// Of a layer around others: its tries that failed.
    pub(super) tries: u32,
    pub(super) last: Option<Status>,
    pub(super) last_opinion: Opinion,
    /// Its budgets were told of a retry ([`on_retry`](crate::Budget::on_retry)) that has not been sent.
    pub(super) awaits_retry: bool,
    /// Of a layer around others: it had begun the try that failed just now.
    pub(super) tried: bool,
    /// The try that is under way.
    pub(super) open: Option<Try>,
}

/// A try of a layer around others: all that the layers inside it do until they are done or give up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    pub(super) seq: u64,
    pub(super) began: Instant,
    pub(super) in_flight_then: u32,
    pub(super) permits: Permits,
}

impl LayerMemory {
    fn new(since: Instant) -> Self {
        Self {
            policy: RetryState::default(),
            since,
            failures_before: 0,
            failures_at_restart: 0,
            attempts_before: 0,
            retries: [0; 3],
            tries: 0,
            last: None,
            last_opinion: Opinion::Done,
            awaits_retry: false,
            tried: false,
            open: None,
        }
    }

    /// One retry more after a failure of this kind; how many that makes.
    pub(super) fn count(&mut self, kind: FailureKind) -> u32 {
        let count = &mut self.retries[kind as usize];
        *count += 1;
        *count
    }

    /// The op begins for this layer once more.
    pub(super) fn begin_again(&mut self, since: Instant, failures: u32, attempts: u32) {
        *self = Self { failures_before: failures, attempts_before: attempts, ..Self::new(since) };
    }
}

impl Memory {
    /// That of an op, if there is one.
    pub(super) fn of(&self, state: RetryState) -> Option<&OpMemory> {
        self.ops.as_ref()?.get(key(state)?)
    }

    /// That of an op, if there is one.
    pub(super) fn of_mut(&mut self, state: RetryState) -> Option<&mut OpMemory> {
        self.ops.as_mut()?.get_mut(key(state)?)
    }

    /// That of an op that arrived then, new if there is none.
    pub(super) fn open(&mut self, state: &mut RetryState, arrived: Instant) -> &mut OpMemory {
        let ops = self.ops.get_or_insert_default();
        let found = key(*state).filter(|key| ops.contains(*key));
        let key = found.unwrap_or_else(|| {
            let layers = [LayerMemory::new(arrived); MAX_LAYERS];
            let key = ops.insert(OpMemory { layers, shed_by: 0 });
            state.0 = key as u64 + 1;
            key
        });
        &mut ops[key]
    }

    /// The op is over.
    pub(super) fn forget(&mut self, state: &mut RetryState) {
        if let (Some(key), Some(ops)) = (key(*state), &mut self.ops) {
            ops.try_remove(key);
            *state = RetryState::default();
        }
    }

    /// How many ops are remembered.
    pub(super) fn len(&self) -> usize {
        self.ops.as_ref().map_or(0, |ops| ops.len())
    }
}

fn key(state: RetryState) -> Option<usize> {
    usize::try_from(state.0.checked_sub(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_remembered_until_it_is_over() {
        let mut memory = Memory::default();
        let (mut one, mut other) = (RetryState::default(), RetryState::default());
        memory.open(&mut one, Instant::ORIGIN).layers[0].tries = 7;
        memory.open(&mut other, Instant::ORIGIN);
        assert_eq!(memory.open(&mut one, Instant::ORIGIN).layers[0].tries, 7);
        assert_eq!((memory.len(), memory.of(RetryState::default()).is_none()), (2, true));
        memory.forget(&mut one);
        memory.forget(&mut other);
        assert_eq!((memory.len(), one), (0, RetryState::default()));
        memory.forget(&mut one);
    }
}
