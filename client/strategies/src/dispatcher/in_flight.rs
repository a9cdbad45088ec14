//! Attempts in flight, accessible by slot and in the order in which they were due. They also time out in the order in
//! which they were due, because all attempts have the same timeout. Ended attempts leave no entry behind.

use std::time::Duration;

use super::AttemptKey;
use super::instance::InstanceId;
use super::op::OpSlot;
use crate::{Instant, Permits};

const NONE: u32 = u32::MAX;

const FREE: u64 = u64::MAX;

/// Collection of the attempts in flight.
///
/// It manages its slots itself instead of using a slab, so that attempts are written and read in place. An attempt is
/// large, and copying it once more would cost as much as all other work of this module.
pub(super) struct InFlight<A> {
    slots: Vec<Linked<A>>,
    count: usize,
    first: u32,
    last: u32,
    /// Slot that was freed last. The free slots form a list, because the field `after` of a free slot refers to the
    /// slot that was freed before it.
    free: u32,
}

/// Slot with an attempt and its neighbours in the order of due instants, or a free slot.
#[derive(Clone, Copy, Debug)]
struct Linked<A> {
    attempt: Attempt<A>,
    before: u32,
    after: u32,
}

impl<A> InFlight<A> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), count: 0, first: NONE, last: NONE, free: NONE }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Inserts an attempt into the list, behind all attempts that are due at the same instant or earlier. The right
    /// position is usually the end of the list. Over HTTP it may be nearer to the front, because an attempt that
    /// follows an answer is due when the answer arrived. This instant may be in the past.
    pub(super) fn insert(&mut self, attempt: Attempt<A>) -> AttemptKey {
        let mut before = self.last;
        while let Some(other) = self.linked(before).filter(|other| other.attempt.due > attempt.due) {
            before = other.before;
        }
        let after = self.linked(before).map_or(self.first, |other| other.after);
        let (serial, linked) = (attempt.serial, Linked { attempt, before, after });
        let slot = if let Some(place) = self.slots.get_mut(self.free as usize) {
            let slot = self.free;
            self.free = place.after;
            *place = linked;
            slot
        } else {
            let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 attempts are in flight");
            self.slots.push(linked);
            slot
        };
        self.count += 1;
        self.link(before, slot);
        match self.slots.get_mut(after as usize) {
            Some(other) => other.before = slot,
            None => self.last = slot,
        }
        AttemptKey { slot, serial }
    }

    #[inline]
    fn linked(&self, slot: u32) -> Option<&Linked<A>> {
        self.slots.get(slot as usize)
    }

    #[inline]
    fn link(&mut self, before: u32, after: u32) {
        match self.slots.get_mut(before as usize) {
            Some(other) => other.after = after,
            None => self.first = after,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: AttemptKey) -> Option<&mut Attempt<A>> {
        let linked = self.slots.get_mut(key.slot as usize)?;
        (linked.attempt.serial == key.serial).then_some(&mut linked.attempt)
    }

    #[inline]
    pub(super) fn get(&self, key: AttemptKey) -> Option<&Attempt<A>> {
        let linked = self.linked(key.slot)?;
        (linked.attempt.serial == key.serial).then_some(&linked.attempt)
    }

    /// Removes the attempt if it is still in flight. A caller that needs the attempt copies it first. The attempt is
    /// not returned, because returning it as an option would copy it twice.
    #[inline]
    pub(super) fn remove(&mut self, key: AttemptKey) {
        let Some(linked) = self.slots.get_mut(key.slot as usize) else { return };
        if linked.attempt.serial != key.serial {
            return;
        }
        let (before, after) = (linked.before, linked.after);
        (linked.attempt.serial, linked.after) = (FREE, self.free);
        self.free = key.slot;
        self.count -= 1;
        self.link(before, after);
        match self.slots.get_mut(after as usize) {
            Some(other) => other.before = before,
            None => self.last = before,
        }
    }

    pub(super) fn first(&self) -> Option<&Attempt<A>> {
        self.linked(self.first).map(|linked| &linked.attempt)
    }

    pub(super) fn first_key(&self) -> Option<AttemptKey> {
        self.first().map(|attempt| AttemptKey { slot: self.first, serial: attempt.serial })
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Attempt<A>> {
        self.slots.iter_mut().map(|linked| &mut linked.attempt).filter(|attempt| attempt.serial != FREE)
    }

    pub(super) fn keys(&self) -> Vec<AttemptKey> {
        let keys = (0_u32..)
            .zip(&self.slots)
            .map(|(slot, linked)| AttemptKey { slot, serial: linked.attempt.serial });
        keys.filter(|key| key.serial != FREE).collect()
    }
}

/// Attempt in flight with the data of its host.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<A> {
    pub(super) op: OpSlot,
    pub(super) instance: InstanceId,
    /// Number of the attempt among all attempts of the dispatcher.
    pub serial: u64,
    pub(super) seq: u64,
    /// Instant at which the attempt was due.
    pub due: Instant,
    pub(super) in_flight_when_sent: u32,
    /// Ordinal of the attempt within its op, from 1.
    pub ordinal: u32,
    pub(super) permits: Permits,
    /// Additional data of an attempt with carrier sense, which the server starts only if enough slots are free. `None`
    /// for other attempts, and for attempts whose start is already known.
    pub(super) undecided: Option<Undecided>,
    /// Data of the host.
    pub data: A,
}

impl<A> Attempt<A> {
    /// Returns the slot of the attempt's op.
    #[inline]
    pub fn op_slot(&self) -> u32 {
        self.op.0
    }

    /// Returns the number of the attempt's client.
    #[inline]
    pub fn client(&self) -> u32 {
        self.instance.0
    }

    #[doc(hidden)]
    /// Returns whether it is not known yet whether the server started the attempt.
    #[inline]
    pub fn is_undecided(&self) -> bool {
        self.undecided.is_some()
    }
}

/// Data of an attempt that is not counted yet, because the server may still defer it. The server defers it if too few
/// slots are free, and then it is never counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided {
    /// Time that the op loses if the server defers its attempt.
    pub cost: Duration,
    /// Number of attempts of all clients in flight when the attempt was sent. It includes this attempt, but no deferred
    /// attempts.
    pub in_flight: u64,
}

#[cfg(test)]
mod tests {
    use crate::Permits;
    use proptest::prelude::*;
    use vocabulary::Instant;

    use super::*;

    fn attempt(due: u64, serial: u64) -> Attempt<()> {
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
            data: (),
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
                    prop_assert_eq!(in_flight.get(key).map(|attempt| attempt.serial), Some(key.serial));
                    in_flight.remove(key);
                    prop_assert!(in_flight.get(key).is_none());
                    in_flight.remove(key);
                } else {
                    sorted.push((due, in_flight.insert(attempt(due, serial))));
                    sorted.sort_by_key(|(due, key)| (*due, key.serial));
                }
                prop_assert_eq!(in_flight.first_key(), sorted.first().map(|(_, key)| *key));
                prop_assert_eq!(in_flight.len(), sorted.len());
            }
            for (_, key) in sorted {
                prop_assert_eq!(in_flight.first_key(), Some(key));
                in_flight.remove(key);
            }
            prop_assert!(in_flight.len() == 0 && in_flight.first().is_none());
        }
    }
}
