//! Formatting of whole numbers with their digits in groups of three, such as `1 234 567`.

pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_in_threes_from_the_right() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1 000"), (12_345_678, "12 345 678")] {
            assert_eq!(thousands(number), text);
        }
    }
}
