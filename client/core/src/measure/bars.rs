//! Bars of a latency histogram: ranges between round bounds, with the number of latencies in each.

use serde::{Deserialize, Serialize};

/// Maximum number of bars. They show the shape of a distribution, and a terminal joins them to even fewer.
const MAX_BARS: usize = 24;

/// Bounds of bars within one power of ten, from the finest to the coarsest, in tenths.
const STEPS: [&[u64]; 3] = [&[10, 15, 20, 30, 50, 70], &[10, 20, 50], &[10]];

/// Latencies above the bound of the previous bar, up to the bound of this one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct LatencyBar {
    /// Upper bound in milliseconds, included.
    pub to_ms: f64,
    /// Number of attempts with such a latency.
    pub attempts: u64,
}

/// Counts values, given as pairs of microseconds and a count in ascending order, in bars from the smallest to the largest value.
pub(super) fn bars(values: &[(u64, u64)]) -> Vec<LatencyBar> {
    let (Some((min, _)), Some((max, _))) = (values.first(), values.last()) else { return Vec::new() };
    let mut bars: Vec<(u64, u64)> = bounds(*min, *max).into_iter().map(|bound| (bound, 0)).collect();
    for (value, count) in values {
        let place = bars.partition_point(|(bound, _)| bound < value);
        if let Some((_, attempts)) = bars.get_mut(place) {
            *attempts += count;
        }
    }
    bars.into_iter().map(|(bound, attempts)| LatencyBar { to_ms: bound as f64 / 1e3, attempts }).collect()
}

/// Returns the upper bounds of bars in microseconds. The bars have equal widths if the largest value is at most ten times the smallest,
/// otherwise equal ratios.
fn bounds(min: u64, max: u64) -> Vec<u64> {
    if max <= min.saturating_mul(10) {
        let steps = (0..).map(|power| 10_u64.saturating_pow(power)).flat_map(|ten| [ten, 2 * ten, 5 * ten]);
        let mut ranges = steps.map(|step| (step, min.div_ceil(step)..=max.div_ceil(step)));
        let fits = ranges.find(|(_, range)| range.end() - range.start() < MAX_BARS as u64);
        return fits.map_or_else(Vec::new, |(step, range)| range.map(|index| index * step).collect());
    }
    let all = STEPS.iter().map(|steps| {
        let powers = (0..18).map(|power| 10_u64.pow(power));
        let all =
            powers.flat_map(|ten| steps.iter().map(move |step| step * ten)).skip_while(|bound| *bound < min);
        let mut below = true;
        all.take_while(|bound| std::mem::replace(&mut below, *bound < max)).collect::<Vec<_>>()
    });
    let mut all = all.collect::<Vec<_>>();
    let fits = all.iter().position(|bounds| bounds.len() <= MAX_BARS).unwrap_or(STEPS.len() - 1);
    all.swap_remove(fits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[(u64, u64)]) -> Vec<(f64, u64)> {
        bars(values).into_iter().map(|bar| (bar.to_ms, bar.attempts)).collect()
    }

    #[test]
    fn near_values_have_bars_of_equal_width_and_distant_ones_of_equal_ratio() {
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[(20_000, 5)]), [(20.0, 5)]);
        assert_eq!(of(&[(1000, 1), (2000, 2), (2001, 3)]), {
            let mut all: Vec<_> = (20..=41).map(|bound| (f64::from(bound) / 20.0, 0)).collect();
            (all[0].1, all[20].1, all[21].1) = (1, 2, 3);
            all
        });
        let wide = of(&[(900, 1), (1000, 2), (1001, 4), (99_000, 8)]);
        let bounds: Vec<f64> = wide.iter().map(|(bound, _)| *bound).collect();
        assert_eq!(bounds, [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0]);
        assert_eq!((wide[0].1, wide[1].1, wide[12].1), (3, 4, 8));
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_of_few_bars(
            mut values in prop::collection::vec((prop_oneof![0..10_u64, 0..100_000_u64, 0..=86_400_000_000_u64], 1..9_u64), 1..60)
        ) {
            values.sort_unstable();
            let bars = bars(&values);
            prop_assert!((1..=MAX_BARS).contains(&bars.len()), "{:?}", bars);
            prop_assert_eq!(
                bars.iter().map(|bar| bar.attempts).sum::<u64>(),
                values.iter().map(|(_, count)| count).sum::<u64>()
            );
            prop_assert!(bars.is_sorted_by(|one, next| one.to_ms < next.to_ms), "{:?}", bars);
            prop_assert!(bars[0].attempts > 0 && bars[bars.len() - 1].attempts > 0, "{:?}", bars);
        }
    }
}
