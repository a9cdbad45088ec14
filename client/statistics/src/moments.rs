//! Mean and standard deviation, computed in two passes and in the order of the values.

/// Returns the mean of the values. The mean is exactly the common value if all values are equal, and NaN if there are
/// no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let rough = values.iter().sum::<f64>() / count;
    // The second pass over the values removes the rounding error of the first pass.
    rough + values.iter().map(|value| value - rough).sum::<f64>() / count
}

pub(crate) fn deviation(values: &[f64], mean: f64) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_exactly_their_mean_and_no_deviation() {
        for count in 2..50 {
            let values = vec![0.1; count];
            assert!((mean(&values) - 0.1).abs() <= 0.0, "{count}");
            assert_eq!(deviation(&values, mean(&values)), Some(0.0), "{count}");
        }
    }

    #[test]
    fn a_large_offset_does_not_drown_the_deviation() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert!((mean(&values) - (1e9 + 10.0)).abs() < 1e-6);
        assert!((deviation(&values, mean(&values)).unwrap() - 30.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn one_value_has_no_deviation() {
        assert_eq!(deviation(&[3.0], 3.0), None);
    }
}
