//! Growth exponent: the power with which one figure grows with another.

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
    use super::*;

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
