//! Comparison of a series (consecutive recorded ops of one client) with many simulated runs of a strategy. If all runs have the same value
//! for an op, the recorded value is compared with it. If the runs differ, distributions are compared.
//!
//! The waits within one run depend on each other, so tests for independent values do not apply. Instead, the distribution of each run is
//! compared with the distribution of all runs together. The distance of the recorded series from all runs may exceed the largest distance
//! of a simulated run, but not by much.

use statistics::KolmogorovSmirnov;

use super::number::{ends, range, seconds};
use crate::ending::RecordedEnding;
use crate::grain::Grain;
use crate::outcome::Difference;
use crate::pair::{Series, Waits};
use crate::replay::Op;

/// Maximum distance of the recorded series from all simulated runs together. It is given as a multiple of the largest distance that a
/// single simulated run has from all of them.
const FURTHER: f64 = 1.3;

#[derive(Clone, Copy, Debug)]
enum SeriesPosition {
    BeforeFirst,
    Delay(usize),
    AfterLast,
}

/// Returns the first difference between a recorded series and simulated runs of a strategy. Every run has as many ops as the series.
pub(crate) fn series(recorded: &Series, runs: &[Vec<Op>], grain: Grain) -> Option<Difference> {
    attempts(&recorded.attempts, runs)
        .or_else(|| endings(recorded, runs))
        .or_else(|| kinds(&recorded.kinds, runs))
        .or_else(|| granted(&recorded.granted, runs))
        .or_else(|| {
            let most = recorded.waits.iter().map(|waits| waits.delays.len()).max().unwrap_or(0);
            let delays = (0..most).map(SeriesPosition::Delay);
            let places =
                [SeriesPosition::BeforeFirst].into_iter().chain(delays).chain([SeriesPosition::AfterLast]);
            places.into_iter().find_map(|place| place.difference(&recorded.waits, runs, grain))
        })
}

fn attempts(recorded: &[u32], runs: &[Vec<Op>]) -> Option<Difference> {
    recorded.iter().enumerate().find_map(|(op, recorded)| {
        let own = runs.iter().map(|run| run[op].attempts);
        let (low, high) = (own.clone().min()?, own.max()?);
        let here = if low == high { low.to_string() } else { format!("{low} to {high}") };
        (!(low..=high).contains(recorded))
            .then(|| Difference::new(format!("attempts of op {}", op + 1), recorded.to_string(), here))
    })
}

fn endings(recorded: &Series, runs: &[Vec<Op>]) -> Option<Difference> {
    recorded.endings.iter().enumerate().find_map(|(op, described)| {
        let own = runs.first()?[op].ending;
        (!runs.iter().any(|run| described.fits(run[op].ending))).then(|| {
            Difference::new(format!("outcome of op {}", op + 1), described.to_string(), own.to_string())
        })
    })
}

/// Checks that recorded and simulated ops end in the same ways, such as with success. Every recorded kind of ending must occur in a
/// simulated op, and the ending of every simulated op must have been recorded.
fn kinds(recorded: &[RecordedEnding], runs: &[Vec<Op>]) -> Option<Difference> {
    let first = runs.first().filter(|_| !recorded.is_empty())?;
    let other = first.iter().find(|op| !recorded.iter().any(|described| described.fits(op.ending)));
    let described =
        |kinds: &[RecordedEnding]| kinds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if let Some(other) = other {
        return Some(Difference::new("outcomes", described(recorded), other.ending.to_string()));
    }
    let missing = recorded.iter().find(|described| !first.iter().any(|op| described.fits(op.ending)))?;
    Some(Difference::new("outcomes", described(recorded), format!("never {missing}")))
}

