//! Barriers at which the shards of a run wait for each other. When all shards have arrived, they are released at once, and the server's
//! counts restart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use vocabulary::wire::{MAX_SHARDS, NotReleased, Released};

const MAX_BARRIERS: usize = 64;

/// Maximum number of requests that may wait at all barriers together.
const MAX_WAITING: usize = 4096;

/// Maximum length of a barrier's name, in bytes.
const MAX_NAME: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Participant {
    /// Name of the run of a waiting shard. Shards with the same run name wait for each other.
    pub(crate) run: String,
    pub(crate) of: u32,
    /// Index of this shard, from 0. `None` if the request does not state it.
    pub(crate) index: Option<u32>,
    /// Fingerprint of the plan that all shards of a run share. `None` if the request does not state it. A shard with a different
    /// fingerprint is refused, because it belongs to another run.
    pub(crate) plan: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BarrierError {
    #[error("`{0}` must be a name of 1 to {MAX_NAME} letters, digits, `.`, `_` or `-`")]
    Name(&'static str),
    #[error("`of` is {0}; the number of shards must be from 1 to {MAX_SHARDS}")]
    Of(u32),
    #[error("`index` is {index} of {of} shards; it must be lower, because shards are counted from 0")]
    Index { index: u32, of: u32 },
    #[error(
        "shard {index} of {of} is already waiting: two shards of run `{run}` have the same number; give each its own"
    )]
    Doubled { run: String, index: u32, of: u32 },
    #[error(
        "this shard differs from the waiting shards of run `{run}` in strategy, workload, server, request \
         or repeats, so their results could not be merged; start all shards with the same flags"
    )]
    OtherPlan { run: String },
    #[error(
        "this shard is started for {of} shards of run `{run}`, but the waiting ones for {there}; start all with the same number"
    )]
    OtherCount { run: String, of: u32, there: u32 },
    #[error(
        "too many requests are already waiting: at most {MAX_WAITING} requests at {MAX_BARRIERS} barriers; \
         try again later"
    )]
    Full,
}

impl BarrierError {
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Doubled { .. } | Self::OtherCount { .. } | Self::OtherPlan { .. })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Barriers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    by_run: BTreeMap<String, Gathering>,
    comers: u64,
}

#[derive(Debug)]
struct Gathering {
    of: u32,
    plan: Option<String>,
    places: BTreeMap<u64, Waiter>,
}

#[derive(Debug)]
struct Waiter {
    index: Option<u32>,
    release: oneshot::Sender<Released>,
}

/// Place of a waiting shard at a barrier. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct WaitingShard<'a> {
    barriers: &'a Barriers,
    run: String,
    number: u64,
    released: oneshot::Receiver<Released>,
}

