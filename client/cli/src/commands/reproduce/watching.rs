//! Progress of the runs of scenarios, printed in one line from time to time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use experiments::runs::driver::{Outcome, RealRun, Watcher};
use loadgen_core::SampleSink;

use super::remaining::{Key, Remaining};
use crate::text::progress::Live;

pub(super) struct Watching {
    state: Mutex<State>,
    /// Scenario and cell of each run, by run number.
    keys: Vec<Key>,
    /// Label of each run, by run number. The list is empty in virtual time, because labels are shown only over HTTP.
    names: Vec<String>,
    at_once: usize,
}

struct State {
    live: Live,
    remaining: Remaining,
    begun: Instant,
}

impl Watching {
    pub(super) fn new(live: Live, keys: Vec<Key>, names: Vec<String>, at_once: usize) -> Self {
        let remaining = Remaining::new(keys.iter().copied());
        let state = Mutex::new(State { live, remaining, begun: Instant::now() });
        Self { state, keys, names, at_once }
    }

    pub(super) fn think(&mut self, key: Key, takes: Duration) {
        self.state().remaining.think(key, takes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Watching {
    fn attempts_of(&self, _number: usize, _seed: u64) -> anyhow::Result<Option<SampleSink>> {
        self.state().begun = Instant::now();
        Ok(None)
    }

    fn on_real(&self, number: usize, _run: &RealRun<'_>) {
        let State { live, remaining, begun } = &mut *self.state();
        live.line(|| format!("{}   {}", remaining.words(self.at_once, begun.elapsed()), self.names[number]));
    }

    fn on_over(&self, number: usize, outcome: &Outcome) {
        self.state().remaining.over(self.keys[number], outcome.took);
    }

    fn on_tick(&self) {
        let State { live, remaining, .. } = &mut *self.state();
        live.line(|| remaining.words(self.at_once, Duration::ZERO));
    }
}
