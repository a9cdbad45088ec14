//! Calls of clients that name no ops. A call consists of requests with the same method and target, up to the first one that is served. The
//! requests of a call count as the attempts of one op. Of more than `MAX_CALLS` calls, the least recently used one is evicted.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZeroU64;

use axum::http::{Method, Uri};
use mockserver_core::Keys;

const MAX_CALLS: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Calls(Keys<Call>);

/// Hash of a method and a target. Two of 10 000 different calls have the same hash with a probability of 3 · 10⁻¹².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallKey(NonZeroU64);

#[derive(Debug, Default)]
struct Call {
    op: u64,
    /// Number of attempts so far; 0 once the call has ended.
    attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallAttempt {
    call: CallKey,
    /// Number of the call's op. It is unique, so an answer to an earlier call does not end a later one.
    pub(crate) op: u64,
    pub(crate) number: u32,
}

impl CallKey {
    pub(crate) fn new(method: &Method, target: &Uri) -> Self {
        let mut hasher = DefaultHasher::new();
        (method, target.path(), target.query()).hash(&mut hasher);
        Self(NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN))
    }
}

impl Calls {
    pub(crate) fn on_request(&mut self, call: CallKey, next_op: impl FnOnce() -> u64) -> CallAttempt {
        let state = self.0.state(call.0.get().into(), Call::default);
        if state.attempts == 0 {
            state.op = next_op();
        }
        state.attempts = state.attempts.saturating_add(1);
        CallAttempt { call, op: state.op, number: state.attempts }
    }

    pub(crate) fn on_service(&mut self, attempt: CallAttempt) {
        let state = self.0.get_mut(attempt.call.0.get().into());
        if let Some(state) = state.filter(|state| state.op == attempt.op) {
            state.attempts = 0;
        }
    }
}

impl Default for Calls {
    fn default() -> Self {
        Self(Keys::new(MAX_CALLS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends requests with these targets, and returns the op and the number of each.
    fn sent(calls: &mut Calls, ops: &mut u64, targets: &[&str]) -> Vec<(u64, u32)> {
        let mut send = |target: &&str| {
            let attempt = calls.on_request(CallKey::new(&Method::GET, &target.parse().unwrap()), || {
                *ops += 1;
                *ops
            });
            (attempt.op, attempt.number)
        };
        targets.iter().map(&mut send).collect()
    }

    #[test]
    fn requests_of_one_method_and_target_are_one_call() {
        let at = |method, target: &str| CallKey::new(&method, &target.parse().unwrap());
        assert_eq!(at(Method::GET, "/a?b=1"), at(Method::GET, "http://host/a?b=1"));
        for (method, target) in [(Method::POST, "/a?b=1"), (Method::GET, "/a"), (Method::GET, "/a?b=2")] {
            assert_ne!(at(Method::GET, "/a?b=1"), at(method, target));
        }
        let (mut calls, mut ops) = (Calls::default(), 0);
        let numbers = sent(&mut calls, &mut ops, &["/a", "/b", "/a", "/a", "/b"]);
        assert_eq!(numbers, [(1, 1), (2, 1), (1, 2), (1, 3), (2, 2)]);
    }

    #[test]
    fn only_answers_to_the_current_call_end_it() {
        let mut calls = Calls::default();
        let at = CallKey::new(&Method::GET, &Uri::from_static("/"));
        let early = calls.on_request(at, || 1);
        let late = calls.on_request(at, || 1);
        calls.on_service(early);
        let next = calls.on_request(at, || 2);
        assert_eq!((late.number, next.number, next.op), (2, 1, 2));
        calls.on_service(late);
        assert_eq!(calls.on_request(at, || 3).number, 2, "the second call goes on");
    }

    #[test]
    fn the_call_that_was_used_longest_ago_is_forgotten() {
        let (mut calls, mut ops) = (Calls::default(), 0);
        let targets: Vec<String> = (0..MAX_CALLS).map(|number| format!("/{number}")).collect();
        sent(&mut calls, &mut ops, &targets.iter().map(String::as_str).collect::<Vec<_>>());
        let most = u64::from(MAX_CALLS);
        assert_eq!(sent(&mut calls, &mut ops, &["/0", "/new"]), [(1, 2), (most + 1, 1)]);
        assert_eq!(sent(&mut calls, &mut ops, &["/0", "/1"]), [(1, 3), (most + 2, 1)]);
    }
}
