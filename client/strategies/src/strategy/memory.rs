//! State of an op that does not fit into the eight bytes of its retry policy. It is stored only for strategies that
//! need it.

use slab::Slab;

use crate::budget::MAX_BUDGETS;
use crate::rules::FailureKind;
use crate::{Classification, Instant, Permit, RetryState, Status};

pub(crate) const MAX_LAYERS: usize = 3;

/// Permits that the budgets issued when an attempt was sent.
pub type Permits = [Permit; MAX_BUDGETS];

/// States of all active ops. The [`RetryState`] of an op identifies its entry. This struct takes eight bytes until the
/// first op is stored, because most clients never store one.
#[derive(Debug, Default)]
pub(super) struct Memory {
    ops: Option<Box<Slab<OpMemory>>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpMemory {
    /// State of the op in each layer, the innermost layer first.
    pub(super) layers: [LayerMemory; MAX_LAYERS],
    pub(super) shed_by: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LayerMemory {
    pub(super) policy: RetryState,
    pub(super) since: Instant,
    /// Number of earlier failures of the op, which this layer of the strategy does not count. They happened before the
    /// op's current try of the next outer layer began.
    pub(super) failures_before: u32,
    /// Number of failures of the op that the retry policy does not count because of `advice-then`.
    pub(super) uncounted_failures: u32,
    pub(super) attempts_before: u32,
    pub(super) retries: [u32; 3],
    /// Number of failed tries of the op; used only by outer layers.
    pub(super) tries: u32,
    pub(super) last: Option<Status>,
    pub(super) last_classification: Classification,
    /// True if a retry was reported to this layer's budgets ([`on_retry`](crate::Budget::on_retry)) but has not been
    /// sent yet.
    pub(super) awaits_retry: bool,
    /// True if the last failure ended a try that this layer had begun; used only by outer layers.
    pub(super) tried: bool,
    pub(super) open: Option<Try>,
}

/// Try of an outer layer. It consists of everything that the inner layers do with an op until the op is done or they
/// give it up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Try {
    pub(super) seq: u64,
    pub(super) began: Instant,
    pub(super) in_flight_then: u32,
    pub(super) permits: Permits,
}

impl LayerMemory {
    pub(super) fn count(&mut self, kind: FailureKind) -> u32 {
        let count = &mut self.retries[kind as usize];
        *count += 1;
        *count
    }

    pub(super) fn begin_again(&mut self, since: Instant, failures: u32, attempts: u32) {
        *self = Self { failures_before: failures, attempts_before: attempts, since, ..Self::default() };
    }
}

impl Memory {
    pub(super) fn of(&self, state: RetryState) -> Option<&OpMemory> {
        self.ops.as_ref()?.get(key(state)?)
    }

    pub(super) fn of_mut(&mut self, state: RetryState) -> Option<&mut OpMemory> {
        self.ops.as_mut()?.get_mut(key(state)?)
    }

    pub(super) fn open(&mut self, state: &mut RetryState, arrived: Instant) -> &mut OpMemory {
        let ops = self.ops.get_or_insert_default();
        let found = key(*state).filter(|key| ops.contains(*key));
        let key = found.unwrap_or_else(|| {
            let layers = [LayerMemory { since: arrived, ..LayerMemory::default() }; MAX_LAYERS];
            let key = ops.insert(OpMemory { layers, shed_by: 0 });
            state.0 = key as u64 + 1;
            key
        });
        &mut ops[key]
    }

    pub(super) fn forget(&mut self, state: &mut RetryState) {
        if let (Some(key), Some(ops)) = (key(*state), &mut self.ops) {
            ops.try_remove(key);
            *state = RetryState::default();
        }
    }

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
