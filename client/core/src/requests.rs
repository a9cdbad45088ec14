//! Request kind and API key of each op (operation) of a run, drawn at random from the run's seed.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;

use tailback::Method;
use vocabulary::{Purpose, Rng, draws};

use crate::mix::{Mix, RequestKind};

pub const MAX_API_KEYS: u32 = 1_000_000;

/// Request settings that differ by op. The request kind and the API key of an op are drawn from the run's seed and the
/// op's number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    pub mix: Option<Mix>,
    /// Bodies of the kinds of requests that have one of their own, by the number of the kind.
    pub bodies: BTreeMap<usize, Arc<[u8]>>,
    /// Number of API keys, each of which is equally likely; `None` for requests without a key.
    pub api_keys: Option<NonZero<u32>>,
    /// Whether an op is given up at its first failure if its method is not idempotent. Applies only to ops whose
    /// request kind was drawn.
    pub unsafe_fail_once: bool,
}

impl Requests {
    pub fn are_alike(&self) -> bool {
        self.mix.is_none() && self.api_keys.is_none()
    }

    pub fn kind_of(&self, seed: u64, op: u64) -> Option<&RequestKind> {
        let mix = self.mix.as_ref()?;
        mix.kinds().get(mix.kind_of(seed, op))
    }

    pub fn api_key_of(&self, seed: u64, op: u64) -> Option<u32> {
        let keys = self.api_keys?.get();
        let product = u128::from(draws(seed, Purpose::ApiKey, op, 0).next_u64()) * u128::from(keys);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is below the number of keys, which has 32 bits"
        )]
        let number = (product >> 64) as u32;
        Some(number)
    }

    #[inline]
    pub(crate) fn method_of(&self, seed: u64, op: u64) -> Option<Method> {
        self.mix.as_ref()?;
        self.kind_of(seed, op).map(RequestKind::rules_method)
    }
}

/// Returns the value of the `Authorization` header for the API key with the number `api_key` (RFC 6750, section 2.1).
/// The values of all API keys have the same length.
pub fn authorization(api_key: u32) -> String {
    format!("Bearer key-{api_key:07}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_drawn_evenly_and_apart_from_kinds() {
        const OPS: u64 = 100_000;
        let mix: Mix = "GET /a; GET /b".parse().unwrap();
        let requests = Requests { mix: Some(mix.clone()), api_keys: NonZero::new(4), ..Requests::default() };
        let mut counts = [[0_u64; 4]; 2];
        for op in 0..OPS {
            counts[mix.kind_of(3, op)][requests.api_key_of(3, op).unwrap() as usize] += 1;
        }
        // Five standard deviations of a binomial distribution with probability 1/8.
        let bound = 5.0 * (OPS as f64 / 8.0 * 7.0 / 8.0).sqrt();
        for count in counts.iter().flatten() {
            assert!((*count as f64 - OPS as f64 / 8.0).abs() <= bound, "{counts:?}");
        }
    }

    #[test]
    fn ops_that_are_all_alike_have_neither() {
        let alike = Requests::default();
        assert!(alike.are_alike());
        assert_eq!((alike.kind_of(1, 1), alike.api_key_of(1, 1), alike.method_of(1, 1)), (None, None, None));
        let one = Requests { api_keys: NonZero::new(1), ..Requests::default() };
        assert_eq!((one.api_key_of(9, 9), one.are_alike()), (Some(0), false));
        assert_eq!(
            (authorization(17), authorization(999_999)),
            ("Bearer key-0000017".into(), "Bearer key-0999999".into())
        );
    }
}
