//! Student's t distribution: tail probability and quantiles.
//!
//! The tail is half the regularised incomplete beta function (Abramowitz and Stegun 26.7.1 and 26.5.8). Its continued
//! fraction is evaluated by Lentz's method (Thompson and Barnett: "Coulomb and Bessel functions of complex arguments
//! and order", 1986). Tail and quantile are accurate to 10 digits up to 100 000 degrees of freedom. Both functions are
//! implemented here, because existing crates call the platform's float functions or give only six digits.

use crate::normal;

/// Returns the share of a population with Student's t distribution that lies above `t`, 0 to 1. `freedom` is the number
/// of degrees of freedom and must be at least one.
pub(crate) fn share_above(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - share_above(-t, freedom);
    }
    let (a, b) = (freedom / 2.0, 0.5);
    let square = t * t;
    // Compute x = freedom / (freedom + t²); its logarithm and its complement are computed without cancellation.
    let (x, rest) = (freedom / (freedom + square), square / (freedom + square));
    if rest <= 0.0 {
        return 0.5;
    }
    let front = libm::exp(-a * libm::log1p(square / freedom) + b * libm::log(rest) - log_beta(freedom));
    // The continued fraction converges fast only if x is below (a + 1) / (a + b + 2). For a larger x, the result
    // follows from the symmetry of the beta function.
    if x < (a + 1.0) / (a + b + 2.0) {
        0.5 * front * beta_fraction(x, a, b) / a
    } else {
        0.5 - 0.5 * front * beta_fraction(rest, b, a) / b
    }
}

/// Returns the point above which this share of a population with Student's t distribution lies. The share must be above
/// 0 and at most one half.
///
/// The method is Newton's, started at the normal quantile. This start lies left of the root, because t has heavier
/// tails. The tail is convex on the positive side, so every step stays left of the root, and the steps cannot diverge.
pub(crate) fn quantile_above(share: f64, freedom: f64) -> f64 {
    let mut t = -normal::quantile(share);
    for _ in 0..100 {
        let step = (share_above(t, freedom) - share) / density(t, freedom);
        t += step;
        if step <= 1e-14 * t {
            break;
        }
    }
    t
}

fn density(t: f64, freedom: f64) -> f64 {
    let shape = -0.5 * (freedom + 1.0) * libm::log1p(t * t / freedom);
    libm::exp(shape - log_beta(freedom)) / freedom.sqrt()
}

/// Returns the logarithm of the beta function B(freedom/2, 1/2).
fn log_beta(freedom: f64) -> f64 {
    let a = freedom / 2.0;
    // The term lgamma(1/2) is half the logarithm of pi.
    libm::lgamma(a) + 0.5 * libm::log(std::f64::consts::PI) - libm::lgamma(a + 0.5)
}

/// Evaluates the continued fraction of the incomplete beta function at `x`, without the leading factor.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    /// Smallest denominator in Lentz's method. A denominator that is closer to 0 is replaced by this value.
    const TINY: f64 = 1e-300;
    let solid = |value: f64| if value.abs() < TINY { TINY } else { value };

    let mut rising = 1.0;
    let mut falling = 1.0 / solid(1.0 - (a + b) * x / (a + 1.0));
    let mut value = falling;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            falling = 1.0 / solid(1.0 + numerator * falling);
            rising = solid(1.0 + numerator / rising);
            change = rising * falling;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_scipy_to_ten_digits() {
        // scipy 1.17.1, stats.t.isf(1 - p, freedom)
        for (freedom, share, expected) in [
            (1.0, 0.6, 0.324_919_696_232_906_34),
            (1.0, 0.975, 12.706_204_736_174_694),
            (1.0, 0.9995, 636.619_248_768_789_7),
            (2.0, 0.975, 4.302_652_729_749_462),
            (2.0, 0.9995, 31.599_054_576_445_365),
            (4.0, 0.6, 0.270_722_294_707_597_6),
            (4.0, 0.975, 2.776_445_105_197_793_4),
            (10.0, 0.975, 2.228_138_851_986_274),
            (19.0, 0.975, 2.093_024_054_408_308_7),
            (19.0, 0.999_999, 6.723_394_282_186_01),
            (200.0, 0.975, 1.971_896_223_633_908_8),
            (1000.0, 0.9995, 3.300_282_648_423_944),
            (100_000.0, 0.975, 1.959_987_707_534_609_5),
        ] {
            let found = quantile_above(1.0 - share, freedom);
            assert!((found - expected).abs() <= 1e-10 * expected, "{freedom} {share}: {found}");
        }
    }

    #[test]
    fn tails_agree_with_scipy_to_ten_digits() {
        // scipy 1.17.1, stats.t.sf
        for (freedom, t, expected) in [
            (1.0, 0.1, 0.468_274_482_569_446_5),
            (1.0, 8.0, 0.039_583_424_160_565_546),
            (2.0, 2.5, 0.064_805_860_110_755_41),
            (4.0, 1.0, 0.186_950_483_150_029_43),
            (10.0, 8.0, 5.887_471_394_833_083e-6),
            (19.0, 2.5, 0.010_870_205_584_198_72),
            (200.0, 8.0, 4.939_600_454_665_298e-14),
            (1000.0, 0.1, 0.460_182_184_511_802_04),
            (100_000.0, 2.5, 0.006_210_459_596_279_525_5),
        ] {
            let found = share_above(t, freedom);
            assert!((found - expected).abs() <= 1e-10 * expected, "{freedom} {t}: {found}");
            assert!((share_above(-t, freedom) - (1.0 - found)).abs() < 1e-15);
        }
    }

    #[test]
    fn half_the_population_is_above_zero() {
        assert!((share_above(0.0, 7.0) - 0.5).abs() < 1e-15);
        assert!(quantile_above(0.5, 7.0).abs() < 1e-15);
    }

    #[test]
    fn the_quantile_undoes_the_tail() {
        for freedom in [1.0, 3.0, 8.0, 30.0, 999.0] {
            for share in [0.49, 0.3, 0.05, 1e-3, 1e-8, 1e-12] {
                let found = share_above(quantile_above(share, freedom), freedom);
                assert!((found - share).abs() < 1e-11 * share, "{freedom} {share}: {found}");
            }
        }
    }
}
