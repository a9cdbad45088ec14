//! Analysis of rhythms in a series of evenly spaced values: removal of the trend, autocorrelation, and the exponent of
//! growth between two points.

use crate::moments;

/// Subtracts from the series its centred moving average over `2 * reach + 1` values, which is always an odd number.
///
/// Only values with a whole averaging window are returned. The result is `2 * reach` values shorter than the series and
/// starts at index `reach` of the series. The result is empty if the window is longer than the series.
pub fn detrended(series: &[f64], reach: usize) -> Vec<f64> {
    let window = reach.saturating_mul(2).saturating_add(1);
    series.windows(window).map(|values| values[reach] - moments::mean(values)).collect()
}

/// Returns the autocorrelation at this lag: the correlation of the series with itself `lag` steps later, from -1 to 1,
/// with the mean removed. At lag 0 the autocorrelation is 1.
///
/// The estimator is the usual one, which divides by the sum of all squares at every lag (Box and Jenkins, "Time Series
/// Analysis", 1970, section 2.1). Returns `None` if the lag leaves no pair, if the series does not vary, or if a value
/// is not finite.
pub fn autocorrelation(series: &[f64], lag: usize) -> Option<f64> {
    let later = series.get(lag..).filter(|later| !later.is_empty())?;
    let mean = moments::mean(series);
    let squares: f64 = series.iter().map(|value| (value - mean) * (value - mean)).sum();
    let products: f64 = series.iter().zip(later).map(|(now, then)| (now - mean) * (then - mean)).sum();
    (squares > 0.0 && squares.is_finite()).then(|| (products / squares).clamp(-1.0, 1.0))
}

/// Returns the exponent k of y ∝ x^k through two points (x, y): ln(y1/y0) / ln(x1/x0). An exponent of 1 is linear
/// growth, 2 quadratic growth.
///
/// Returns `None` unless all four coordinates are positive and finite and the two x differ.
pub fn growth_exponent(from: (f64, f64), to: (f64, f64)) -> Option<f64> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if ![from.0, from.1, to.0, to.1].into_iter().all(usable) {
        return None;
    }
    // Logarithms are taken before the division, because the quotients could overflow.
    let wider = libm::log(to.0) - libm::log(from.0);
    let higher = libm::log(to.1) - libm::log(from.1);
    (wider != 0.0).then(|| higher / wider)
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;

    fn square_wave(len: usize) -> Vec<f64> {
        (0..len).map(|step| if step % 4 < 2 { 1.0 } else { 5.0 }).collect()
    }

    #[test]
    fn a_wave_is_like_itself_after_a_period_and_unlike_after_half() {
        let wave = square_wave(400);
        assert!((autocorrelation(&wave, 4).unwrap() - 0.99).abs() < 1e-12);
        assert!((autocorrelation(&wave, 2).unwrap() + 0.995).abs() < 1e-12);
        assert_eq!(autocorrelation(&wave, 0), Some(1.0));
    }

    #[test]
    fn autocorrelation_follows_its_formula() {
        // Distances from the mean 4: -3, -2, 0, 5; squares 38, products at lag 1: 6 + 0 + 0.
        assert!((autocorrelation(&[1.0, 2.0, 4.0, 9.0], 1).unwrap() - 6.0 / 38.0).abs() < 1e-15);
    }

    #[test]
    fn what_does_not_vary_or_is_too_short_has_no_autocorrelation() {
        assert_eq!(autocorrelation(&[0.1; 9], 1), None);
        assert_eq!(autocorrelation(&[1.0, 2.0], 2), None);
        assert_eq!(autocorrelation(&[], 0), None);
        assert_eq!(autocorrelation(&[1.0, f64::NAN, 3.0], 1), None);
    }

    #[test]
    fn a_straight_line_has_nothing_left() {
        let line: Vec<f64> = (0..20).map(|step| 3.0 + 0.5 * f64::from(step)).collect();
        let rest = detrended(&line, 3);
        assert_eq!(rest.len(), 14);
        assert!(rest.iter().all(|value| value.abs() < 1e-12), "{rest:?}");
    }

    #[test]
    fn only_whole_windows_count() {
        assert_eq!(detrended(&[1.0, 4.0, 1.0], 1), [2.0]);
        assert!(detrended(&[1.0, 4.0], 1).is_empty());
        assert!(detrended(&[], 0).is_empty());
        assert!(detrended(&[1.0], usize::MAX).is_empty());
    }

    proptest! {
        #[test]
        fn autocorrelation_lies_between_its_limits(
            series in prop::collection::vec(-1e6..1e6_f64, 0..50),
            lag in 0..60_usize,
        ) {
            if let Some(value) = autocorrelation(&series, lag) {
                prop_assert!((-1.0..=1.0).contains(&value));
            }
        }
    }

    #[test]
    fn powers_have_their_exponent() {
        for (to, expected) in
            [((200.0, 7.0), 0.0), ((200.0, 14.0), 1.0), ((300.0, 63.0), 2.0), ((400.0, 3.5), -0.5)]
        {
            let found = growth_exponent((100.0, 7.0), to).unwrap();
            assert!((found - expected).abs() < 1e-12, "{to:?}: {found}");
        }
    }

    #[test]
    fn points_without_a_power_between_them_have_none() {
        for (from, to) in [
            ((1.0, 2.0), (1.0, 3.0)),
            ((0.0, 2.0), (1.0, 3.0)),
            ((1.0, 0.0), (2.0, 3.0)),
            ((1.0, 2.0), (2.0, -3.0)),
            ((1.0, 2.0), (f64::INFINITY, 3.0)),
        ] {
            assert_eq!(growth_exponent(from, to), None, "{from:?} {to:?}");
        }
    }
}
