//! Axes of charts: round ends and steps, linear or logarithmic.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    #[default]
    Linear,
    /// Logarithmic scale with powers of ten, starting at one. Smaller positive values are drawn as one.
    Logarithmic,
}

impl Scale {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Linear => Self::Logarithmic,
            Self::Logarithmic => Self::Linear,
        }
    }

    pub(crate) fn ceiling(self, value: f64) -> f64 {
        match self {
            Self::Linear => nice_ceiling(value),
            Self::Logarithmic => 10_f64.powf(value.max(10.0).log10().ceil()),
        }
    }

    pub(crate) fn share(self, value: f64, end: f64) -> f64 {
        let share = match self {
            Self::Linear => value / end,
            Self::Logarithmic if value <= 0.0 => 0.0,
            Self::Logarithmic => (value.log10() / end.log10()).max(0.001),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Returns the values at which an axis of `rows` rows is labelled, from the top down.
    pub(crate) fn ticks(self, end: f64, rows: u16) -> Vec<f64> {
        match self {
            Self::Linear => {
                let parts = if rows >= 10 { round_parts(end) } else { 2 };
                let parts = if rows >= 4 { parts } else { 1 };
                (0..=parts).rev().map(|part| end * f64::from(part) / f64::from(parts)).collect()
            }
            Self::Logarithmic => {
                let decades = end.log10().round();
                let every = (decades / f64::from(rows.max(2) - 1)).ceil().max(1.0);
                let count = (decades / every).floor();
                let steps = std::iter::successors(Some(count), |step| (*step >= 1.0).then_some(step - 1.0));
                steps.map(|step| 10_f64.powf(step * every)).collect()
            }
        }
    }
}

fn round_parts(end: f64) -> u8 {
    let leading = end / 10_f64.powf(end.log10().floor());
    match leading {
        l if l < 1.25 => 5,
        l if l < 1.75 || (2.5..3.5).contains(&l) || (5.0..7.0).contains(&l) => 3,
        _ => 4,
    }
}

/// Returns the smallest round value that is not below `value`: 1, 1.5, 2, 3, 4, 6 or 8 times a power of ten. Returns 1
/// for values up to 1.
pub(crate) fn nice_ceiling(value: f64) -> f64 {
    if value.is_nan() || value <= 1.0 {
        return 1.0;
    }
    let decade = 10_f64.powf(value.log10().floor());
    let multiples = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];
    multiples.iter().map(|multiple| multiple * decade).find(|end| *end >= value).unwrap_or(10.0 * decade)
}

/// Time spans up to 2 h that a chart can show, in seconds. When a run exceeds a span, the chart switches to the next
/// longer one. Until then the picture only fills up. If the span grew continuously, every frame would compress the
/// picture.
const SPANS_S: [f64; 20] = [
    5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0, 450.0, 600.0, 900.0, 1_200.0,
    1_800.0, 2_700.0, 3_600.0, 5_400.0, 7_200.0,
];

/// Returns the shortest round time span of at least `seconds`. Spans above 2 h are multiples of 2 h.
pub(crate) fn nice_span(seconds: f64) -> f64 {
    SPANS_S.into_iter().find(|span| *span >= seconds).unwrap_or_else(|| (seconds / 7_200.0).ceil() * 7_200.0)
}

/// Returns a round step in seconds that divides `span` into at most `parts` parts. Steps above 2 h are multiples of 2
/// h.
pub(crate) fn nice_step(span: f64, parts: f64) -> f64 {
    let steps =
        [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0];
    let wanted = span / parts.max(1.0);
    steps.into_iter().find(|step| *step >= wanted).unwrap_or_else(|| (wanted / 7_200.0).ceil() * 7_200.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "round values come out exactly")]
mod tests {
    use super::*;

    #[test]
    fn ends_are_round_and_not_below_the_value() {
        assert_eq!(
            [1.0, 1.5, 60.0, 80.0, 100.0, 3_000.0],
            [0.0, 1.2, 55.0, 61.0, 95.0, 2_100.0].map(nice_ceiling)
        );
        assert_eq!([10.0, 100.0, 1_000.0], [0.0, 83.0, 101.0].map(|value| Scale::Logarithmic.ceiling(value)));
        assert_eq!([5.0, 30.0, 14_400.0], [0.0, 22.0, 9_000.0].map(nice_span));
    }

    #[test]
    fn a_logarithmic_axis_spreads_decades_evenly() {
        let shares =
            [0.0, 10.0, 100.0, 1_000.0, 5_000.0].map(|value| Scale::Logarithmic.share(value, 1_000.0));
        for (share, wanted) in shares.into_iter().zip([0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0]) {
            assert!((share - wanted).abs() < 1e-9, "{shares:?}");
        }
        assert!(Scale::Logarithmic.share(0.5, 1_000.0) > 0.0, "a little is not nothing");
    }

    #[test]
    fn decades_are_labelled_as_far_as_there_is_room() {
        assert_eq!(Scale::Logarithmic.ticks(1_000.0, 8), [1_000.0, 100.0, 10.0, 1.0]);
        assert_eq!(Scale::Logarithmic.ticks(1_000.0, 3), [100.0, 1.0]);
        assert_eq!(Scale::Linear.ticks(60.0, 5), [60.0, 30.0, 0.0]);
        assert_eq!(Scale::Linear.ticks(150.0, 15), [150.0, 100.0, 50.0, 0.0]);
        assert_eq!(Scale::Linear.ticks(8.0, 15), [8.0, 6.0, 4.0, 2.0, 0.0]);
    }
}
