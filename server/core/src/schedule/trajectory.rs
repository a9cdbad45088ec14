//! Timeline of one figure: the value of a number or word as a function of the run's time. The value changes in steps.
//!
//! Continuous changes are divided into equal steps of 10 ms or more. A ramp has at most 1000 steps, and a wave has at most 1000 steps per
//! period. During a step, the value is constant. The value at the start of the step is computed from the time alone, so it does not depend
//! on when requests arrive. The last step of a ramp has the ramp's second value. Because the number of steps is limited, only few of them
//! must be processed after a period without requests.

use vocabulary::{sine_of_turn, whole_nanos};

use super::quantity::{ONE, number_text};
use super::value::{Sine, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Text(String),
    /// Value of a scheduled setting that is a number, in millionths.
    Number(i64),
}

/// Values of one figure during a run, as segments in order of time. Times are in nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trajectory {
    pub(super) segments: Vec<Segment>,
    pub(super) notation: Notation,
}

/// Part of a timeline with one value. Times are in nanoseconds. A ramp ends, and a wave stays constant, after the time `lasts`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) from: u64,
    pub(super) lasts: u64,
    pub(super) value: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notation {
    pub(super) unit: String,
    /// True if the figure accepts only whole numbers. Values are then rounded to the nearest whole number.
    pub(super) is_whole: bool,
}

const MIN_STEP: u64 = 10_000_000;
const MAX_STEPS: u64 = 1000;

/// Maximum number of whole periods of a wave that are processed step by step after a time without requests. If more periods have passed,
/// the mean of the wave replaces the steps.
const PERIODS_MADE_UP_FOR: u64 = 2;

impl Notation {
    pub(super) fn text(&self, millionths: i64) -> String {
        let millionths = if self.is_whole { (millionths + ONE / 2) / ONE * ONE } else { millionths };
        format!("{}{}", number_text(millionths), self.unit)
    }
}

impl Segment {
    /// Returns the length of a ramp, or of one period of a wave, and the number of equal steps into which this time is divided. `None` for
    /// constants.
    fn steps(&self) -> Option<(u64, u64)> {
        let (length, least) = match &self.value {
            Value::Constant(_) => return None,
            Value::Ramp(..) => (self.lasts, 1),
            Value::Sine(Sine { period, .. }) => (whole_nanos(*period), 10),
        };
        Some((length, (length / MIN_STEP).clamp(least, MAX_STEPS)))
    }

    /// Returns the index of the step that has begun last at the time `since`, counted from the start of the segment.
    fn step(&self, since: u64) -> u64 {
        let Some((length, steps)) = self.steps() else { return 0 };
        let since = since.min(self.lasts);
        // Step k of the segment begins at ⌊length × k / steps⌋. The result is the last step that begins at `since` or earlier.
        let step = ((u128::from(since) + 1) * u128::from(steps) - 1) / u128::from(length);
        u64::try_from(step).unwrap_or(u64::MAX)
    }

    /// Returns the start of a step of a changing value, counted from the start of the segment that contains the step. `None` if the segment
    /// has no such step.
    fn begins(&self, step: u64) -> Option<u64> {
        let (length, steps) = self.steps()?;
        let since = u64::try_from(u128::from(length) * u128::from(step) / u128::from(steps)).ok()?;
        (since <= self.lasts).then_some(since)
    }

    fn point(&self, since: u64) -> Point {
        let (step, steps) = (self.step(since), self.steps().map_or(1, |(_, steps)| steps));
        match &self.value {
            Value::Constant(text) => Point::Text(text.clone()),
            Value::Ramp(from, to) => {
                let (from, to) = (from.millionths, to.millionths);
                let (way, steps) = (i128::from(to - from), i128::from(steps));
                let gone = (2 * way * i128::from(step) + way.signum() * steps) / (2 * steps);
                Point::Number(from + i64::try_from(gone).unwrap_or(to - from))
            }
            Value::Sine(Sine { base, amplitude, falls_first, .. }) => {
                let most = amplitude.millionths;
                let signed = if *falls_first { -most } else { most };
                #[expect(clippy::cast_possible_truncation, reason = "it is no larger than the amplitude")]
                let off = (sine_of_turn(step, steps) * signed as f64).round() as i64;
                Point::Number(base.millionths + off.clamp(-most, most))
            }
        }
    }

    /// Returns the greatest value of the segment, rounded to a whole number. `None` if it is not a number.
    fn greatest(&self) -> Option<u32> {
        whole(match &self.value {
            Value::Constant(text) => return text.parse().ok(),
            Value::Ramp(from, to) => from.millionths.max(to.millionths),
            Value::Sine(Sine { base, amplitude, .. }) => base.millionths + amplitude.millionths,
        })
    }
}

fn whole(millionths: i64) -> Option<u32> {
    u32::try_from((millionths + ONE / 2) / ONE).ok()
}

impl Trajectory {
    fn segment(&self, elapsed: u64) -> Option<usize> {
        self.segments.partition_point(|segment| segment.from <= elapsed).checked_sub(1)
    }

    fn point(&self, elapsed: u64) -> Option<Point> {
        let segment = &self.segments[self.segment(elapsed)?];
        Some(segment.point(elapsed - segment.from))
    }

    pub(crate) fn text(&self, elapsed: u64) -> Option<String> {
        Some(match self.point(elapsed)? {
            Point::Text(text) => text,
            Point::Number(millionths) => self.notation.text(millionths),
        })
    }

    /// Returns the value at `elapsed` after the run began, rounded to a whole number. `None` if the value is not a number.
    pub(crate) fn whole(&self, elapsed: u64) -> Option<u32> {
        match self.point(elapsed)? {
            Point::Text(text) => text.parse().ok(),
            Point::Number(millionths) => whole(millionths),
        }
    }

