//! How long the breaker stays open: twice as long each time in a row, some of it drawn.
//!
//! Source: twitter/finagle `Backoff.scala`, `EqualJittered`; linkerd/linkerd2-proxy `linkerd/exp-backoff/src/lib.rs` with the jitter of its
//! failure accrual, 0.5.

use std::time::Duration;

use vocabulary::{Choice, Purpose, draws, unit};

use crate::delay::{fraction, grown};

/// What is drawn of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Nothing.
    None,
    /// Half of it, but for the first (Finagle).
    #[default]
    Equal,
    /// Up to half of it more (linkerd).
    Above,
}

impl Choice for Spread {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("equal", Self::Equal), ("above", Self::Above)];
}

/// The times of openings in a row.
#[derive(Debug)]
pub(super) struct Penalties {
    open: Duration,
    cap: Duration,
    spread: Spread,
    seed: u64,
    /// Which of the breaker's sequences it is, for its draws.
    which: u32,
    /// Openings in a row, and all that there were.
    row: u32,
    all: u32,
}

impl Penalties {
    pub(super) fn new(open: Duration, cap: Duration, spread: Spread, seed: u64, which: u32) -> Self {
        Self { open, cap, spread, seed, which, row: 0, all: 0 }
    }

    /// The next, after an attempt of this op.
    pub(super) fn next(&mut self, op: u64) -> Duration {
        let draw = unit(&mut draws(self.seed, Purpose::Probe, op, self.all.wrapping_mul(2) + self.which));
        let time = self.drawn(draw);
        self.row = self.row.saturating_add(1);
        self.all = self.all.wrapping_add(1);
        time
    }

    /// Begins with the first again.
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

    /// Half a draw at each opening in a row.
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
        // The first of Finagle is not spread; then half of 10, 20, 40 s is fixed.
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