fn granted(recorded: &[u64], runs: &[Vec<Op>]) -> Option<Difference> {
    recorded.iter().enumerate().find_map(|(index, recorded)| {
        let ops = 100 * (index + 1);
        let retries =
            |run: &Vec<Op>| run[..ops].iter().map(|op| u64::from(op.attempts.saturating_sub(1))).sum::<u64>();
        let (low, high) = (runs.iter().map(retries).min()?, runs.iter().map(retries).max()?);
        (!(low..=high).contains(recorded)).then(|| {
            Difference::new(format!("retries of the first {ops} ops"), recorded.to_string(), low.to_string())
        })
    })
}

impl SeriesPosition {
    fn name(self) -> String {
        match self {
            Self::BeforeFirst => "wait before the first attempt".to_owned(),
            Self::Delay(index) => format!("delay {}", index + 1),
            Self::AfterLast => "wait after the last attempt".to_owned(),
        }
    }

    fn recorded(self, waits: &Waits) -> Option<f64> {
        match self {
            Self::BeforeFirst => waits.before_first,
            Self::Delay(index) => waits.delays.get(index).copied(),
            Self::AfterLast => waits.after_last,
        }
    }

    fn own(self, op: &Op) -> Option<f64> {
        match self {
            Self::BeforeFirst => Some(op.before_first),
            Self::Delay(index) => op.delays.get(index).copied(),
            Self::AfterLast => Some(op.after_last),
        }
    }

