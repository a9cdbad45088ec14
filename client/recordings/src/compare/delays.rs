//! Comparison of delays. A fixed delay must be equal in the recording and with the strategy. A random delay must have the same distribution
//! in both.
//!
//! A delay of the strategy is fixed if it is equal in all simulated ops. If the delay is random, its recorded values must not all be the
//! same.

use statistics::KolmogorovSmirnov;

use super::LEVEL;
use super::number::{ends, range, seconds};
use crate::grain::Grain;
use crate::outcome::Difference;

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
    pub(crate) what: &'a str,
    pub(crate) recorded: &'a [f64],
    pub(crate) own: &'a [f64],
    pub(crate) grain: Grain,
    /// True if the delays depend on the calendar time. Only their range is then compared, because the recorder's clock and the simulated
    /// clock show different times.
    pub(crate) by_calendar: bool,
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
            Difference::new(
                self.what,
                format!("always {}", seconds(low)),
                format!("drawn, {}", range(self.own)),
            )
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
            let described = |values: &[f64]| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                format!("{}, {} on average", range(values), seconds(mean))
            };
            Difference::new(
                self.what,
                described(self.recorded),
                format!("{} (p {best:.1e})", described(self.own)),
            )
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(difference(&[0.5], &own), None, "once tells nothing");
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
}
