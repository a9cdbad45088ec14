//! Mapping of values to positions on an axis, with round ends and ticks.

use super::{Axis, Scale, number};

/// Minimum ratio of the lower end to the upper end of a logarithmic axis.
const DEEPEST: f64 = 1e-5;

#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    scale: Scale,
    pub from: f64,
    pub to: f64,
    pub ticks: Vec<(f64, String)>,
}

impl Span {
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, ticks: usize) -> Self {
        if !axis.names.is_empty() {
            return named(&axis.names);
        }
        let values = values.filter(|value| value.is_finite());
        let wider = |(low, high): (f64, f64), value: f64| (value.min(low), value.max(high));
        let reaches = [axis.reaches].into_iter().filter(|value| value.is_finite());
        if axis.scale == Scale::Fitted {
            let ends = values.fold((f64::INFINITY, f64::NEG_INFINITY), wider);
            return linear(if ends.0 < ends.1 { ends } else { (0.0, ends.1.max(1.0)) }, ticks);
        }
        let values = values.chain(reaches);
        match axis.scale {
            Scale::Linear | Scale::Fitted => linear(values.fold((0.0, 0.0), wider), ticks),
            Scale::Logarithmic => {
                logarithmic(values.filter(|value| *value > 0.0).fold((f64::INFINITY, 0.0), wider), ticks)
            }
            Scale::Nines => nines(values.fold(0.9, f64::max)),
        }
    }

    /// Returns the position of a value on the axis, 0 to 1. Values beyond an end of the axis are drawn at this end.
    pub fn share(&self, value: f64) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear | Scale::Fitted => value,
            Scale::Logarithmic => value.max(self.from).log10(),
            Scale::Nines => -(1.0 - value).max(1e-15).log10(),
        };
        let (from, to) = (place(self.from), place(self.to));
        let share = (place(value) - from) / (to - from);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the name of the axis' scale. The script of the report uses this name to convert positions back to
    /// values.
    pub fn scale_name(&self) -> &'static str {
        match self.scale {
            Scale::Linear | Scale::Fitted => "linear",
            Scale::Logarithmic => "log",
            Scale::Nines => "nines",
        }
    }
}

fn named(names: &[String]) -> Span {
    let ticks = names.iter().enumerate().map(|(index, name)| (index as f64, name.clone())).collect();
    Span { scale: Scale::Linear, from: -0.5, to: names.len() as f64 - 0.5, ticks }
}

fn linear((low, high): (f64, f64), ticks: usize) -> Span {
    let width = if high > low { high - low } else { 1.0 };
    let step = nice_step(width / ticks.max(1) as f64);
    let first = (low / step).floor();
    // The axis ends at the first quarter of a step that is at or above the highest value. Ending at the next whole step
    // would waste more room.
    let end = ((if high > low { high } else { low + 1.0 }) / step * 4.0 - 1e-6).ceil() / 4.0;
    let steps = std::iter::successors(Some(first), |index| (index + 1.0 <= end).then_some(index + 1.0));
    let ticks = steps.map(|index| (index * step, label(index * step, step))).collect();
    Span { scale: Scale::Linear, from: first * step, to: end * step, ticks }
}

fn label(value: f64, step: f64) -> String {
    if step >= 1.0 {
        return number_of_tick(value);
    }
    let decimals = (0..=6).find(|digits| is_whole(step * 10_f64.powi(*digits))).unwrap_or(6);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6 && value >= 0.5
}

/// Formats a tick in thousands (k), millions (M) or billions (G), because long numbers would not fit beside an axis.
fn number_of_tick(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => format!("{} G", number(value / 1e9)),
        size if size >= 1e6 => format!("{} M", number(value / 1e6)),
        size if size >= 1e5 => format!("{} k", number(value / 1e3)),
        size if size >= 1.0 => number(value.round()),
        _ => number(value),
    }
}

/// Returns the smallest round step that is at least `wanted`. Round steps are 1, 2 or 5 times a power of ten.
pub(super) fn nice_step(wanted: f64) -> f64 {
    let decade = 10_f64.powf(wanted.max(1e-12).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|multiple| multiple * decade)
        .into_iter()
        .find(|step| *step >= wanted * (1.0 - 1e-9))
        .unwrap_or(wanted)
}

