//! Arrival instants of ops. They are generated lazily from the seed, so every strategy gets the same instants.

use std::sync::Arc;
use std::time::Duration;

use vocabulary::{Draws, Instant, Purpose, draws, nanos, unit, whole_nanos};

use crate::arrival_rate::RateStage;
use crate::workload::{ArrivalProcess, Group, Workload};

/// Number of gaps between arrivals that are drawn in one batch. One logarithm has a long latency, but the processor
/// computes several independent logarithms in hardly more time than one.
const DRAWN_AT_ONCE: usize = 16;

/// Iterator over the arrival instants of ops, in ascending order. It yields nothing for a closed loop, because in a
/// closed loop an op arrives whenever a place is free.
#[derive(Clone, Debug)]
pub struct Arrivals {
    workload: Workload,
    rng: Draws,
    /// Next gaps between arrivals of a Poisson process, in nanoseconds. The first `used` gaps have been consumed.
    gaps: [u64; DRAWN_AT_ONCE],
    used: usize,
    produced: u64,
    previous: Instant,
    stage: CurrentStage,
    /// All arrival instants, computed in advance, of a workload that lists its arrivals or scatters them at random over
    /// intervals. Empty for all other workloads.
    listed: Arc<[Instant]>,
}

/// Stage of the rate in which the latest op arrived.
#[derive(Clone, Debug, Default)]
struct CurrentStage {
    index: usize,
    /// Start of the stage, as time since the origin of the run.
    began: Duration,
    /// Mean number of ops that arrive before the stage.
    ops_before: f64,
    /// Position of the latest op of a Poisson process, in billionths of an op: the sum of all gaps at a rate of 1/s.
    position: u64,
}

impl CurrentStage {
    /// Returns the instant at which, on average, `ops` ops have arrived. Calls must not go back. `None` after the last stage.
    fn instant(&mut self, stages: &[RateStage], ops: f64) -> Option<Instant> {
        loop {
            let stage = stages.get(self.index)?;
            let within = ops - self.ops_before;
            if within < stage.ops() {
                return Some(Instant::ORIGIN + self.began + stage.time_of(within));
            }
            self.index += 1;
            self.began = self.began.saturating_add(stage.lasts);
            self.ops_before += stage.ops();
        }
    }
}

impl Arrivals {
    pub fn new(workload: Workload, seed: u64) -> Self {
        let listed = match &workload.arrivals {
            ArrivalProcess::Listed(instants) => instants.clone(),
            ArrivalProcess::Scattered(groups) => scattered(groups, seed),
            _ => Arc::default(),
        };
        let rng = draws(seed, Purpose::Arrivals, 0, 0);
        let (gaps, used) = ([0; DRAWN_AT_ONCE], DRAWN_AT_ONCE);
        Self {
            workload,
            rng,
            gaps,
            used,
            produced: 0,
            previous: Instant::ORIGIN,
            stage: CurrentStage::default(),
            listed,
        }
    }

    #[inline]
    fn gap(&mut self, rate_per_s: f64) -> u64 {
        if self.used == DRAWN_AT_ONCE {
            self.draw_gaps(rate_per_s);
            self.used = 0;
        }
        self.used += 1;
        self.gaps[self.used - 1]
    }

    fn draw_gaps(&mut self, rate_per_s: f64) {
        // Draw all random numbers first and compute their logarithms afterwards. Each draw depends on the draw before,
        // but the logarithms are independent, so the processor can compute several at once.
        let units: [f64; DRAWN_AT_ONCE] = std::array::from_fn(|_| unit(&mut self.rng));
        self.gaps = units.map(|unit| whole_nanos(nanos(-libm::log(1.0 - unit) * 1e9 / rate_per_s)));
    }

    pub(crate) fn allows(&self, arrived: u64, at: Instant) -> bool {
        arrived < u64::from(u32::MAX)
            && self.workload.ops.is_none_or(|ops| arrived < ops)
            && self.workload.duration.is_none_or(|duration| at < Instant::ORIGIN + duration)
    }
}

impl Iterator for Arrivals {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        let at = match &self.workload.arrivals {
            ArrivalProcess::Listed(_) | ArrivalProcess::Scattered(_) => {
                *self.listed.get(usize::try_from(self.produced).ok()?)?
            }
            ArrivalProcess::Closed { .. } => return None,
            ArrivalProcess::Burst => Instant::ORIGIN,
            // The instant is computed from the op's index, so that rounding errors do not accumulate.
            ArrivalProcess::Uniform { rate_per_s } => {
                Instant::ORIGIN + nanos(self.produced as f64 * 1e9 / *rate_per_s)
            }
            ArrivalProcess::Staged { stages, is_uniform } => {
                let stages = stages.clone();
                let ops = if *is_uniform {
                    self.produced as f64
                } else {
                    self.stage.position = self.stage.position.saturating_add(self.gap(1.0));
                    self.stage.position as f64 / 1e9
                };
                self.stage.instant(&stages, ops)?.max(self.previous)
            }
            ArrivalProcess::Poisson { rate_per_s } => {
                let rate_per_s = *rate_per_s;
                Instant::from_nanos(self.previous.as_nanos().saturating_add(self.gap(rate_per_s)))
            }
        };
        if !self.allows(self.produced, at) {
            return None;
        }
        self.produced += 1;
        self.previous = at;
        Some(at)
    }
}

