//! Coverage of intervals, counted over many drawn samples: which promises their labels may make.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statistics::{Comparison, Level, Margin, Method, PairedRatio, Summary, holm_levels};

/// Draws a uniform number in (0, 1).
fn unit(rng: &mut impl Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Draws an exponential number with mean 1.
fn exponential(rng: &mut impl Rng) -> f64 {
    -libm::log(unit(rng))
}

/// Draws an approximately normal number: the sum of twelve uniform ones, less 6.
fn normal(rng: &mut impl Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

/// Returns the shares of families of six comparisons, with these true ratios, in which every interval covers its truth:
/// at Holm's levels, and at the level shared evenly by all.
fn jointly_held(truths: [f64; 6]) -> (f64, f64) {
    const FAMILIES: u32 = 3000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let (mut by_holm, mut by_sharing) = (0, 0);
    for _ in 0..FAMILIES {
        let runs: Vec<(Vec<f64>, Vec<f64>)> = truths
            .iter()
            .map(|truth| {
                let noise = |rng: &mut _| libm::exp(0.1 * normal(rng));
                (0..10).map(|_| (truth * noise(&mut rng), 1.0)).unzip()
            })
            .collect();
        let compared = |index: usize, level: Level| {
            let comparison = Comparison { level, method: Method::StudentT, margin: Margin::TWO_PERCENT };
            PairedRatio::new(&runs[index].0, &runs[index].1, comparison).unwrap()
        };
        let p_values: Vec<f64> = (0..6).map(|index| compared(index, Level::P95).p_value.unwrap()).collect();
        let levels = holm_levels(&p_values, Level::P95);
        let all = |level: &dyn Fn(usize) -> Level| {
            (0..6).all(|index| compared(index, level(index)).interval.unwrap().includes(truths[index]))
        };
        by_holm += u32::from(all(&|index| levels[index]));
        by_sharing += u32::from(all(&|_| Level::P95.shared_by(6)));
    }
    (f64::from(by_holm) / f64::from(FAMILIES), f64::from(by_sharing) / f64::from(FAMILIES))
}

/// They must not be labelled as joint.
#[test]
fn intervals_at_holm_levels_do_not_hold_jointly() {
    // All six differences are found, so the levels fall from 99.2 to 95 %, and one in eight families misses.
    let (by_holm, by_sharing) = jointly_held([0.5, 0.6, 0.7, 1.5, 1.7, 2.0]);
    assert!((0.85..0.92).contains(&by_holm), "{by_holm}");
    assert!((0.94..0.97).contains(&by_sharing), "{by_sharing}");
    // Without any difference, no interval excludes 1 in 95 % of the families: the purpose of the correction.
    let (by_holm, _) = jointly_held([1.0; 6]);
    assert!((0.94..0.97).contains(&by_holm), "{by_holm}");
}

#[test]
fn for_skewed_samples_intervals_cover_the_median_not_the_mean() {
    const SAMPLES: u32 = 2000;
    for count in [10, 30] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        // The cube of an exponential variate: mean 6, median (ln 2)³.
        let (mean, median) = (6.0, libm::pow(std::f64::consts::LN_2, 3.0));
        let (mut of_mean, mut of_median, mut skewed) = (0, 0, 0);
        for _ in 0..SAMPLES {
            let values: Vec<f64> = (0..count).map(|_| libm::pow(exponential(&mut rng), 3.0)).collect();
            let summary = Summary::new(&values, Level::P95, Method::StudentT).unwrap();
            of_mean += u32::from(summary.interval.unwrap().includes(mean));
            of_median += u32::from(summary.median_interval.unwrap().includes(median));
            skewed += u32::from(summary.too_skewed().is_some());
        }
        let share = |count: u32| f64::from(count) / f64::from(SAMPLES);
        assert!(share(of_mean) < 0.80, "{count}: {}", share(of_mean));
        assert!(share(of_median) > 0.94, "{count}: {}", share(of_median));
        assert!(share(skewed) > 0.8, "{count}: {}", share(skewed));
    }
}

#[test]
fn normal_samples_are_seldom_called_skewed() {
    for count in [5, 10, 30, 200] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        let skewed = (0..2000).filter(|_| {
            let values: Vec<f64> = (0..count).map(|_| normal(&mut rng)).collect();
            Summary::new(&values, Level::P95, Method::StudentT).unwrap().too_skewed().is_some()
        });
        let share = skewed.count() as f64 / 2000.0;
        assert!(share < 0.06, "{count}: {share}");
    }
}
