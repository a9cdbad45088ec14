//! A law in force, for every key apart.

use vocabulary::Instant;

use crate::policies::gate::{Asked, Gate, Ruling, Taken};
use crate::policies::key::Key;
use crate::policies::keys::Keys;
use crate::policies::law::Law;
use crate::service::ServiceModel;
use crate::standing::Standing;

/// A law with what it remembers of every key.
#[derive(Debug)]
pub(crate) struct Keyed<L: Law> {
    law: L,
    keys: Keys<L::State>,
}

impl<L: Law> Keyed<L> {
    /// Nothing has been accepted yet; at most so many keys are remembered.
    pub(crate) fn new(law: L, most_keys: u32) -> Self {
        Self { law, keys: Keys::new(most_keys) }
    }

    fn state(&mut self, key: Key) -> (&L, &mut L::State) {
        let Self { law, keys } = self;
        let state = keys.state(key, || law.fresh());
        (law, state)
    }
}

impl<L: Law> Gate for Keyed<L> {
    fn ask(&mut self, at: Instant, asked: &Asked, _service: &ServiceModel) -> Ruling {
        let (law, state) = self.state(asked.key);
        law.advance(state, at);
        // What costs nothing always passes.
        if asked.cost == 0 {
            return Ruling::Pass;
        }
        let ruling = law.ask(state, at, asked.cost);
        if matches!(ruling, Ruling::Reject(_)) {
            law.turn_away(state, at);
        }
        ruling
    }

    fn take(&mut self, at: Instant, asked: &Asked) {
        if asked.cost > 0 {
            let (law, state) = self.state(asked.key);
            law.advance(state, at);
            law.charge(state, at, asked.cost);
        }
    }

    fn give_back(&mut self, at: Instant, asked: &Asked, taken: Taken) {
        // Of a key that was forgotten meanwhile nothing is known that could come back.
        if let Some(state) = self.keys.get_mut(asked.key) {
            self.law.give_back(state, at, taken);
        }
    }

    fn standing(&mut self, at: Instant, key: Key, _service: &ServiceModel) -> Option<Standing> {
        let (law, state) = self.state(key);
        law.advance(state, at);
        Some(law.standing(state, at))
    }

    fn evicted(&self) -> u64 {
        self.keys.evicted()
    }
}
