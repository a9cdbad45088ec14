//! Standard normal distribution: cumulative distribution function and quantiles.
//!
//! Quantiles are computed by algorithm AS 241, routine PPND16 (Wichura: "The percentage points of the normal
//! distribution", Applied Statistics 37, 1988), accurate to about 16 digits.

pub(crate) fn share_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the quantile of the standard normal distribution: the point below which this share of the population lies.
/// The quantile is infinite for shares of 0 and 1.
pub(crate) fn quantile(share: f64) -> f64 {
    let offset = share - 0.5;
    if offset.abs() <= 0.425 {
        return offset * ratio(0.180_625 - offset * offset, &CENTRE);
    }
    let tail = if offset < 0.0 { share } else { 1.0 - share };
    if tail <= 0.0 {
        return f64::INFINITY.copysign(offset);
    }
    let depth = (-libm::log(tail)).sqrt();
    let size = if depth <= 5.0 { ratio(depth - 1.6, &TAIL) } else { ratio(depth - 5.0, &FAR_TAIL) };
    size.copysign(offset)
}

/// Quotient of two polynomials, with coefficients from the constant term upwards.
struct Quotient {
    above: [f64; 8],
    below: [f64; 8],
}

fn ratio(x: f64, quotient: &Quotient) -> f64 {
    let polynomial = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
    polynomial(&quotient.above) / polynomial(&quotient.below)
}

/// Coefficients of AS 241 for shares within 0.425 of one half.
const CENTRE: Quotient = Quotient {
    above: [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    below: [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_545e3,
    ],
};

/// Coefficients of AS 241 for tails with a probability of at least exp(-25).
const TAIL: Quotient = Quotient {
    above: [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    below: [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_8e-9,
    ],
};

/// Coefficients of AS 241 for tails with a probability below exp(-25).
const FAR_TAIL: Quotient = Quotient {
    above: [
        6.657_904_643_501_104,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_049e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    below: [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_scipy_to_fourteen_digits() {
        // scipy 1.17.1, stats.norm.ppf
        for (share, expected) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-10, -6.361_340_902_404_056),
            (0.001, -3.090_232_306_167_813),
            (0.025, -1.959_963_984_540_054_5),
            (0.07, -1.475_791_028_179_170_6),
            (0.2, -0.841_621_233_572_914_2),
            (0.8, 0.841_621_233_572_914_3),
            (0.9999, 3.719_016_485_455_709),
        ] {
            let found = quantile(share);
            assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{share}: {found}");
        }
        assert!(quantile(0.5).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn the_ends_are_infinite() {
        assert!(quantile(0.0) == f64::NEG_INFINITY && quantile(1.0) == f64::INFINITY);
    }

    #[test]
    fn shares_agree_with_scipy() {
        // scipy 1.17.1, stats.norm.cdf
        for (z, expected) in [
            (-10.0, 7.619_853_024_160_47e-24),
            (-3.0, 0.001_349_898_031_630_093_3),
            (-1.0, 0.158_655_253_931_457_07),
            (0.5, 0.691_462_461_274_013_1),
            (4.0, 0.999_968_328_758_166_9),
        ] {
            let found = share_below(z);
            assert!((found - expected).abs() <= 1e-13 * expected, "{z}: {found}");
        }
    }

    #[test]
    fn the_quantile_undoes_the_share() {
        for step in 1..200 {
            let share = f64::from(step) / 200.0;
            assert!((share_below(quantile(share)) - share).abs() < 1e-15, "{share}");
        }
    }
}
