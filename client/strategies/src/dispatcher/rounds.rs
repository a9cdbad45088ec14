//! Rounds of hedged ops. A round consists of an attempt and its hedged copies. It stores the attempts in flight and the instant of the next
//! copy.
//!
//! Only strategies with hedging use rounds. So rounds are stored separately from the many ops, and cost nothing until the first round is
//! opened.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::AttemptKey;
use super::op::OpSlot;
use super::timers::FEW_OUTDATED;
use crate::{Candidate, Copies, Instant, MAX_COPIES, Outcome};

/// Maximum number of attempts of one op in flight at once.
const MAX_LIVE: usize = MAX_COPIES as usize + 1;

/// An attempt with its hedged copies. The round ends when its op is done, or when the op's retry policy takes over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub first: Candidate,
    /// Time from one hedged copy to the next.
    pub delay: Duration,
    pub left: u32,
    pub failed: Option<Outcome>,
    /// Instant of the next hedged copy, and number of the plan that scheduled it. `None` if no copy is planned.
    due: Option<(Instant, u64)>,
    live: [AttemptKey; MAX_LIVE],
    count: usize,
}

impl Round {
    /// Returns the round's attempts in flight, in the order of sending.
    pub(super) fn live(&self) -> &[AttemptKey] {
        &self.live[..self.count]
    }
}

#[derive(Debug, Default)]
pub(super) struct Rounds {
    by_slot: Vec<Option<Round>>,
    open: usize,
    /// Planned hedged copies. If an op has several entries, only the latest of them is valid.
    due: BinaryHeap<Reverse<PlannedCopy>>,
    plans: u64,
}

/// Plan of a hedged copy: instant of the copy, number of its op, slot of its op, and number of the plan. The number of the plan
/// distinguishes it from an earlier plan for the same instant.
type PlannedCopy = (Instant, u64, u32, u64);

impl Rounds {
    pub(super) fn open(&mut self, slot: OpSlot, key: AttemptKey, first: Candidate, copies: Copies) {
        let index = slot.index();
        if self.by_slot.len() <= index {
            self.by_slot.resize(index + 1, None);
        }
        self.open += usize::from(self.by_slot[index].is_none());
        self.by_slot[index] = Some(Round {
            first,
            delay: copies.delay,
            left: copies.count.min(MAX_COPIES),
            failed: None,
            due: None,
            live: [key; MAX_LIVE],
            count: 1,
        });
    }

    pub(super) fn of(&self, slot: OpSlot) -> Option<&Round> {
        self.by_slot.get(slot.index())?.as_ref()
    }

    pub(super) fn of_mut(&mut self, slot: OpSlot) -> Option<&mut Round> {
        self.by_slot.get_mut(slot.index())?.as_mut()
    }

    /// Adds a hedged copy to its round after the copy was sent. Returns whether another attempt of the round is in flight.
    pub(super) fn join(&mut self, slot: OpSlot, key: AttemptKey) -> bool {
        let Some(round) = self.of_mut(slot).filter(|round| round.count < MAX_LIVE) else { return false };
        round.live[round.count] = key;
        round.count += 1;
        round.count > 1
    }

    /// Removes an ended attempt from its round. Returns whether other attempts of the round are in flight.
    pub(super) fn leave(&mut self, slot: OpSlot, serial: u64) -> bool {
        let Some(round) = self.of_mut(slot) else { return false };
        if let Some(place) = round.live().iter().position(|key| key.serial == serial) {
            round.live.copy_within(place + 1..round.count, place);
            round.count -= 1;
        }
        round.count > 0
    }

    pub(super) fn close(&mut self, slot: OpSlot) -> Option<Round> {
        let round = self.by_slot.get_mut(slot.index())?.take()?;
        self.open -= 1;
        Some(round)
    }