impl Barriers {
    pub(crate) fn join(
        &self,
        participant: Participant,
        release: impl FnOnce() -> Released,
    ) -> Result<WaitingShard<'_>, BarrierError> {
        let Participant { run, of, index, plan } = participant;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_name = |name: &str| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain);
        if !is_name(&run) {
            return Err(BarrierError::Name("run"));
        }
        if plan.as_deref().is_some_and(|plan| !is_name(plan)) {
            return Err(BarrierError::Name("plan"));
        }
        if !(1..=MAX_SHARDS).contains(&of) {
            return Err(BarrierError::Of(of));
        }
        if let Some(index) = index.filter(|index| *index >= of) {
            return Err(BarrierError::Index { index, of });
        }
        let mut waiting = self.lock();
        let all: usize = waiting.by_run.values().map(|gathering| gathering.places.len()).sum();
        let is_new = !waiting.by_run.contains_key(&run);
        if all >= MAX_WAITING || is_new && waiting.by_run.len() >= MAX_BARRIERS {
            return Err(BarrierError::Full);
        }
        waiting.comers += 1;
        let number = waiting.comers;
        let none = || Gathering { of, plan: plan.clone(), places: BTreeMap::new() };
        let gathering = waiting.by_run.entry(run.clone()).or_insert_with(none);
        if gathering.of != of {
            return Err(BarrierError::OtherCount { run, of, there: gathering.of });
        }
        if let Some(index) = index
            && gathering.places.values().any(|waiter| waiter.index == Some(index))
        {
            return Err(BarrierError::Doubled { run, index, of });
        }
        if plan.as_ref().zip(gathering.plan.as_ref()).is_some_and(|(plan, there)| plan != there) {
            return Err(BarrierError::OtherPlan { run });
        }
        gathering.plan = gathering.plan.take().or(plan);
        let (sender, released) = oneshot::channel();
        gathering.places.insert(number, Waiter { index, release: sender });
        if gathering.places.len() == of as usize
            && let Some(gathering) = waiting.by_run.remove(&run)
        {
            let released = release();
            for waiter in gathering.places.into_values() {
                // Sending cannot fail, because every waiting shard still has its receiver. A shard gives up its place only under the lock
                // of the barriers, and this function holds the lock.
                let _ = waiter.release.send(released.clone());
            }
        }
        Ok(WaitingShard { barriers: self, run, number, released })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A poisoned lock is used all the same, because the lists of waiting shards are consistent even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingShard<'_> {
    pub(crate) async fn released(&mut self) -> Option<Released> {
        (&mut self.released).await.ok()
    }

    /// Returns the answer to a shard whose wait has timed out. The barrier may have released the shard just before the timeout.
    pub(crate) fn given_up(&mut self) -> Result<Released, NotReleased> {
        let waiting = self.barriers.lock();
        if let Ok(released) = self.released.try_recv() {
            return Ok(released);
        }
        let Some(Gathering { of, places, .. }) = waiting.by_run.get(&self.run) else {
            return Err(NotReleased {
                error: "the barrier no longer exists".to_owned(),
                came: None,
                missing: Vec::new(),
            });
        };
        let came = u32::try_from(places.len()).unwrap_or(u32::MAX);
        let there: BTreeSet<u32> = places.values().filter_map(|waiter| waiter.index).collect();
        let all_say = there.len() == places.len();
        let missing: Vec<u32> = (0..*of).filter(|index| all_say && !there.contains(index)).collect();
        let error = format!("only {came} of {of} shards arrived");
        Err(NotReleased { error, came: Some(came), missing })
    }
}