    fn difference(self, recorded: &[Waits], runs: &[Vec<Op>], grain: Grain) -> Option<Difference> {
        let grain = if matches!(self, Self::Delay(_)) { grain } else { grain.of_waiting() };
        let clean =
            |value: f64| if matches!(self, Self::Delay(_)) { value } else { grain.without_noise(value) };
        let recorded: Vec<(usize, f64)> = recorded
            .iter()
            .enumerate()
            .filter_map(|(op, waits)| Some((op, clean(self.recorded(waits)?))))
            .collect();
        let of_op =
            |op: usize| -> Vec<f64> { runs.iter().filter_map(|run| self.own(&run[op]).map(clean)).collect() };
        let mut drawn = Vec::new();
        for (op, value) in &recorded {
            let own = of_op(*op);
            let (low, high) = ends(&own);
            if high - low > 1e-9 {
                drawn.push((*op, *value));
            } else if !grain.takes(low, *value) {
                let what = format!("{} of op {}", self.name(), op + 1);
                return Some(Difference::new(what, seconds(*value), format!("always {}", range(&own))));
            }
        }
        if drawn.is_empty() {
            return None;
        }
        let ops: Vec<usize> = drawn.iter().map(|(op, _)| *op).collect();
        let values: Vec<f64> = drawn.iter().map(|(_, value)| *value).collect();
        let of_run = |run: &Vec<Op>| -> Vec<f64> {
            ops.iter().filter_map(|op| self.own(&run[*op]).map(clean).map(|own| grain.seen(own))).collect()
        };
        let each: Vec<Vec<f64>> = runs.iter().map(of_run).collect();
        let all: Vec<f64> = each.concat();
        let distance = |values: &[f64]| KolmogorovSmirnov::new(values, &all).distance;
        let furthest = each.iter().map(|run| distance(run)).fold(0.0, f64::max);
        let (low, high) = ends(&all);
        let room = 0.05 * (high - low);
        let is_out = |value: &f64| !(grain.lowest(low - room)..=grain.highest(high + room)).contains(value);
        let is_far = distance(&values) > FURTHER * furthest;
        (values.iter().any(is_out) || is_far).then(|| {
            let mean = |values: &[f64]| seconds(values.iter().sum::<f64>() / values.len().max(1) as f64);
            let described = |values: &[f64]| format!("{}, {} on average", range(values), mean(values));
            Difference::new(self.name(), described(&values), described(&all))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::Ending;

    fn op(before_first: f64, delays: &[f64]) -> Op {
        let attempts = u32::try_from(delays.len()).unwrap() + 1;
        Op { attempts, before_first, delays: delays.to_vec(), after_last: 0.0, ending: Ending::Answer(503) }
    }

    fn recorded(waits: &[(f64, &[f64])]) -> Series {
        Series {
            script: "503".parse().unwrap(),
            pause: std::time::Duration::ZERO,
            ops: waits.len(),
            attempts: waits.iter().map(|(_, delays)| u32::try_from(delays.len()).unwrap() + 1).collect(),
            waits: waits
                .iter()
                .map(|(first, delays)| Waits {
                    before_first: Some(*first),
                    delays: delays.to_vec(),
                    after_last: None,
                })
                .collect(),
            endings: Vec::new(),
            kinds: Vec::new(),
            granted: Vec::new(),
        }
    }

    fn described(recorded: &Series, runs: &[Vec<Op>]) -> Option<String> {
        let grain = Grain::new("some", "python", "time.sleep replaced");
        series(recorded, runs, grain).map(|difference| difference.to_string())
    }

    #[test]
    fn where_all_runs_agree_every_op_must_be_the_same() {
        let runs = vec![vec![op(0.0, &[1.0]), op(0.25, &[1.0]), op(0.25, &[])]; 3];
        let right: [(f64, &[f64]); 3] = [(0.002, &[1.0]), (0.2487, &[1.0]), (0.25, &[])];
        assert_eq!(described(&recorded(&right), &runs), None);
        for (op, wrong, words) in [
            (1, (0.25, &[][..]), "attempts of op 2: recorded 1, here 2"),
            (1, (0.0, &[1.0][..]), "wait before the first attempt of op 2: recorded 0 s, here always 0.25 s"),
            (0, (0.0, &[2.0][..]), "delay 1 of op 1: recorded 2 s, here always 1 s"),
        ] {
            let mut waits = right;
            waits[op] = wrong;
            assert_eq!(described(&recorded(&waits), &runs).as_deref(), Some(words));
        }
    }

    #[test]
    fn endings_and_granted_retries_are_compared_too() {
        let runs = vec![vec![op(0.0, &[1.0]); 100]; 2];
        let mut series = recorded(&[(0.0, &[1.0][..]); 100]);
        series.granted = vec![100];
        series.endings = vec![RecordedEnding::Failure; 100];
        assert_eq!(described(&series, &runs), None);
        series.granted = vec![20];
        assert_eq!(
            described(&series, &runs).as_deref(),
            Some("retries of the first 100 ops: recorded 20, here 100")
        );
        series.kinds = vec![RecordedEnding::SomeAnswer];
        assert!(described(&series, &runs).unwrap().starts_with("retries"));
        for (kinds, words) in [
            (vec![RecordedEnding::Success], "outcomes: recorded success, here an answer with 503"),
            (
                vec![RecordedEnding::Failure, RecordedEnding::Success],
                "outcomes: recorded a failure, success, here never success",
            ),
        ] {
            series.kinds = kinds;
            assert_eq!(described(&series, &runs).as_deref(), Some(words));
        }
        series.endings[41] = RecordedEnding::Success;
        let words = "outcome of op 42: recorded success, here an answer with 503";
        assert_eq!(described(&series, &runs).as_deref(), Some(words));
    }

    #[test]
    fn where_runs_differ_the_recorded_one_must_be_like_them() {
        let drawn = |run: usize, op: usize| ((run * 31 + op * 7919) % 997) as f64 / 997.0;
        let run = |number: usize| (0..50).map(|index| op(0.0, &[drawn(number, index)])).collect::<Vec<_>>();
        let runs: Vec<Vec<Op>> = (1..40).map(run).collect();
        let of = |delay: fn(f64) -> f64| {
            let delays: Vec<[f64; 1]> = (0..50).map(|op| [delay(drawn(99, op))]).collect();
            let waits: Vec<(f64, &[f64])> = delays.iter().map(|delay| (0.0, &delay[..])).collect();
            described(&recorded(&waits), &runs)
        };
        assert_eq!(of(|drawn| drawn), None);
        assert!(of(|drawn| drawn / 2.0).unwrap().starts_with("delay 1: recorded "));
        assert!(of(|drawn| drawn * 2.0).is_some());
    }
}
