//! Comparison of a series (consecutive recorded ops of one client) with many simulated runs of a strategy. If all runs have the same value
//! for an op, the recorded value is compared with it. If the runs differ, distributions are compared.
//!
//! The waits within one run depend on each other, so tests for independent values do not apply. Instead, the distribution of each run is
//! compared with the distribution of all runs together. The distance of the recorded series from all runs may exceed the largest distance
//! of a simulated run, but not by much.

use statistics::KolmogorovSmirnov;

use crate::compare::LEVEL;
use crate::ending::RecordedEnding;
use crate::grain::{Grain, without_noise};
use crate::outcome::Difference;
use crate::pair::Series;
use crate::replay::Op;

/// Maximum distance of the recorded series from all simulated runs together. It is given as a multiple of the largest distance that a
/// single simulated run has from all of them.
const FURTHER: f64 = 1.3;

/// Returns the first difference between a recorded series and simulated runs of a strategy. Every run has as many ops as the series.
pub(crate) fn series(recorded: &Series, runs: &[Vec<Op>], grain: Grain) -> Option<Difference> {
    let waits = || recorded.waits.iter();
    let most = waits().map(|waits| waits.delays.len()).max().unwrap_or(0);
    attempts(&recorded.attempts, runs)
        .or_else(|| endings(recorded, runs))
        .or_else(|| kinds(&recorded.kinds, runs))
        .or_else(|| granted(&recorded.granted, runs))
        .or_else(|| {
            let first = waits().map(|waits| waits.before_first.map(without_noise));
            let own = |op: &Op| Some(without_noise(op.before_first));
            compared("wait before the first attempt", first, runs, own, grain.of_waiting())
        })
        .or_else(|| {
            (0..most).find_map(|index| {
                let delays = waits().map(|waits| waits.delays.get(index).copied());
                let own = |op: &Op| op.delays.get(index).copied();
                compared(&format!("delay {}", index + 1), delays, runs, own, grain)
            })
        })
        .or_else(|| {
            let last = waits().map(|waits| waits.after_last.map(without_noise));
            let own = |op: &Op| Some(without_noise(op.after_last));
            compared("wait after the last attempt", last, runs, own, grain.of_waiting())
        })
}

fn attempts(recorded: &[u32], runs: &[Vec<Op>]) -> Option<Difference> {
    recorded.iter().enumerate().find_map(|(op, recorded)| {
        let own = runs.iter().map(|run| run[op].attempts);
        let (low, high) = (own.clone().min()?, own.max()?);
        let here = if low == high { low.to_string() } else { format!("{low} to {high}") };
        (!(low..=high).contains(recorded))
            .then(|| Difference::new(format!("attempts of op {}", op + 1), recorded, here))
    })
}

fn endings(recorded: &Series, runs: &[Vec<Op>]) -> Option<Difference> {
    recorded.endings.iter().enumerate().find_map(|(op, described)| {
        let own = runs.first()?[op].ending;
        (!runs.iter().any(|run| described.fits(run[op].ending)))
            .then(|| Difference::new(format!("outcome of op {}", op + 1), described, own))
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
        return Some(Difference::new("outcomes", described(recorded), other.ending));
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
        (!(low..=high).contains(recorded))
            .then(|| Difference::new(format!("retries of the first {ops} ops"), recorded, low))
    })
}

