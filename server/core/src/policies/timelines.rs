//! Golden timelines of laws: instants in milliseconds, and what becomes of a request then.

use vocabulary::Instant;

use crate::policies::gate::Ruling;
use crate::policies::law::Law;

/// Accepted.
pub(crate) const A: Option<u64> = None;

/// Rejected, with this exact wait in milliseconds, rounded up.
#[expect(non_snake_case, clippy::unnecessary_wraps, reason = "beside `A` it reads as timelines are written")]
pub(crate) const fn R(wait_ms: u64) -> Option<u64> {
    Some(wait_ms)
}

/// Every request of the timeline, each of cost 1, meets what stands there; and a wait is exact: the request would be accepted
/// when it is over, and not a nanosecond sooner.
pub(crate) fn assert_timeline<L: Law>(law: &L, timeline: &[(u64, Option<u64>)]) {
    for count in 1..=timeline.len() {
        let mut state = law.fresh();
        for (index, (at_ms, expected)) in timeline[..count].iter().enumerate() {
            let at = Instant::from_millis(*at_ms);
            law.advance(&mut state, at);
            match (law.ask(&state, at, 1), expected) {
                (Ruling::Pass, None) => law.charge(&mut state, at, 1),
                (Ruling::Reject(Some(wait)), Some(wait_ms)) => {
                    let rounded = wait.as_nanos().div_ceil(1_000_000);
                    assert_eq!(rounded, u128::from(*wait_ms), "request {index} at {at_ms} ms");
                    if index + 1 == count {
                        let just_before = Instant::from_nanos((at + wait).as_nanos() - 1);
                        law.advance(&mut state, just_before);
                        let early = law.ask(&state, just_before, 1);
                        assert!(early != Ruling::Pass, "request {index} at {at_ms} ms: {wait:?} is too long");
                        law.advance(&mut state, at + wait);
                        assert_eq!(
                            law.ask(&state, at + wait, 1),
                            Ruling::Pass,
                            "request {index} at {at_ms} ms"
                        );
                    }
                }
                (ruling, _) => panic!("request {index} at {at_ms} ms: {ruling:?}"),
            }
        }
    }
}