    /// Returns the greatest value of the timeline, rounded to a whole number. `None` if any value of the timeline is not a number.
    pub(crate) fn greatest(&self) -> Option<u32> {
        self.segments.iter().map(Segment::greatest).collect::<Option<Vec<u32>>>()?.into_iter().max()
    }

    pub(crate) fn begins_at_once(&self) -> bool {
        self.segments.first().is_some_and(|first| first.from == 0)
    }

    pub(super) fn next_after(&self, elapsed: u64) -> Option<u64> {
        let Some(index) = self.segment(elapsed) else { return self.segments.first().map(|first| first.from) };
        let segment = &self.segments[index];
        let end = self.segments.get(index + 1).map(|next| next.from);
        let step = segment
            .begins(segment.step(elapsed - segment.from) + 1)
            .map(|since| segment.from.saturating_add(since));
        match (step.filter(|step| *step > elapsed), end) {
            (Some(step), Some(end)) => Some(step.min(end)),
            (step, end) => step.or(end),
        }
    }

    /// Returns the mean of a wave, and the time until which the mean may replace the wave. This time is the start of the last whole period
    /// up to `now`, if periods are counted from `elapsed`. Returns `None` if only few periods have passed between `elapsed` and `now`. Also
    /// returns `None` if the value at `elapsed` is not part of a wave.
    pub(super) fn mean_until(&self, elapsed: u64, now: u64) -> Option<(String, u64)> {
        let index = self.segment(elapsed)?;
        let Segment { from, lasts, value: Value::Sine(Sine { base, period, .. }) } = &self.segments[index]
        else {
            return None;
        };
        let period = whole_nanos(*period);
        let next = self.segments.get(index + 1).map_or(u64::MAX, |next| next.from);
        let end = now.min(next).min(from.saturating_add(*lasts));
        let periods = end.checked_sub(elapsed)? / period;
        (periods > PERIODS_MADE_UP_FOR)
            .then(|| (self.notation.text(base.millionths), elapsed + (periods - 1) * period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn course(values: &[(u64, u64, &str)]) -> Trajectory {
        let segment = |(from, lasts, value): &(u64, u64, &str)| Segment {
            from: *from,
            lasts: *lasts,
            value: Value::read(value).unwrap(),
        };
        let segments = values.iter().map(segment).collect();
        Trajectory { segments, notation: Notation { unit: "/s".to_owned(), is_whole: false } }
    }

    fn steps(course: &Trajectory, mut at: u64, until: u64) -> Vec<(u64, String)> {
        let mut steps = Vec::new();
        while let Some(next) = course.next_after(at).filter(|next| *next <= until) {
            assert!(next > at);
            at = next;
            steps.push((at, course.text(at).unwrap()));
        }
        steps
    }

    #[test]
    fn a_ramp_moves_in_equal_steps_and_stays_at_its_end_value() {
        let course = course(&[(S, 10 * S, "20..80"), (20 * S, u64::MAX, "5/s")]);
        assert_eq!((course.text(S - 1), course.text(S)), (None, Some("20/s".to_owned())));
        let steps = steps(&course, 0, 30 * S);
        assert_eq!(steps.len(), 1002);
        assert_eq!(steps[1], (S + 10_000_000, "20.06/s".to_owned()));
        assert_eq!(steps[1000], (11 * S, "80/s".to_owned()));
        assert_eq!(steps[1001], (20 * S, "5/s".to_owned()));
        for (at, text) in &steps {
            assert_eq!(course.text(*at).as_ref(), Some(text));
        }
        // A value is that of the start of its step, not of the next step.
        assert_eq!(course.text(S + 9_999_999).unwrap(), "20/s");
    }

    #[test]
    fn a_ramp_of_a_few_nanoseconds_is_a_step() {
        let course = course(&[(7, 3, "4..1")]);
        assert_eq!(steps(&course, 0, S), [(7, "4/s".to_owned()), (10, "1/s".to_owned())]);
    }

    #[test]
    fn a_wave_is_the_same_in_every_period_and_stays_where_it_ends() {
        let open = course(&[(40 * S, u64::MAX, "50+30*sin(20s)")]);
        let texts = [40, 45, 50, 55, 60, 65].map(|at| open.text(at * S).unwrap());
        assert_eq!(texts, ["50/s", "80/s", "50/s", "20/s", "50/s", "80/s"]);
        assert_eq!(steps(&open, 40 * S, 60 * S).len(), 1000);
        assert_eq!(open.whole(45 * S), Some(80));
        assert_eq!(open.greatest(), Some(80));
        let closed = course(&[(40 * S, 5 * S, "50-30*sin(20s)")]);
        assert_eq!(closed.text(100 * S).unwrap(), "20/s");
        assert_eq!(steps(&closed, 40 * S, 1000 * S).len(), 250);
    }

    #[test]
    fn many_periods_without_requests_count_as_their_mean() {
        let course = course(&[(0, u64::MAX, "50+30*sin(1s)")]);
        assert_eq!(course.mean_until(S / 2, 3 * S), None);
        assert_eq!(course.mean_until(S / 2, 1000 * S), Some(("50/s".to_owned(), 998 * S + S / 2)));
    }

    #[test]
    fn whole_numbers_are_the_nearest() {
        let notation = Notation { unit: String::new(), is_whole: true };
        assert_eq!(
            [20 * ONE + ONE / 2 - 1, 20 * ONE + ONE / 2].map(|number| notation.text(number)),
            ["20", "21"]
        );
    }
}
