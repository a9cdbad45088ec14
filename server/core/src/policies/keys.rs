//! State per key in bounded memory. The least recently used key is evicted when there is no room.

use std::collections::BTreeMap;

use crate::policies::Key;

#[derive(Debug)]
pub struct Keys<S> {
    most: usize,
    index: BTreeMap<Key, usize>,
    entries: Vec<Entry<S>>,
    /// Index of the most recently used entry. `oldest` is the index of the least recently used entry. Both are [`NONE`] while there are no
    /// entries.
    newest: usize,
    oldest: usize,
    pub(crate) evicted: u64,
}

#[derive(Debug)]
struct Entry<S> {
    key: Key,
    state: S,
    newer: usize,
    older: usize,
}

const NONE: usize = usize::MAX;

impl<S> Keys<S> {
    /// Creates an empty store. `most` is the maximum number of its keys; 0 counts as 1.
    pub fn new(most: u32) -> Self {
        let most = (most as usize).max(1);
        Self { most, index: BTreeMap::new(), entries: Vec::new(), newest: NONE, oldest: NONE, evicted: 0 }
    }

    /// Returns the state of a key and marks the key as used now. Creates a fresh state if the key has none.
    pub fn state(&mut self, key: Key, fresh: impl FnOnce() -> S) -> &mut S {
        // Fast path: usually the key is the one that was used last, so the look-up is skipped.
        if self.entries.get(self.newest).is_some_and(|entry| entry.key == key) {
            return &mut self.entries[self.newest].state;
        }
        let at = match self.index.get(&key).copied() {
            Some(at) => {
                self.unlink(at);
                at
            }
            None => self.place(key, fresh()),
        };
        self.link(at);
        &mut self.entries[at].state
    }

    /// Returns the state of a key without marking the key as used. `None` if the key has no state.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut S> {
        self.index.get(&key).map(|at| &mut self.entries[*at].state)
    }

    pub(crate) fn states(&mut self) -> impl Iterator<Item = &mut S> {
        self.entries.iter_mut().map(|entry| &mut entry.state)
    }

    /// Adds an entry for a new key, which the caller must link into the order of use. Evicts the least recently used entry if the store is
    /// full.
    fn place(&mut self, key: Key, state: S) -> usize {
        let entry = Entry { key, state, newer: NONE, older: NONE };
        let at = if self.entries.len() < self.most {
            self.entries.push(entry);
            self.entries.len() - 1
        } else {
            let at = self.oldest;
            self.unlink(at);
            self.index.remove(&self.entries[at].key);
            self.evicted += 1;
            self.entries[at] = entry;
            at
        };
        self.index.insert(key, at);
        at
    }

    fn link(&mut self, at: usize) {
        self.entries[at].newer = NONE;
        self.entries[at].older = self.newest;
        match self.entries.get_mut(self.newest) {
            Some(before) => before.newer = at,
            None => self.oldest = at,
        }
        self.newest = at;
    }

    fn unlink(&mut self, at: usize) {
        let Entry { newer, older, .. } = self.entries[at];
        match self.entries.get_mut(newer) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        match self.entries.get_mut(older) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policies::Missing;
    use crate::policies::key::KeyRule;
    use crate::request_fields::RequestFields;
    use vocabulary::TextField as _;

    fn key(number: u32) -> Key {
        let mut rule = KeyRule::default();
        rule.read("path").unwrap();
        rule.of(
            &RequestFields { path: format!("/{number}").into(), ..RequestFields::default() },
            Missing::Shared,
        )
    }

    proptest! {
        /// Compared with a plain list of keys in order of last use.
        #[test]
        fn the_key_that_was_not_seen_for_longest_is_forgotten(seen in prop::collection::vec(0..12_u32, 0..200), most in 1..6_u32) {
            let mut keys = Keys::new(most);
            let mut model: Vec<(u32, u32)> = Vec::new();
            let mut evicted = 0;
            for number in seen {
                let before = model.iter().position(|(there, _)| *there == number).map(|at| model.remove(at).1);
                if before.is_none() && model.len() == most as usize {
                    model.remove(0);
                    evicted += 1;
                }
                let count = before.unwrap_or(0) + 1;
                model.push((number, count));
                let state = keys.state(key(number), || 0);
                *state += 1;
                prop_assert_eq!(*state, count);
                prop_assert_eq!(keys.evicted, evicted);
                for number in 0..12 {
                    let expected = model.iter().find(|(there, _)| *there == number).map(|(_, count)| *count);
                    prop_assert_eq!(keys.get_mut(key(number)).copied(), expected);
                }
            }
        }
    }
}
