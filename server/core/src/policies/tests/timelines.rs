//! Golden timelines of rate algorithms: instants in milliseconds, each with the expected decision.

use std::time::Duration;

use vocabulary::Instant;

use crate::policies::{Decision, RateAlgorithm};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    A,
    /// The request is accepted after this wait in milliseconds.
    After(u64),
    /// The request is rejected with this exact wait in milliseconds, rounded up.
    R(u64),
}

pub(crate) use Expected::{A, After, R};

/// Expected decisions of every token bucket that holds two tokens and gets one token per second.
pub(crate) const BUCKET_OF_TWO: &[(u64, Expected)] = &[
    (0, A),
    (0, A),
    (0, R(1000)),
    (400, R(600)),
    (1000, A),
    (1000, R(1000)),
    (3500, A),
    (3500, A),
    (3500, R(1000)),
];

pub(crate) fn assert_timeline<L: RateAlgorithm>(algorithm: &L, timeline: &[(u64, Expected)]) {
    let mut state = algorithm.fresh();
    for (index, (at_ms, expected)) in timeline.iter().enumerate() {
        let at = Instant::from_millis(*at_ms);
        algorithm.advance(&mut state, at);
        let ruling = algorithm.ask(&state, at, 1);
        let told = match ruling {
            Decision::Pass => A,
            Decision::PassAfter(wait) => After(whole_millis(wait)),
            Decision::Reject(Some(wait)) => R(whole_millis(wait)),
            Decision::Reject(None) | Decision::Queue => panic!("request {index} at {at_ms} ms: {ruling:?}"),
        };
        assert_eq!(told, *expected, "request {index} at {at_ms} ms");
        match ruling {
            Decision::Reject(Some(wait)) => {
                algorithm.turn_away(&mut state, at);
                assert_exact(algorithm, &timeline[..=index], at, wait);
            }
            _ => algorithm.charge(&mut state, at, 1),
        }
    }
}

/// Checks the wait of the last request in the timeline, which was rejected. After exactly this wait, the request must be accepted. A
/// nanosecond earlier, the decision must be worse.
fn assert_exact<L: RateAlgorithm>(algorithm: &L, timeline: &[(u64, Expected)], at: Instant, wait: Duration) {
    let [early, in_time] = [wait.saturating_sub(Duration::from_nanos(1)), wait].map(|wait| {
        let mut state = algorithm.fresh();
        for (at_ms, expected) in timeline {
            let at = Instant::from_millis(*at_ms);
            algorithm.advance(&mut state, at);
            match expected {
                R(_) => algorithm.turn_away(&mut state, at),
                A | After(_) => algorithm.charge(&mut state, at, 1),
            }
        }
        algorithm.advance(&mut state, at + wait);
        algorithm.ask(&state, at + wait, 1)
    });
    assert!(!matches!(in_time, Decision::Reject(_)), "{algorithm:?} at {at}: {wait:?} is too short");
    assert!(early != in_time && early != Decision::Pass, "{algorithm:?} at {at}: {wait:?} is too long");
}

fn whole_millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_nanos().div_ceil(1_000_000)).expect("short")
}