impl Drop for WaitingShard<'_> {
    fn drop(&mut self) {
        let mut waiting = self.barriers.lock();
        if let Some(gathering) = waiting.by_run.get_mut(&self.run) {
            gathering.places.remove(&self.number);
            if gathering.places.is_empty() {
                waiting.by_run.remove(&self.run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn participant(run: &str, of: u32, index: u32) -> Participant {
        Participant { run: run.to_owned(), of, index: Some(index), plan: None }
    }

    fn released() -> Released {
        Released { run: "7".to_owned(), of: 2, start_in_ms: 100, instance: 1, epoch: 1 }
    }

    #[test]
    fn the_last_one_lets_all_go_and_the_next_round_waits_anew() {
        let barriers = Barriers::default();
        for round in 0..2 {
            let mut first = barriers.join(participant("a", 2, 1), || unreachable!("one of two")).unwrap();
            assert_eq!(first.given_up().unwrap_err().missing, [0], "{round}");
            let mut other = barriers.join(participant("b", 2, 0), || unreachable!("another run")).unwrap();
            let mut last = barriers.join(participant("a", 2, 0), released).unwrap();
            assert_eq!([first.given_up(), last.given_up()], [Ok(released()), Ok(released())]);
            let NotReleased { error, came, missing } = other.given_up().unwrap_err();
            assert_eq!((&*error, came, &missing[..]), ("only 1 of 2 shards arrived", Some(1), &[1][..]));
            // Places of an earlier round leave nothing behind when they are dropped, and remove nothing of the next round.
            let next = barriers.join(participant("a", 2, 0), || unreachable!("one of two")).unwrap();
            drop((first, last));
            assert_eq!(barriers.lock().by_run["a"].places.len(), 1);
            drop((next, other));
            assert!(barriers.lock().by_run.is_empty());
        }
    }

    /// Rejected shards take no place at the barrier.
    #[test]
    fn contradicting_or_invalid_shards_are_rejected() {
        let barriers = Barriers::default();
        let waits = barriers.join(participant("a", 3, 1), released).unwrap();
        for (participant, words) in [
            (
                participant("a", 3, 1),
                "shard 1 of 3 is already waiting: two shards of run `a` have the same number; give each its own",
            ),
            (
                participant("a", 4, 2),
                "this shard is started for 4 shards of run `a`, but the waiting ones for 3; start all with the same number",
            ),
            (
                participant("a", 3, 3),
                "`index` is 3 of 3 shards; it must be lower, because shards are counted from 0",
            ),
            (participant("a", 0, 0), "`of` is 0; the number of shards must be from 1 to 1024"),
            (participant("a", 1025, 0), "`of` is 1025; the number of shards must be from 1 to 1024"),
            (participant("a b", 2, 0), "`run` must be a name of 1 to 64 letters, digits, `.`, `_` or `-`"),
            (participant("", 2, 0), "`run` must be a name of 1 to 64 letters, digits, `.`, `_` or `-`"),
        ] {
            assert_eq!(barriers.join(participant, released).unwrap_err().to_string(), words);
        }
        assert_eq!(barriers.lock().by_run.values().map(|one| one.places.len()).sum::<usize>(), 1);
        drop(waits);
    }

    #[test]
    fn a_participant_with_a_different_plan_is_rejected() {
        let barriers = Barriers::default();
        let of_plan =
            |index, plan: &str| Participant { plan: Some(plan.to_owned()), ..participant("a", 4, index) };
        let silent = barriers.join(participant("a", 4, 0), released).unwrap();
        let first = barriers.join(of_plan(1, "7f"), released).unwrap();
        let refused = barriers.join(of_plan(2, "80"), released).unwrap_err();
        assert_eq!(refused, BarrierError::OtherPlan { run: "a".to_owned() });
        assert!(refused.is_conflict());
        let told = barriers.join(of_plan(2, "a b"), released).unwrap_err().to_string();
        assert!(told.starts_with("`plan` must be a name"), "{told}");
        let same = barriers.join(of_plan(2, "7f"), released).unwrap();
        drop((silent, first, same));
        assert!(barriers.join(of_plan(2, "80"), released).is_ok(), "what nobody waits for is forgotten");
    }

    #[test]
    fn barriers_and_places_are_bounded() {
        let barriers = Barriers::default();
        let mut waits = Vec::new();
        for run in 0..MAX_BARRIERS {
            waits.push(barriers.join(participant(&run.to_string(), 1024, 0), released).unwrap());
        }
        assert_eq!(barriers.join(participant("more", 2, 0), released).unwrap_err(), BarrierError::Full);
        let unnamed = || Participant { run: "0".to_owned(), of: 1024, index: None, plan: None };
        for _ in 0..1000 {
            waits.push(barriers.join(unnamed(), released).unwrap());
        }
        for run in 1..4 {
            for index in 1..1001 {
                waits.push(barriers.join(participant(&run.to_string(), 1024, index), released).unwrap());
            }
        }
        while waits.len() < MAX_WAITING {
            let index = u32::try_from(waits.len() - 4000).unwrap();
            waits.push(barriers.join(participant("9", 1024, index), released).unwrap());
        }
        assert_eq!(barriers.join(participant("9", 1024, 1023), released).unwrap_err(), BarrierError::Full);
        waits.pop();
        assert!(barriers.join(participant("9", 1024, 1023), released).is_ok());
    }
}
