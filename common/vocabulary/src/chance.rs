//! The only source of randomness in `loadgen` and `mockserver`: small random generators, each with a key that depends
//! on its use.
//!
//! A random draw depends only on the run's seed, the purpose of the draw, the op and the attempt. Therefore every
//! strategy gets the same random numbers, and the order of events does not matter. The simulator and the HTTP driver
//! also draw the same numbers. Keys are mixed with the finaliser of `SplitMix64` (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", OOPSLA 2014). Because of this mixing, the random numbers of neighbouring seeds are
//! unrelated.

use rand_core::{Rng, SeedableRng};

pub type Draws = rand_xoshiro::SplitMix64;

/// Purpose of a stream of random draws. Streams of different purposes are unrelated, because the value of each purpose distinguishes
/// its streams: an arbitrary odd number. Changing a value changes every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u64)]
pub enum Purpose {
    Arrivals = 0x9e6c_63d0_876a_68af,
    /// Random draw of the time that the server works on an accepted op. The draw is keyed by op and not by attempt, so
    /// every attempt of an op needs the same time.
    ServiceTime = 0xd1b5_4a32_d192_ed03,
    RejectTime = 0xabc9_8388_fb8f_ac03,
    Network = 0x8cb9_2ba7_2f3d_8dd7,
    NetworkReturn = 0xe703_7ed1_a0b4_28db,
    /// Network delay of a write to the server, if the write is the second step of a conditional write. The first step
    /// is a read.
    WriteNetwork = 0x8ebc_6af0_9c88_c6e3,
    WriteReturn = 0x5899_65cc_7537_4cc3,
    Loss = 0x1d8e_4e27_c47d_124f,
    /// Random choice of the requests that an overloaded queue serves.
    Subset = 0xeb44_acca_b455_d165,
    Startup = 0xc6a4_a793_5bd1_e995,
    /// Random error that is added to the server's retry advice, and the decision whether the server gives any advice.
    Advice = 0xb492_b66f_be98_f273,
    Rejection = 0x6c62_272e_07bb_0143,
    Fault = 0xc2b2_ae3d_27d4_eb4f,
    Backoff = 0xaef1_7502_108e_f2d9,
    /// Random draws with which the client's probabilistic throttles decide.
    Admission = 0xf135_7aea_2e62_a9c5,
    /// Times at which a limiter renews its baseline. The limiter compares later measurements with this baseline.
    Probe = 0x2545_f491_4f6c_dd1d,
    /// Random draw of the kind of an op's requests. The draw is keyed by op and not by attempt, so every attempt of an
    /// op has the same kind.
    RequestKind = 0x9fb2_1c65_1e98_df25,
    /// Random draw of the API key of an op's requests. The draw is keyed by op and not by attempt, so every attempt of
    /// an op has the same key.
    ApiKey = 0xdb4f_0b91_75ae_2165,
    /// Random figures of the servers on which `loadgen recommend` tries settings.
    Setting = 0x5851_f42d_4c95_7f2d,
}

#[inline]
pub fn draws(seed: u64, purpose: Purpose, op: u64, attempt: u32) -> Draws {
    let mut key = mix(seed ^ purpose as u64);
    key = mix(key ^ op.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    key = mix(key ^ u64::from(attempt).wrapping_mul(0xd6e8_feb8_6659_fd93));
    Draws::from_seed(key.to_le_bytes())
}

/// Draws a random number in `[0, 1)` with 53 random bits.
#[inline]
pub fn unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_gives_the_same_draw() {
        assert_eq!(draws(1, Purpose::Backoff, 7, 2).next_u64(), draws(1, Purpose::Backoff, 7, 2).next_u64());
    }

    #[test]
    fn neighbouring_keys_are_uncorrelated() {
        let series = |seed: u64, attempt: u32| {
            (0..4096_u64)
                .map(|op| unit(&mut draws(seed, Purpose::Network, op, attempt)) - 0.5)
                .collect::<Vec<_>>()
        };
        let correlation = |a: &[f64], b: &[f64]| {
            let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            let (aa, bb): (f64, f64) = (a.iter().map(|x| x * x).sum(), b.iter().map(|x| x * x).sum());
            product / (aa * bb).sqrt()
        };
        let base = series(1, 1);
        for other in [series(2, 1), series(1, 2), series(3, 1), series(2, 2)] {
            // Four standard errors of a correlation over 4096 independent pairs.
            assert!(correlation(&base, &other).abs() < 4.0 / 64.0);
        }
        let mean: f64 = base.iter().sum::<f64>() / 4096.0;
        assert!(mean.abs() < 4.0 * 0.2887 / 64.0, "{mean}");
    }
}