/// Compares the waits at one position of each op, such as the first delays. `recorded` has one entry per op, and `of` returns the wait of a
/// simulated op.
fn compared(
    what: &str,
    recorded: impl Iterator<Item = Option<f64>>,
    runs: &[Vec<Op>],
    of: impl Fn(&Op) -> Option<f64>,
    grain: Grain,
) -> Option<Difference> {
    let mut drawn = Vec::new();
    for (op, value) in recorded.enumerate() {
        let Some(value) = value else { continue };
        let own: Vec<f64> = runs.iter().filter_map(|run| of(&run[op])).collect();
        let (low, high) = ends(&own);
        if high - low > 1e-9 {
            drawn.push((op, value));
        } else if !grain.takes(low, value) {
            let what = format!("{what} of op {}", op + 1);
            return Some(Difference::new(what, seconds(value), format!("always {}", range(&own))));
        }
    }
    if drawn.is_empty() {
        return None;
    }
    let (ops, values): (Vec<usize>, Vec<f64>) = drawn.into_iter().unzip();
    let of_run = |run: &Vec<Op>| -> Vec<f64> {
        ops.iter().filter_map(|op| of(&run[*op])).map(|own| grain.seen(own)).collect()
    };
    let each: Vec<Vec<f64>> = runs.iter().map(of_run).collect();
    let all = each.concat();
    let distance = |values: &[f64]| KolmogorovSmirnov::new(values, &all).distance;
    let furthest = each.iter().map(|run| distance(run)).fold(0.0, f64::max);
    let (low, high) = ends(&all);
    let room = 0.05 * (high - low);
    let is_out = |value: &f64| !(grain.lowest(low - room)..=grain.highest(high + room)).contains(value);
    let is_far = distance(&values) > FURTHER * furthest;
    (values.iter().any(is_out) || is_far).then(|| Difference::new(what, described(&values), described(&all)))
}

// Comparison of delays. A fixed delay must be equal in the recording and with the strategy. A random delay must have the same distribution
// in both.
//
// A delay of the strategy is fixed if it is equal in all simulated ops. If the delay is random, its recorded values must not all be the
// same.

/// Margin by which a recorded value may lie outside the range of the strategy's draws. The margin is 12 times this range, divided by the
/// number of draws. A uniform distribution extends further than this margin with a probability of e⁻¹² at each end.
const BEYOND: f64 = 12.0;

/// Number of simulated delays from which their range is nearly the whole range of the strategy, even if its ends are rare.
const ENOUGH: usize = 1000;

/// Additional margin, in seconds, by which a recorded delay may be longer than all simulated ones. It applies to delays until a calendar
/// time, and is added to the usual margins (`BEYOND` and the recorder's precision). A client that is slightly late waits until the next
/// full second.
const NEXT_SECOND: f64 = 1.0;
/// Additional margin, in seconds, by which a recorded delay may be shorter than all simulated ones. It applies to delays until a calendar
/// time, and is added to the usual margins (`BEYOND` and the recorder's precision).
const EARLY: f64 = 25e-3;

/// Delays before one particular retry (such as the second one) of every op, in seconds. `recorded` contains the delays of recorded ops.
/// `own` contains the delays of simulated ops of the strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays<'a> {
    pub what: &'a str,
    pub recorded: &'a [f64],
    pub own: &'a [f64],
    pub grain: Grain,
    /// True if the delays depend on the calendar time. Only their range is then compared, because the recorder's clock and the simulated
    /// clock show different times.
    pub by_calendar: bool,
}

