//! Numbers as people read them.

/// `1234567` as `1 234 567`.
pub(crate) fn thousands(number: u64) -> String {
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

/// So many of something: `1 seed`, `2 000 seeds`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Any number, short: at most four significant digits, thousands grouped.
pub(crate) fn short(number: f64) -> String {
    match number.abs() {
        size if size.is_infinite() => format!("{}∞", if number < 0.0 { "-" } else { "" }),
        size if size >= 10_000.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturation is what is wanted"
            )]
            let whole = size.round() as u64;
            format!("{}{}", if number < 0.0 { "-" } else { "" }, thousands(whole))
        }
        size if size >= 1000.0 || (number.fract() == 0.0) => format!("{number:.0}"),
        size if size >= 100.0 => format!("{number:.1}"),
        size if size >= 10.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
