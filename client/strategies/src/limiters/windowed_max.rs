//! Maximum of the measurements in the last few round trips, computed in constant space.
//!
//! Source: Kathleen Nichols' algorithm, Linux `lib/win_minmax.c`, as in quinn-rs/quinn
//! `quinn-proto/src/congestion/bbr/min_max.rs`. The algorithm keeps only the best three measurements. Each of them is
//! newer than the previous one by at least a part of the window.

#[derive(Clone, Copy, Debug, Default)]
struct Measurement {
    round: u64,
    value: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMax {
    rounds: u64,
    best: [Measurement; 3],
}

impl WindowedMax {
    pub(super) fn new(rounds: u64) -> Self {
        Self { rounds, best: [Measurement::default(); 3] }
    }

    pub(super) fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Adds a measurement that was made in round trip number `round`. This number must not decrease from call to call.
    pub(super) fn update(&mut self, round: u64, value: f64) {
        let new = Measurement { round, value };
        if value >= self.best[0].value || round - self.best[2].round > self.rounds {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(new);
    }

    fn age(&mut self, new: Measurement) {
        let [first, second, third] = self.best;
        let age = new.round - first.round;
        if age > self.rounds {
            self.best = [second, third, new];
            if new.round - second.round > self.rounds {
                self.best = [third, new, new];
            }
        } else if second.round == first.round && age > self.rounds / 4 {
            self.best = [first, new, new];
        } else if third.round == second.round && age > self.rounds / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test of quinn's `min_max.rs`.
    #[test]
    fn the_greatest_of_the_last_ten_rounds_counts() {
        let mut max = WindowedMax::new(10);
        for (round, value, greatest) in [
            (26, 100.0, 100.0),
            (28, 120.0, 120.0),
            (30, 160.0, 160.0),
            (32, 100.0, 160.0),
            (35, 100.0, 160.0),
            (39, 100.0, 160.0),
            (41, 100.0, 100.0),
            (43, 130.0, 130.0),
        ] {
            max.update(round, value);
            assert_eq!(max.get().to_bits(), f64::to_bits(greatest), "round {round}");
        }
    }
}
