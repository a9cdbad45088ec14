//! Means of samples drawn with replacement, from one list of values or from many at once.
//!
//! The drawn indices depend on the seed and on the number of values, not on the values themselves. Lists of the same
//! length therefore share one sequence of random numbers, and each list gets the same means as if it were resampled
//! alone.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) fn resample(
    values: &[f64],
    resamples: usize,
    seed: u64,
    mut statistic: impl FnMut(&mut dyn Iterator<Item = f64>) -> f64,
) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..resamples)
        .map(|_| statistic(&mut (0..values.len()).map(|_| values[below(&mut rng, values.len())])))
        .collect()
}

/// Draws `resamples` samples from each list, and returns the means of the samples per list, in the order of drawing. Every list must have
/// `length` values.
pub(crate) fn means(lists: &[&[f64]], length: usize, resamples: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut means = Vec::with_capacity(lists.len());
    let mut rest = lists;
    while !rest.is_empty() {
        let width = rest.len().min(16);
        let (these, others) = rest.split_at(width);
        means.extend(match width {
            1 => means_of::<1>(these, length, resamples, seed),
            2..=4 => means_of::<4>(these, length, resamples, seed),
            5..=8 => means_of::<8>(these, length, resamples, seed),
            _ => means_of::<16>(these, length, resamples, seed),
        });
        rest = others;
    }
    means
}

/// Variant of [`means`] that computes the sums of at most `WIDTH` lists together. The sums are independent of each
/// other, so the processor can compute them in parallel.
fn means_of<const WIDTH: usize>(
    lists: &[&[f64]],
    length: usize,
    resamples: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let mut rows = vec![[0.0; WIDTH]; length];
    for (column, list) in lists.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(*list) {
            row[column] = *value;
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut means: Vec<Vec<f64>> = lists.iter().map(|_| Vec::with_capacity(resamples)).collect();
    for _ in 0..resamples {
        let mut sums = [0.0; WIDTH];
        for _ in 0..length {
            let row = &rows[below(&mut rng, length)];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        means.iter_mut().zip(sums).for_each(|(means, sum)| means.push(sum / length as f64));
    }
    means
}

/// Draws a random index below `limit`. The index is the upper half of the 128-bit product of a random number and `limit`. For lists as long
/// as any list of runs, its bias is below 2^-50.
#[expect(clippy::cast_possible_truncation, reason = "it is below the limit")]
fn below(rng: &mut impl Rng, limit: usize) -> usize {
    ((u128::from(rng.next_u64()) * limit as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_together_every_list_has_the_means_that_it_has_alone() {
        let list = |number: u32| -> Vec<f64> {
            (0..23).map(|run| f64::from(run * run + number * run) / f64::from(number + 3)).collect()
        };
        let lists: Vec<Vec<f64>> = (0..30).map(list).collect();
        for count in [1, 2, 4, 5, 8, 9, 16, 17, 30] {
            let these: Vec<&[f64]> = lists[..count].iter().map(Vec::as_slice).collect();
            let together = means(&these, 23, 50, 7);
            assert_eq!(together.len(), count);
            for (list, means) in these.iter().zip(together) {
                assert_eq!(means, resample(list, 50, 7, |picks| picks.sum::<f64>() / 23.0));
            }
        }
        assert!(means(&[], 23, 50, 7).is_empty());
    }
}