fn logarithmic((low, high): (f64, f64), ticks: usize) -> Span {
    if high <= 0.0 {
        return logarithmic((1.0, 10.0), ticks);
    }
    let round = [1.0, 2.0, 5.0];
    let (lowest, highest) = (low.max(high * DEEPEST).log10().floor(), high.log10().ceil());
    let decades = std::iter::successors(Some(lowest), |decade| (*decade < highest).then_some(decade + 1.0));
    let candidates: Vec<f64> =
        decades.flat_map(|decade| round.map(|multiple| multiple * 10_f64.powf(decade))).collect();
    let low = low.max(high * DEEPEST) * (1.0 + 1e-9);
    let start = candidates.iter().rposition(|value| *value <= low).unwrap_or(0);
    let end =
        candidates.iter().position(|value| *value >= high * (1.0 - 1e-9)).unwrap_or(candidates.len() - 1);
    // If all values are equal, the axis extends on both sides of this value.
    let (start, end) = if end > start {
        (start, end)
    } else {
        (start.saturating_sub(1), (end + 1).min(candidates.len() - 1))
    };
    let between = &candidates[start..=end];
    let shown: Vec<f64> = if between.len() <= ticks {
        between.to_vec()
    } else {
        let decades: Vec<f64> = between
            .iter()
            .copied()
            .filter(|value| (value.log10() - value.log10().round()).abs() < 1e-9)
            .collect();
        let every = decades.len().div_ceil(ticks).max(1);
        decades.into_iter().step_by(every).collect()
    };
    let ticks = shown.into_iter().map(|value| (value, number_of_tick(value))).collect();
    Span { scale: Scale::Logarithmic, from: candidates[start], to: candidates[end], ticks }
}

fn nines(last: f64) -> Span {
    const SHARES: [(f64, &str); 8] = [
        (0.0, "0 %"),
        (0.5, "50 %"),
        (0.9, "90 %"),
        (0.99, "99 %"),
        (0.999, "99.9 %"),
        (0.999_9, "99.99 %"),
        (0.999_99, "99.999 %"),
        (0.999_999, "5 nines +"),
    ];
    let to = last.clamp(0.9, 0.999_999);
    let ticks =
        SHARES.iter().filter(|(share, _)| *share <= to).map(|(share, label)| (*share, (*label).to_owned()));
    Span { scale: Scale::Nines, from: 0.0, to, ticks: ticks.collect() }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "round values come out exactly")]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64], ticks: usize) -> Vec<String> {
        Span::new(axis, values.iter().copied(), ticks).ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_start_at_zero() {
        let axis = Axis::linear("", "");
        assert_eq!(labels(&axis, &[25.2], 6), ["0", "5", "10", "15", "20", "25"]);
        assert_eq!(Span::new(&axis, [25.2].into_iter(), 6).to, 26.25);
        assert_eq!(labels(&axis, &[0.93], 4), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&axis, &[0.0], 4), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&axis, &[-3.0, 9.0], 3), ["-5", "0", "5", "10"]);
        assert_eq!(labels(&axis, &[2_300_000.0], 3), ["0", "1 M", "2 M"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_their_parts() {
        let axis = Axis::logarithmic("", "");
        assert_eq!(labels(&axis, &[2_088.0, 17_400.0], 5), ["2 000", "5 000", "10 000", "20 000"]);
        assert_eq!(labels(&axis, &[1.0, 1e5], 6), ["1", "10", "100", "1 000", "10 000", "100 k"]);
        assert!(labels(&axis, &[50.0], 5).len() > 1);
        assert!(labels(&axis, &[0.0], 5).len() > 1);
    }

    #[test]
    fn nines_are_equally_far_apart() {
        let axis = Axis { scale: Scale::Nines, ..Axis::default() };
        let span = Span::new(&axis, [0.999].into_iter(), 5);
        assert_eq!(span.ticks.last().map(|(_, label)| label.as_str()), Some("99.9 %"));
        for (share, wanted) in
            [0.0, 0.9, 0.99, 0.999, 2.0].into_iter().zip([0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0])
        {
            assert!((span.share(share) - wanted).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn nothing_lies_outside() {
        let span = Span::new(&Axis::linear("", ""), [10.0].into_iter(), 5);
        assert_eq!(
            [f64::NAN, f64::INFINITY, -5.0, 20.0].map(|value| span.share(value)),
            [0.0, 0.0, 0.0, 1.0]
        );
    }
}
