//! Timeline of one figure: the value of a number or word as a function of the run's time. The value changes in steps.
//!
//! Continuous changes are divided into equal steps of 10 ms or more. A ramp has at most 1000 steps, and a wave has at most 1000 steps per
//! period. During a step, the value is constant. The value at the start of the step is computed from the time alone, so it does not depend
//! on when requests arrive. The last step of a ramp has the ramp's second value. Because the number of steps is limited, only few of them
//! must be processed after a period without requests.

use vocabulary::sine_of_turn;

use super::quantity::{ONE, number_text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Text(String),
    /// Value of a scheduled setting that is a number, in millionths.
    Number(i64),
}

/// Values of one figure during a run, as segments in order of time. Times are in nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trajectory {
    segments: Vec<Segment>,
    notation: Notation,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) from: u64,
    pub(super) shape: Shape,
}

/// Shape of a segment. Numbers are in millionths, times in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Constant(String),
    Ramp {
        from: i64,
        to: i64,
        takes: u64,
    },
    /// Sine wave around `base`. The amplitude is negative if the wave first falls. After the time `lasts`, the value stays constant.
    Wave {
        base: i64,
        amplitude: i64,
        period: u64,
        lasts: u64,
    },
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
        let (length, least) = match self.shape {
            Shape::Constant(_) => return None,
            Shape::Ramp { takes, .. } => (takes, 1),
            Shape::Wave { period, .. } => (period, 10),
        };
        Some((length, (length / MIN_STEP).clamp(least, MAX_STEPS)))
    }

    /// Returns the index of the step that has begun last at the time `since`, counted from the start of the segment.
    fn step(&self, since: u64) -> u64 {
        let Some((length, steps)) = self.steps() else { return 0 };
        let since = match self.shape {
            Shape::Wave { lasts, .. } => since.min(lasts),
            _ => since.min(length),
        };
        // Step k of the segment begins at ⌊length × k / steps⌋. The result is the last step that begins at `since` or earlier.
        let step = ((u128::from(since) + 1) * u128::from(steps) - 1) / u128::from(length);
        u64::try_from(step).unwrap_or(u64::MAX)
    }

    /// Returns the start of a step of a changing value, counted from the start of the segment that contains the step. `None` if the segment
    /// has no such step.
    fn begins(&self, step: u64) -> Option<u64> {
        let (length, steps) = self.steps()?;
        let since = u64::try_from(u128::from(length) * u128::from(step) / u128::from(steps)).ok()?;
        let lasts = match self.shape {
            Shape::Wave { lasts, .. } => lasts,
            _ => length,
        };
        (since <= lasts).then_some(since)
    }

    fn point(&self, since: u64) -> Point {
        let (step, steps) = (self.step(since), self.steps().map_or(1, |(_, steps)| steps));
        match &self.shape {
            Shape::Constant(text) => Point::Text(text.clone()),
            Shape::Ramp { from, to, .. } => {
                let (way, steps) = (i128::from(to - from), i128::from(steps));
                let gone = (2 * way * i128::from(step) + way.signum() * steps) / (2 * steps);
                Point::Number(from + i64::try_from(gone).unwrap_or(to - from))
            }
            Shape::Wave { base, amplitude, .. } => {
                let most = amplitude.abs();
                #[expect(clippy::cast_possible_truncation, reason = "it is no larger than the amplitude")]
                let off = (sine_of_turn(step, steps) * *amplitude as f64).round() as i64;
                Point::Number(base + off.clamp(-most, most))
            }
        }
    }
}

impl Trajectory {
    pub(super) fn new(segments: Vec<Segment>, notation: Notation) -> Self {
        Self { segments, notation }
    }

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
            Point::Number(millionths) => u32::try_from((millionths + ONE / 2) / ONE).ok(),
        }
    }

    /// Returns the greatest value of the timeline, rounded to a whole number. `None` if any value of the timeline is not a number.
    pub(crate) fn greatest(&self) -> Option<u32> {
        let most = self.segments.iter().map(|segment| match &segment.shape {
            Shape::Constant(text) => text.parse().ok(),
            Shape::Ramp { from, to, .. } => u32::try_from((*from.max(to) + ONE / 2) / ONE).ok(),
            Shape::Wave { base, amplitude, .. } => {
                u32::try_from((base + amplitude.abs() + ONE / 2) / ONE).ok()
            }
        });
        most.collect::<Option<Vec<u32>>>()?.into_iter().max()
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
        let Segment { from, shape: Shape::Wave { base, period, lasts, .. } } = &self.segments[index] else {
            return None;
        };
        let next = self.segments.get(index + 1).map_or(u64::MAX, |next| next.from);
        let end = now.min(next).min(from.saturating_add(*lasts));
        let periods = end.checked_sub(elapsed)? / period;
        (periods > PERIODS_MADE_UP_FOR).then(|| (self.notation.text(*base), elapsed + (periods - 1) * period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn course(shapes: Vec<(u64, Shape)>) -> Trajectory {
        let segments = shapes.into_iter().map(|(from, shape)| Segment { from, shape }).collect();
        Trajectory::new(segments, Notation { unit: "/s".to_owned(), is_whole: false })
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
        let course = course(vec![
            (S, Shape::Ramp { from: 20 * ONE, to: 80 * ONE, takes: 10 * S }),
            (20 * S, Shape::Constant("5/s".to_owned())),
        ]);
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
        let course = course(vec![(7, Shape::Ramp { from: 4 * ONE, to: ONE, takes: 3 })]);
        assert_eq!(steps(&course, 0, S), [(7, "4/s".to_owned()), (10, "1/s".to_owned())]);
    }

    #[test]
    fn a_wave_is_the_same_in_every_period_and_stays_where_it_ends() {
        let wave = Shape::Wave { base: 50 * ONE, amplitude: 30 * ONE, period: 20 * S, lasts: u64::MAX };
        let open = course(vec![(40 * S, wave.clone())]);
        let texts = [40, 45, 50, 55, 60, 65].map(|at| open.text(at * S).unwrap());
        assert_eq!(texts, ["50/s", "80/s", "50/s", "20/s", "50/s", "80/s"]);
        assert_eq!(steps(&open, 40 * S, 60 * S).len(), 1000);
        assert_eq!(open.whole(45 * S), Some(80));
        assert_eq!(open.greatest(), Some(80));
        let Shape::Wave { base, amplitude, period, .. } = wave else { unreachable!("see above") };
        let closed =
            course(vec![(40 * S, Shape::Wave { base, amplitude: -amplitude, period, lasts: 5 * S })]);
        assert_eq!(closed.text(100 * S).unwrap(), "20/s");
        assert_eq!(steps(&closed, 40 * S, 1000 * S).len(), 250);
    }

    #[test]
    fn many_periods_without_requests_count_as_their_mean() {
        let wave = Shape::Wave { base: 50 * ONE, amplitude: 30 * ONE, period: S, lasts: u64::MAX };
        let course = course(vec![(0, wave)]);
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
