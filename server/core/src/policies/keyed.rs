//! Stage of a policy stack that applies a rate algorithm separately to every key.

use std::collections::VecDeque;

use vocabulary::Instant;

use crate::policies::{
    Charge, Common, Decision, Key, Keys, RateAlgorithm, StagePolicy, StageRequest, downcast,
};
use crate::{LimitStatus, ServiceModel};

#[derive(Debug)]
pub(crate) struct Keyed<L: RateAlgorithm> {
    algorithm: L,
    keys: Keys<Known<L::State>>,
    /// Past configurations of the rate algorithm, each with the instant at which it ended. When a key is next used, its state is migrated
    /// through all configurations that it has missed.
    past: VecDeque<(L, Instant)>,
    /// Number of configurations that have been replaced since the start. It includes those that are no longer kept in `past`.
    algorithms: u64,
}

#[derive(Debug)]
struct Known<S> {
    state: S,
    algorithm: u64,
}

/// Maximum number of past configurations that are kept. A change of the configuration touches no keys, because each key is migrated when it
/// is next used. When the maximum is reached, the older half of the configurations is dropped. All keys that still have one of them are
/// migrated at once. Such a key is treated as if its own configuration had applied until the end of the dropped half.
const MAX_PAST: usize = 1024;

impl<L: RateAlgorithm> Keyed<L> {
    /// Creates the stage that applies a rate algorithm to each key.
    pub(crate) fn stage(algorithm: L, common: &Common) -> Box<dyn StagePolicy> {
        let keys = Keys::new(common.keys);
        Box::new(Self { algorithm, keys, past: VecDeque::new(), algorithms: 0 })
    }

    #[inline]
    fn state(&mut self, key: Key) -> (&L, &mut L::State) {
        let Self { algorithm, keys, past, algorithms } = self;
        let known = keys.state(key, || Known { state: algorithm.fresh(), algorithm: *algorithms });
        // Fast path: usually the configuration has not changed.
        if known.algorithm != *algorithms {
            known.catch_up(algorithm, past, *algorithms);
        }
        (algorithm, &mut known.state)
    }

    fn forget_laws(&mut self) {
        let Self { keys, past, algorithms, .. } = self;
        let oldest = *algorithms - past.len() as u64;
        let kept = MAX_PAST / 2;
        let (Some((first, _)), Some((_, began))) = (past.get(kept), past.get(kept - 1)) else { return };
        let first_kept = oldest + kept as u64;
        for known in keys.states().filter(|known| known.algorithm < first_kept) {
            let Some((left, _)) = past.get(position(known.algorithm, oldest)) else { continue };
            first.reconfigure(&mut known.state, *began, left);
            known.algorithm = first_kept;
        }
        past.drain(..kept);
    }
}

impl<S> Known<S> {
    fn catch_up<L: RateAlgorithm<State = S>>(
        &mut self,
        algorithm: &L,
        past: &VecDeque<(L, Instant)>,
        algorithms: u64,
    ) {
        let missed = past.range(position(self.algorithm, algorithms - past.len() as u64)..);
        let next = missed.clone().skip(1).map(|(algorithm, _)| algorithm).chain([algorithm]);
        for ((before, ended), next) in missed.zip(next) {
            next.reconfigure(&mut self.state, *ended, before);
        }
        self.algorithm = algorithms;
    }
}

fn position(algorithm: u64, oldest: u64) -> usize {
    usize::try_from(algorithm.saturating_sub(oldest)).unwrap_or(usize::MAX)
}

impl<L: RateAlgorithm> StagePolicy for Keyed<L> {
    fn reconfigure(&mut self, at: Instant, other: Box<dyn StagePolicy>, _service: &ServiceModel) {
        let Some(Self { algorithm, .. }) = downcast(other) else { return };
        if self.past.len() == MAX_PAST {
            self.forget_laws();
        }
        self.past.push_back((std::mem::replace(&mut self.algorithm, algorithm), at));
        self.algorithms += 1;
    }

    fn ask(&mut self, at: Instant, asked: &StageRequest<'_>, service: &ServiceModel) -> Decision {
        let (algorithm, state) = self.state(asked.key);
        algorithm.begin(state, service.began);
        algorithm.advance(state, at);
        if asked.cost == 0 {
            return Decision::Pass;
        }
        let ruling = algorithm.ask(state, at, asked.cost);
        if matches!(ruling, Decision::Reject(_)) {
            algorithm.turn_away(state, at);
        }
        ruling
    }

    fn charge(&mut self, at: Instant, asked: &StageRequest<'_>) {
        if asked.cost > 0 {
            let (algorithm, state) = self.state(asked.key);
            algorithm.advance(state, at);
            algorithm.charge(state, at, asked.cost);
        }
    }

    fn refund(&mut self, at: Instant, asked: &StageRequest<'_>, taken: Charge) {
        // If the key has been evicted, nothing is refunded, because the state of the key is gone.
        if let Some(known) = self.keys.get_mut(asked.key) {
            known.catch_up(&self.algorithm, &self.past, self.algorithms);
            self.algorithm.refund(&mut known.state, at, taken);
        }
    }

    fn limit_status(&mut self, at: Instant, key: Key, service: &ServiceModel) -> Option<LimitStatus> {
        let (algorithm, state) = self.state(key);
        algorithm.begin(state, service.began);
        algorithm.advance(state, at);
        Some(algorithm.limit_status(state, at))
    }

    fn evicted(&self) -> u64 {
        self.keys.evicted
    }
}
