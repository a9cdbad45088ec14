//! Attempts in flight, by slot and in the order in which they were due. All time out after the same time, so that is the order
//! in which they do; an attempt that ends leaves nothing behind.

use slab::Slab;

use super::attempt::Attempt;
use super::exchange::AttemptKey;

/// No slot.
const NONE: u32 = u32::MAX;

/// Every attempt in flight.
pub(super) struct InFlight {
    slots: Slab<Linked>,
    first: u32,
    last: u32,
}

/// An attempt and its neighbours in the order of sending.
#[derive(Clone, Copy, Debug)]
struct Linked {
    attempt: Attempt,
    before: u32,
    after: u32,
}

impl InFlight {
    pub(super) fn new() -> Self {
        Self { slots: Slab::new(), first: NONE, last: NONE }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// An attempt goes out; it stands behind all that are not due later. Mostly that is the end: over HTTP what an answer frees is
    /// due at the answer's own time.
    pub(super) fn insert(&mut self, attempt: Attempt) -> AttemptKey {
        let mut before = self.last;
        while let Some(other) =
            self.slots.get(before as usize).filter(|other| other.attempt.due > attempt.due)
        {
            before = other.before;
        }
        let after = self.slots.get(before as usize).map_or(self.first, |other| other.after);
        let slot = u32::try_from(self.slots.insert(Linked { attempt, before, after }))
            .expect("fewer than 2^32 attempts are in flight");
        self.link(before, slot);
        match self.slots.get_mut(after as usize) {
            Some(other) => other.before = slot,
            None => self.last = slot,
        }
        AttemptKey { slot, serial: attempt.serial }
    }

    /// What comes behind this slot, or first, is that slot.
    #[inline]
    fn link(&mut self, before: u32, after: u32) {
        match self.slots.get_mut(before as usize) {
            Some(other) => other.after = after,
            None => self.first = after,
        }
    }

    /// This one, if it is still in flight.
    pub(super) fn get_mut(&mut self, key: AttemptKey) -> Option<&mut Attempt> {
        let linked = self.slots.get_mut(key.slot as usize)?;
        (linked.attempt.serial == key.serial).then_some(&mut linked.attempt)
    }

    /// Removes this one, if it is still in flight.
    pub(super) fn take(&mut self, key: AttemptKey) -> Option<Attempt> {
        self.get_mut(key)?;
        let Linked { attempt, before, after } = self.slots.remove(key.slot as usize);
        self.link(before, after);
        match self.slots.get_mut(after as usize) {
            Some(other) => other.before = before,
            None => self.last = before,
        }
        Some(attempt)
    }

    /// The one that was due first.
    pub(super) fn first(&self) -> Option<&Attempt> {
        self.slots.get(self.first as usize).map(|linked| &linked.attempt)
    }

    /// The key of that one.
    pub(super) fn first_key(&self) -> Option<AttemptKey> {
        self.first().map(|attempt| AttemptKey { slot: self.first, serial: attempt.serial })
    }

    /// All, in no order that means anything.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Attempt> {
        self.slots.iter_mut().map(|(_, linked)| &mut linked.attempt)
    }

    /// Their keys, by slot.
    pub(super) fn keys(&self) -> Vec<AttemptKey> {
        let key = |(slot, linked): (usize, &Linked)| {
            let slot = u32::try_from(slot).expect("fewer than 2^32 attempts are in flight");
            AttemptKey { slot, serial: linked.attempt.serial }
        };
        self.slots.iter().map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tailback::Permits;
    use vocabulary::Instant;

    use super::*;
    use crate::op::OpSlot;
    use crate::run::instance::InstanceId;

    fn attempt(due: u64, serial: u64) -> Attempt {
        Attempt {
            op: OpSlot(0),
            instance: InstanceId(0),
            serial,
            seq: serial,
            due: Instant::from_nanos(due),
            in_flight_when_sent: 1,
            ordinal: 1,
            permits: Permits::default(),
            undecided: None,
        }
    }

    proptest! {
        #[test]
        fn the_first_is_always_the_one_that_was_due_first(
            events in prop::collection::vec((0..50_u64, any::<Option<prop::sample::Index>>()), 1..200),
        ) {
            let (mut in_flight, mut sorted) = (InFlight::new(), Vec::new());
            for (serial, (due, ends)) in (0..).zip(events) {
                if let Some(place) = ends.filter(|_| !sorted.is_empty()) {
                    let (_, key) = sorted.remove(place.index(sorted.len()));
                    prop_assert_eq!(in_flight.take(key).map(|attempt| attempt.serial), Some(key.serial));
                    prop_assert!(in_flight.take(key).is_none());
                } else {
                    sorted.push((due, in_flight.insert(attempt(due, serial))));
                    sorted.sort_by_key(|(due, key)| (*due, key.serial));
                }
                prop_assert_eq!(in_flight.first_key(), sorted.first().map(|(_, key)| *key));
                prop_assert_eq!(in_flight.len(), sorted.len());
            }
            for (_, key) in sorted {
                prop_assert_eq!(in_flight.first_key(), Some(key));
                in_flight.take(key);
            }
            prop_assert!(in_flight.is_empty() && in_flight.first().is_none());
        }
    }
}
