//! Duration for which a circuit breaker stays open. It doubles at each consecutive opening and is partly random.
//!
//! Source: twitter/finagle `Backoff.scala`, `EqualJittered`; linkerd/linkerd2-proxy `linkerd/exp-backoff/src/lib.rs`
//! with a jitter of 0.5, the value that linkerd's circuit breaker uses.

use std::time::Duration;

use vocabulary::{Purpose, choices, draws, unit};

use crate::delay::{fraction, grown};

choices! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum Spread {
        None = "none",
        /// Half of the duration is random, as in Finagle. The duration of the first opening is not random.
        #[default]
        Equal = "equal",
        /// A random time of up to half the duration is added to the duration, as in linkerd.
        Above = "above",
    }
}

#[derive(Debug)]
pub(super) struct Penalties {
    open: Duration,
    cap: Duration,
    spread: Spread,
    seed: u64,
    /// Index of this sequence of durations among the sequences of its breaker. It is part of the key of the sequence's
    /// random draws.
    which: u32,
    /// Number of openings whose duration came from this sequence. `row` counts the consecutive ones since the breaker
    /// last closed, and `all` counts all of them.
    row: u32,
    all: u32,
}

impl Penalties {
    pub(super) fn new(open: Duration, cap: Duration, spread: Spread, seed: u64, which: u32) -> Self {
        Self { open, cap, spread, seed, which, row: 0, all: 0 }
    }

    /// Returns the duration of the next opening of the breaker. `op` is part of the key of the random draw. It is the
    /// op whose failure caused the opening, or 0 if a success caused it.
    pub(super) fn next(&mut self, op: u64) -> Duration {
        let draw = unit(&mut draws(self.seed, Purpose::Probe, op, self.all.wrapping_mul(2) + self.which));
        let time = self.drawn(draw);
        self.row = self.row.saturating_add(1);
        self.all = self.all.wrapping_add(1);
        time
    }

    pub(super) fn forget(&mut self) {
        self.row = 0;
    }

    fn drawn(&self, draw: f64) -> Duration {
        let whole = grown(self.open, 1.0, 2.0, self.row, self.cap);
        match self.spread {
            Spread::Equal if self.row > 0 => {
                let half = grown(self.open, 1.0, 2.0, self.row - 1, self.cap);
                half.saturating_add(fraction(half, draw)).min(self.cap)
            }
            Spread::Above => whole.saturating_add(fraction(whole, 0.5 * draw)).min(self.cap),
            Spread::None | Spread::Equal => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    /// Returns the times of six consecutive openings for draws of 0.5.
    fn halves(spread: Spread) -> Vec<Duration> {
        let mut penalties = Penalties::new(secs(5), secs(60), spread, 1, 0);
        let next = |row| {
            penalties.row = row;
            penalties.drawn(0.5)
        };
        (0..6).map(next).collect()
    }

    #[test]
    fn the_time_doubles_up_to_the_cap_and_is_spread() {
        let millis = |all: [u64; 6]| all.map(Duration::from_millis).to_vec();
        assert_eq!(halves(Spread::None), millis([5000, 10_000, 20_000, 40_000, 60_000, 60_000]));
        // Finagle does not spread the first time. Of the next ones, half of 10, 20 and 40 s is fixed.
        assert_eq!(halves(Spread::Equal), millis([5000, 7500, 15_000, 30_000, 60_000, 60_000]));
        assert_eq!(halves(Spread::Above), millis([6250, 12_500, 25_000, 50_000, 60_000, 60_000]));
    }

    #[test]
    fn draws_are_keyed_and_a_sequence_begins_anew() {
        let mut penalties = Penalties::new(secs(5), secs(60), Spread::Equal, 1, 0);
        assert_eq!(penalties.next(7), secs(5));
        let second = penalties.next(7);
        assert!((secs(5)..secs(10)).contains(&second), "{second:?}");
        penalties.forget();
        assert_eq!(penalties.next(7), secs(5));
        assert_ne!(penalties.next(7), second, "another draw");
    }
}