impl Delays<'_> {
    /// Returns the difference between recorded and simulated delays, or `None` if they agree. `more` simulates many further ops of the
    /// strategy. It is called only if a recorded delay is outside the range of the simulated delays in `own`. Its argument is true if the
    /// delay is outside by more than the whole range of few delays, or a quarter of the range of many, so that further ops will hardly
    /// reach it.
    pub(crate) fn difference(&self, more: impl FnOnce(bool) -> Vec<f64>) -> Option<Difference> {
        if self.recorded.is_empty() {
            return None;
        }
        if self.own.is_empty() {
            return Some(Difference::new(self.what, range(self.recorded), "none"));
        }
        if self.by_calendar {
            return self.beyond(self.own, EARLY, NEXT_SECOND);
        }
        let (low, high) = ends(self.own);
        if high - low < 1e-9 {
            let other = self.recorded.iter().find(|recorded| !self.grain.takes(low, **recorded))?;
            let recorded = self.described(*other);
            return Some(Difference::new(self.what, recorded, format!("always {}", seconds(low))));
        }
        if self.beyond(self.own, 0.0, 0.0).is_some()
            && let far = (high - low) * if self.own.len() < ENOUGH { 1.0 } else { 0.25 }
            && let is_far = self.beyond(self.own, far, far).is_some()
            && let Some(beyond) = self.beyond(&more(is_far), 0.0, 0.0)
        {
            return Some(beyond);
        }
        self.too_steady().or_else(|| self.of_another_distribution())
    }

    fn beyond(&self, own: &[f64], below: f64, above: f64) -> Option<Difference> {
        let (low, high) = ends(own);
        let room = BEYOND * (high - low) / own.len() as f64;
        let least = self.grain.lowest((low - room).max(0.0)) - below;
        let most = self.grain.highest(high + room) + above;
        let outside = self.recorded.iter().find(|recorded| !(least..=most).contains(*recorded))?;
        Some(Difference::new(self.what, self.described(*outside), range(own)))
    }

    /// Returns a difference if all recorded delays are the same, although the strategy draws its delays at random.
    fn too_steady(&self) -> Option<Difference> {
        let (low, high) = ends(self.recorded);
        if self.recorded.len() < 2 || high - low > self.grain.unsteadiness() {
            return None;
        }
        let as_that = self.own.iter().filter(|own| self.grain.takes(**own, low)).count() + 1;
        let share = as_that as f64 / (self.own.len() + 1) as f64;
        let likely = libm::pow(share, (self.recorded.len() - 1) as f64);
        (likely < LEVEL).then(|| {
            let always = format!("always {}", seconds(low));
            Difference::new(self.what, always, format!("drawn, {}", range(self.own)))
        })
    }

    fn of_another_distribution(&self) -> Option<Difference> {
        let seen: Vec<f64> = self.own.iter().map(|own| self.grain.seen(*own)).collect();
        let p = |shift: f64| {
            let recorded: Vec<f64> = self.recorded.iter().map(|recorded| recorded - shift).collect();
            KolmogorovSmirnov::new(&recorded, &seen).p
        };
        // Recorded delays may include the machine's processing time, which is about the same in all delays of a recording. If they do, the
        // delays are also compared after a fixed time of up to 15 ms has been subtracted from each.
        let shifts: &[f64] =
            if self.grain.adds_time() { &[0.0, 1e-3, 2e-3, 3e-3, 5e-3, 8e-3, 12e-3, 15e-3] } else { &[0.0] };
        let best = shifts.iter().map(|shift| p(*shift)).fold(0.0, f64::max);
        (best < LEVEL).then(|| {
            let own = format!("{} (p {best:.1e})", described(self.own));
            Difference::new(self.what, described(self.recorded), own)
        })
    }

    fn described(&self, value: f64) -> String {
        let (low, high) = ends(self.recorded);
        if high - low < 1e-9 {
            seconds(value)
        } else {
            format!("{} of {}", seconds(value), range(self.recorded))
        }
    }
}

fn described(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    format!("{}, {} on average", range(values), seconds(mean))
}

/// Formats seconds, rounded to 10 µs.
fn seconds(value: f64) -> String {
    let rounded = (value * 1e5).round() / 1e5;
    format!("{rounded} s")
}

fn range(values: &[f64]) -> String {
    let (low, high) = ends(values);
    if high - low < 1e-9 { seconds(low) } else { format!("{} to {}", seconds(low), seconds(high)) }
}