fn scattered(groups: &[Group], seed: u64) -> Arc<[Instant]> {
    let mut instants = Vec::new();
    for (index, group) in (1..).zip(groups) {
        let mut rng = draws(seed, Purpose::Arrivals, index, 0);
        let width = group.to.saturating_sub(group.from).as_nanos() as f64;
        let grid = group.grid.as_nanos() as f64;
        instants.extend((0..group.ops).map(|_| {
            let after = unit(&mut rng) * width;
            let after = if grid > 0.0 { libm::floor(after / grid) * grid } else { after };
            Instant::ORIGIN + group.from + nanos(after)
        }));
    }
    instants.sort_unstable();
    instants.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival_rate::ArrivalRate;

    fn workload(arrivals: ArrivalProcess, ops: Option<u64>, duration: Option<u64>) -> Workload {
        Workload { arrivals, ops, duration: duration.map(Duration::from_millis) }
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_depend_only_on_the_seed() {
        let stream = |seed| -> Vec<Instant> { Arrivals::new(Workload::default(), seed).collect() };
        let arrivals = stream(1);
        assert_eq!(arrivals.len(), 2000);
        assert!(arrivals.is_sorted());
        // The sum of 2000 gaps of 1 ms has a standard deviation of 45 ms.
        let last = arrivals[1999].as_secs_f64();
        assert!((last - 2.0).abs() < 0.18, "{last}");
        assert_eq!(arrivals, stream(1));
        assert_ne!(arrivals, stream(2));
    }

    #[test]
    fn uniform_arrivals_are_evenly_spaced_within_the_duration() {
        let uniform = ArrivalProcess::Uniform { rate_per_s: 3.0 };
        let arrivals: Vec<Instant> = Arrivals::new(workload(uniform, None, Some(1000)), 1).collect();
        assert_eq!(
            arrivals,
            [Instant::ORIGIN, Instant::from_nanos(333_333_333), Instant::from_nanos(666_666_667)]
        );
    }

    fn staged(text: &str, is_uniform: bool, seed: u64) -> Vec<Instant> {
        let Ok(ArrivalRate::Stages(stages)) = text.parse() else { panic!("{text}") };
        Arrivals::new(workload(ArrivalProcess::Staged { stages, is_uniform }, None, None), seed).collect()
    }

    /// Within 1 op of the integral of the rate in every second.
    #[test]
    fn uniform_arrivals_of_stages_follow_the_rate_in_every_second() {
        let arrivals = staged("10/s for 5s; 10/s..100/s for 9s; 0/s for 3s; 100/s..0/s for 10s", true, 1);
        let rate_at = |t: f64| match t {
            _ if t < 5.0 => 10.0,
            _ if t < 14.0 => 10.0 + 10.0 * (t - 5.0),
            _ if t < 17.0 => 0.0,
            _ => 100.0 - 10.0 * (t - 17.0),
        };
        assert_eq!(arrivals.len(), 50 + 495 + 500);
        assert!(arrivals.is_sorted());
        for second in 0..27_u32 {
            let wanted = rate_at(f64::from(second) + 0.5);
            let from = Instant::from_millis(u64::from(second) * 1000);
            let to = from + Duration::from_secs(1);
            let count = arrivals.iter().filter(|at| (from..to).contains(at)).count() as f64;
            assert!((count - wanted).abs() <= 1.0, "second {second}: {count} instead of {wanted}");
        }
    }

    /// Within 4 standard deviations of the mean in every stage.
    #[test]
    fn poisson_arrivals_of_stages_follow_the_rate_in_every_stage() {
        for seed in 1..=20 {
            let arrivals = staged("100/s for 10s; 100/s..500/s for 10s; 500/s..0/s for 4s", false, seed);
            assert!(arrivals.is_sorted());
            for (from, to, mean) in [(0, 10, 1000.0), (10, 20, 3000.0), (20, 24, 1000.0)] {
                let [from, to] = [from, to].map(|s| Instant::from_millis(s * 1000));
                let count = arrivals.iter().filter(|at| (from..to).contains(at)).count() as f64;
                assert!(
                    (count - mean).abs() <= 4.0 * f64::sqrt(mean),
                    "seed {seed}: {count} instead of {mean}"
                );
            }
        }
        assert_ne!(staged("100/s for 1s", false, 1), staged("100/s for 1s", false, 2));
    }

    #[test]
    fn a_spike_on_a_background_keeps_to_its_stretches_and_its_grid() {
        let tick = Duration::from_millis(10);
        let groups = [
            Group { ops: 160, from: 10 * tick, to: 38 * tick, grid: tick },
            Group { ops: 640, from: Duration::ZERO, to: 1000 * tick, grid: tick },
        ];
        let scattered = ArrivalProcess::Scattered(groups.into());
        let arrivals: Vec<Instant> = Arrivals::new(workload(scattered, None, None), 1).collect();
        assert_eq!(arrivals.len(), 800);
        assert!(arrivals.is_sorted());
        assert!(arrivals.iter().all(|at| at.as_nanos().is_multiple_of(10_000_000)));
        let spike = arrivals.iter().filter(|at| (100..380).contains(&(at.as_nanos() / 1_000_000))).count();
        // 160 ops of the spike and about 18 of the background, with a standard deviation of about 4.
        assert!((160..200).contains(&spike), "{spike}");
        assert!(arrivals[799] < Instant::from_millis(10_000));
    }

    #[test]
    fn a_burst_comes_at_once_and_a_closed_loop_brings_its_own() {
        assert_eq!(Arrivals::new(workload(ArrivalProcess::Burst, Some(3), None), 1).count(), 3);
        let closed = ArrivalProcess::Closed { in_flight: 5 };
        assert_eq!(Arrivals::new(workload(closed, Some(3), None), 1).next(), None);
    }
}
