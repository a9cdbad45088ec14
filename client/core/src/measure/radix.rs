//! Sort by digits (radix sort), for many numbers that differ only in some digits.

const DIGIT: u32 = 11;

/// Number of values below which a sort by comparisons is faster.
const FEW: usize = 2000;

/// Sorts the values in ascending order.
pub(super) fn sort(values: &mut [u64]) {
    if values.len() < FEW {
        return values.sort_unstable();
    }
    let differing = values.iter().fold(0, |bits, value| bits | value ^ values[0]);
    let mut other = vec![0; values.len()];
    // The number of rounds is even, so that the values end where they began.
    for shift in (0..u64::BITS).step_by(2 * DIGIT as usize).filter(|shift| differing >> shift != 0) {
        sort_by_digit(values, &mut other, shift);
        sort_by_digit(&other, values, shift + DIGIT);
    }
}

/// Copies the values to `to`, in the order of the digit at `shift`. Values with the same digit keep their order.
fn sort_by_digit(from: &[u64], to: &mut [u64], shift: u32) {
    #[expect(clippy::cast_possible_truncation, reason = "it is one digit")]
    let digit = |value: u64| (value >> shift) as usize % (1 << DIGIT);
    // Number of values with each digit, and then the place of the next value with this digit.
    let mut places = [0; 1 << DIGIT];
    for value in from {
        places[digit(*value)] += 1;
    }
    let mut before = 0;
    for place in &mut places {
        before += std::mem::replace(place, before);
    }
    for value in from {
        let place = &mut places[digit(*value)];
        to[*place] = *value;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sort_by_comparisons(bits in 0..64_u32, seed in any::<u64>(), count in 0..5000_u64) {
            let number = |index: u64| (index ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> bits;
            let mut values: Vec<u64> = (0..count).map(number).collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            super::sort(&mut values);
            prop_assert_eq!(values, expected);
        }
    }
}