fn ends(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::ending::Ending;
    use crate::pair::Waits;

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
            (
                vec![RecordedEnding::Known(Ending::Success)],
                "outcomes: recorded success, here an answer with 503",
            ),
            (
                vec![RecordedEnding::Failure, RecordedEnding::Known(Ending::Success)],
                "outcomes: recorded a failure, success, here never success",
            ),
        ] {
            series.kinds = kinds;
            assert_eq!(described(&series, &runs).as_deref(), Some(words));
        }
        series.endings[41] = RecordedEnding::Known(Ending::Success);
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

    fn grain() -> Grain {
        Grain::new("some", "python", "time.sleep replaced")
    }

    fn difference(recorded: &[f64], own: &[f64]) -> Option<String> {
        let delays = Delays { what: "delay 1", recorded, own, grain: grain(), by_calendar: false };
        delays.difference(|_| own.to_vec()).map(|difference| difference.to_string())
    }

    /// Returns uniform draws in scrambled order.
    fn drawn(from: f64, to: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|index| from + (to - from) * ((index * 7919 % count) as f64 + 0.5) / count as f64)
            .collect()
    }

    #[test]
    fn fixed_delays_must_be_equal_to_the_grain() {
        assert_eq!(difference(&[0.5, 0.5], &[0.500_02; 64]), None);
        let described = difference(&[0.5, 0.6], &[0.5; 64]).unwrap();
        assert_eq!(described, "delay 1: recorded 0.6 s of 0.5 s to 0.6 s, here always 0.5 s");
        let described = difference(&[0.5; 6], &[1.0; 64]).unwrap();
        assert_eq!(described, "delay 1: recorded 0.5 s, here always 1 s");
        assert!(difference(&[1.0], &[]).unwrap().ends_with("here none"));
        assert_eq!(difference(&[], &[1.0]), None);
    }

    #[test]
    fn drawn_delays_must_be_in_range_and_of_one_distribution() {
        let own = drawn(0.0, 1.0, 2000);
        assert_eq!(difference(&drawn(0.0, 1.0, 300), &own), None);
        let outside = difference(&[0.5, 1.1], &own).unwrap();
        assert!(outside.starts_with("delay 1: recorded 1.1 s of 0.5 s to 1.1 s, here "), "{outside}");
        let other = difference(&drawn(0.0, 0.5, 60), &own).unwrap();
        assert!(other.contains("0.25 s on average") && other.contains("0.5 s on average"), "{other}");
    }

    #[test]
    fn a_value_beyond_the_first_draws_is_held_against_many_more() {
        let own = drawn(0.0, 0.9, 2000);
        let delays =
            Delays { what: "delay 1", recorded: &[0.5, 0.95], own: &own, grain: grain(), by_calendar: false };
        assert_eq!(delays.difference(|_| drawn(0.0, 1.0, 50_000)), None);
        assert!(delays.difference(|_| own.clone()).is_some());
    }

    #[test]
    fn the_same_value_again_and_again_is_not_drawn() {
        let own = drawn(0.0, 1.0, 2000);
        let described = difference(&[0.5; 6], &own).unwrap();
        assert!(described.starts_with("delay 1: recorded always 0.5 s, here drawn, "), "{described}");
        assert_eq!(difference(&[0.5], &own), None, "a single value proves no difference");
    }

    #[test]
    fn what_a_machine_adds_makes_no_short_delay_a_steady_one() {
        let grain = Grain::new("grpcio", "python", "none: real time");
        let own = drawn(0.016, 0.024, 2000);
        let late: Vec<f64> = drawn(0.016, 0.024, 20).iter().map(|delay| delay + 0.002).collect();
        let of = |recorded: &[f64]| {
            let delays = Delays { what: "delay 1", recorded, own: &own, grain, by_calendar: false };
            delays.difference(|_| own.clone()).map(|difference| difference.to_string())
        };
        assert_eq!(of(&late), None);
        assert!(of(&[0.024; 20]).is_some(), "all at one end");
    }

    #[test]
    fn by_the_calendar_a_little_late_is_a_second_late() {
        let of = |recorded: &[f64]| {
            let own = drawn(5.0, 6.0, 2000);
            let delays = Delays { what: "delay 1", recorded, own: &own, grain: grain(), by_calendar: true };
            delays.difference(|_| Vec::new()).is_some()
        };
        assert!(!of(&[5.0, 5.9988, 6.9982]) && of(&[4.9]) && of(&[8.0]));
    }

    #[test]
    fn ranges_are_short() {
        assert_eq!(range(&[0.5, 0.5]), "0.5 s");
        assert_eq!(range(&[1.0, 0.123_456_7]), "0.12346 s to 1 s");
    }
}
