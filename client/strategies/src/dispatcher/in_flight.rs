//! Attempts in flight, accessible by slot and in the order in which they were due. They also time out in the order in
//! which they were due, because all attempts have the same timeout.

use std::collections::VecDeque;
use std::time::Duration;

use slab::Slab;

use super::AttemptKey;
use super::instance::InstanceId;
use super::op::OpSlot;
use super::timers::FEW_OUTDATED;
use crate::{Instant, Permits};

/// Collection of the attempts in flight.
pub(super) struct InFlight<A> {
    attempts: Slab<Attempt<A>>,
    /// Attempts in the order of due instants. Attempts that have ended stay in it, but never at its front, and they never outnumber the
    /// others by far.
    order: VecDeque<(Instant, AttemptKey)>,
}

impl<A> InFlight<A> {
    pub(super) fn new() -> Self {
        Self { attempts: Slab::new(), order: VecDeque::new() }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.attempts.len()
    }

    /// Inserts an attempt behind all attempts that are due at the same instant or earlier. The right position is usually the end. Over HTTP
    /// it may be nearer to the front, because an attempt that follows an answer is due when the answer arrived. This instant may be in the
    /// past.
    #[inline]
    pub(super) fn insert(&mut self, attempt: Attempt<A>) -> AttemptKey {
        let (due, serial) = (attempt.due, attempt.serial);
        let slot =
            u32::try_from(self.attempts.insert(attempt)).expect("fewer than 2^32 attempts are in flight");
        let key = AttemptKey { slot, serial };
        if self.order.back().is_none_or(|(last, _)| *last <= due) {
            self.order.push_back((due, key));
        } else {
            let place = self.order.partition_point(|(other, _)| *other <= due);
            self.order.insert(place, (due, key));
        }
        key
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: AttemptKey) -> Option<&mut Attempt<A>> {
        self.attempts.get_mut(key.slot as usize).filter(|attempt| attempt.serial == key.serial)
    }

    #[inline]
    pub(super) fn get(&self, key: AttemptKey) -> Option<&Attempt<A>> {
        self.attempts.get(key.slot as usize).filter(|attempt| attempt.serial == key.serial)
    }

    /// Removes the attempt if it is in flight. A caller that needs the attempt copies it first. The attempt is not returned, because
    /// returning it as an option would copy it twice.
    #[inline]
    pub(super) fn remove(&mut self, key: AttemptKey) {
        if self.get(key).is_none() {
            return;
        }
        self.attempts.remove(key.slot as usize);
        while self.order.front().is_some_and(|(_, first)| self.get(*first).is_none()) {
            self.order.pop_front();
        }
        if self.order.len() > 2 * self.attempts.len() + FEW_OUTDATED {
            let Self { attempts, order } = self;
            let is_in_flight =
                |key: &AttemptKey| attempts.get(key.slot as usize).is_some_and(|it| it.serial == key.serial);
            order.retain(|(_, key)| is_in_flight(key));
        }
    }

    pub(super) fn first(&self) -> Option<&Attempt<A>> {
        self.get(self.first_key()?)
    }

    pub(super) fn first_key(&self) -> Option<AttemptKey> {
        self.order.front().map(|(_, key)| *key)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Attempt<A>> {
        self.attempts.iter_mut().map(|(_, attempt)| attempt)
    }

    pub(super) fn keys(&self) -> Vec<AttemptKey> {
        let key = |(slot, attempt): (usize, &Attempt<A>)| AttemptKey {
            slot: u32::try_from(slot).expect("it was inserted as one"),
            serial: attempt.serial,
        };
        self.attempts.iter().map(key).collect()
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
            prop_assert!(in_flight.len() == 0 && in_flight.order.is_empty());
        }
    }
}
