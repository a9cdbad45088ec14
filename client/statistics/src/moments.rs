//! The mean, in two passes and in the order of the values.

/// The mean; exactly the common value when all are equal. NaN for no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let rough = values.iter().sum::<f64>() / count;
    // The second pass takes out the rounding error of the first.
    rough + values.iter().map(|value| value - rough).sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_exactly_their_mean() {
        for count in 2..50 {
            assert!((mean(&vec![0.1; count]) - 0.1).abs() <= 0.0, "{count}");
        }
    }
}