    /// Plans the op's next hedged copy for the instant `at`. This plan replaces an earlier one. Returns the instant of the copy, or `None`
    /// if no further copy is permitted.
    pub(super) fn plan(&mut self, slot: OpSlot, at: Instant) -> Option<Instant> {
        let plan = self.plans;
        let round = self.of_mut(slot)?;
        round.due = (round.left > 0).then_some((at, plan));
        let op = round.first.op;
        round.due?;
        self.plans += 1;
        self.due.push(Reverse((at, op, slot.0, plan)));
        if self.due.len() > 2 * self.open + FEW_OUTDATED {
            self.due.retain(|Reverse(entry)| is_planned(&self.by_slot, *entry));
        }
        Some(at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open == 0
    }

    pub(super) fn next(&mut self) -> Option<Instant> {
        while let Some(Reverse(entry)) = self.due.peek() {
            if is_planned(&self.by_slot, *entry) {
                return Some(entry.0);
            }
            self.due.pop();
        }
        None
    }

    pub(super) fn pop(&mut self) -> Option<OpSlot> {
        let Reverse(entry) = self.due.pop()?;
        if !is_planned(&self.by_slot, entry) {
            return None;
        }
        let slot = OpSlot(entry.2);
        self.of_mut(slot)?.due = None;
        Some(slot)
    }
}

fn is_planned(by_slot: &[Option<Round>], (at, _, slot, plan): PlannedCopy) -> bool {
    let round = by_slot.get(slot as usize).and_then(Option::as_ref);
    round.is_some_and(|round| round.due == Some((at, plan)))
}

#[cfg(test)]
mod tests {
    use crate::Classification;

    use super::*;

    fn launch(op: u64) -> Candidate {
        let arrived = Instant::ORIGIN;
        Candidate {
            seq: 0,
            op,
            attempt: 1,
            arrived,
            last: None,
            last_classification: Classification::Done,
            copy: 0,
        }
    }

    fn key(serial: u64) -> AttemptKey {
        AttemptKey { slot: 7, serial }
    }

    fn copies(count: u32) -> Copies {
        Copies { count, delay: Duration::from_millis(10) }
    }

    #[test]
    fn attempts_join_and_leave_until_the_round_is_closed() {
        let (mut rounds, slot) = (Rounds::default(), OpSlot(3));
        assert!(rounds.of(slot).is_none() && !rounds.leave(slot, 0) && !rounds.join(slot, key(0)));
        rounds.open(slot, key(0), launch(5), copies(9));
        assert_eq!(rounds.of(slot).map(|round| round.left), Some(MAX_COPIES));
        assert!((1..5).all(|serial| rounds.join(slot, key(serial))));
        assert!(rounds.leave(slot, 2) && rounds.leave(slot, 0) && rounds.leave(slot, 99));
        let live: Vec<u64> = rounds.of(slot).unwrap().live().iter().map(|key| key.serial).collect();
        assert_eq!(live, [1, 3, 4]);
        assert!(rounds.leave(slot, 1) && rounds.leave(slot, 3) && !rounds.leave(slot, 4));
        assert!(rounds.close(slot).is_some() && rounds.close(slot).is_none());
        assert_eq!(rounds.open, 0);
    }

    #[test]
    fn of_several_instants_planned_for_an_op_the_last_counts() {
        let mut rounds = Rounds::default();
        for (slot, op) in [(0, 10), (1, 11)] {
            rounds.open(OpSlot(slot), key(op), launch(op), copies(2));
        }
        let ms = Instant::from_millis;
        rounds.plan(OpSlot(0), ms(50));
        rounds.plan(OpSlot(1), ms(40));
        rounds.plan(OpSlot(1), ms(60));
        assert_eq!((rounds.next(), rounds.pop()), (Some(ms(50)), Some(OpSlot(0))));
        assert_eq!(rounds.next(), Some(ms(60)));
        // Another op reuses the slot of the op that planned the copy.
        rounds.close(OpSlot(1));
        rounds.open(OpSlot(1), key(12), launch(12), copies(2));
        assert_eq!(rounds.next(), None);
    }

    #[test]
    fn plans_for_one_instant_do_not_pile_up() {
        let (mut rounds, slot) = (Rounds::default(), OpSlot(0));
        for serial in 0..10_000 {
            rounds.open(slot, key(serial), launch(5), copies(1));
            rounds.plan(slot, Instant::from_millis(30));
            assert!(rounds.due.len() < 300, "each sweep reads all of them");
            rounds.close(slot);
        }
    }

    #[test]
    fn without_copies_left_nothing_is_planned() {
        let (mut rounds, slot) = (Rounds::default(), OpSlot(0));
        rounds.open(slot, key(0), launch(0), copies(0));
        assert_eq!((rounds.plan(slot, Instant::from_millis(5)), rounds.next()), (None, None));
    }
}
