//! `least-gap`: a minimum time between attempts.
//!
//! Source: PyGithub/PyGithub `github/Requester.py` (`__deferRequest`, `__recordRequestTime`). `PyGithub` leaves 0.25 s
//! between requests and 1 s between writes, counted from the *end* of the previous request. It sends retries of a
//! request without a gap. Its behaviour corresponds to `from=end,of=ops`.
//!
//! Octokit (octokit/plugin-throttling.js `src/index.ts`) counts from the start of the previous request. It also leaves
//! 1 s between writes and allows only one write at a time, which corresponds to `fixed-window`.

use std::time::Duration;

use crate::part_config::part;
use crate::{Admit, AttemptEnd, Instant, Limiter, LimiterView, Outcome, Status, Until};
use vocabulary::{choices, parameters};

choices! {
    enum From {
        Start = "start",
        /// The gap starts at the end of the attempt that ended last.
        End = "end",
    }
}

choices! {
    enum Of {
        Attempts = "attempts",
        Ops = "ops",
    }
}

parameters! {
    pub(crate) struct LeastGapConfig = "least-gap" {
        gap: Duration = Duration::from_millis(250), "minimum time between attempts";
        from: choice From = From::Start,
            "whether the gap is measured from the start or the end of the previous attempt";
        of: choice Of = Of::Attempts,
            "whether the gap applies to all attempts, or only to the first attempt of each op";
    }
    summary = "keeps a minimum time between attempts";
    rule = "an attempt waits until `gap` has passed since the previous attempt started (from=start), or \
        since the latest end of an attempt (from=end; until then, attempts do not wait). With of=ops, \
        retries do not wait";
    source = "PyGithub/PyGithub github/Requester.py (seconds_between_requests, seconds_between_writes); \
        octokit/plugin-throttling.js src/index.ts";
}

part!(LeastGapConfig: Limiter, |config, _| LeastGap { config, last: None, before: None });

struct LeastGap {
    config: LeastGapConfig,
    /// Instant at which the current gap started. `None` before the first attempt was sent, or, with `from=end`, before
    /// the first attempt has ended.
    last: Option<Instant>,
    /// Instant at which the previous gap started. If the server defers the latest attempt, the previous gap is
    /// restored.
    before: Option<Instant>,
}

impl Limiter for LeastGap {
    fn poll(&self, now: Instant, view: &LimiterView) -> Admit {
        let passes = self.config.of == Of::Ops && view.candidate.attempt > 1;
        match self.last.map(|last| last + self.config.gap) {
            Some(next) if next > now && !passes => Admit::Wait(Until::At(next)),
            _ => Admit::Go,
        }
    }

    fn on_sent(&mut self, now: Instant, _view: &LimiterView) {
        if self.config.from == From::Start {
            self.before = self.last.replace(now);
        }
    }

    fn on_ended(&mut self, now: Instant, _ended: &AttemptEnd, outcome: &Outcome) {
        match (self.config.from, outcome.status) {
            (From::Start, Status::Deferred) => self.last = self.before,
            (From::End, Status::Deferred) | (From::Start, _) => {}
            (From::End, _) => self.last = Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{OK, REJECTED, ended, launch, view};

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn gap(gap: u64, from: From, of: Of) -> LeastGap {
        let config = LeastGapConfig { gap: Duration::from_millis(gap), from, of };
        LeastGap { config, last: None, before: None }
    }

    fn wait(limiter: &LeastGap, now: u64, seq: u64) -> u64 {
        match limiter.poll(ms(now), &view(0, seq)) {
            Admit::Wait(Until::At(at)) => u64::try_from(at.since(ms(now)).as_millis()).expect("short"),
            other => {
                assert_eq!(other, Admit::Go);
                0
            }
        }
    }

    /// Recorded with `PyGithub` 2.10.0: requests one after another, each of a few milliseconds. The waits are 0.2499
    /// s or 0.25 s for GET, and 1 s for POST, whatever the duration of the request.
    #[test]
    fn pygithub_waits_from_the_end_of_the_request_before() {
        for millis in [250, 1000] {
            let mut limiter = gap(millis, From::End, Of::Ops);
            let mut now = 0;
            for op in 0..20 {
                let waited = wait(&limiter, now, op);
                assert_eq!(waited, if op == 0 { 0 } else { millis });
                now += waited;
                limiter.on_sent(ms(now), &view(0, op));
                now += 3;
                limiter.on_ended(ms(now), &ended(op, 1), &OK);
            }
        }
    }

    /// Recorded with `PyGithub` 2.10.0: an op that receives 500 waits before its first request, and its ten retries
    /// follow at once.
    #[test]
    fn retries_of_an_op_pass_where_only_ops_keep_the_gap() {
        for (of, waits) in [(Of::Ops, false), (Of::Attempts, true)] {
            let mut limiter = gap(250, From::End, of);
            limiter.on_sent(ms(0), &view(0, 0));
            limiter.on_ended(ms(5), &ended(0, 1), &REJECTED);
            let retry = LimiterView { candidate: launch(0, Some(Status::Rejected)), ..view(0, 1) };
            assert_eq!(limiter.poll(ms(5), &retry) != Admit::Go, waits);
        }
    }

    #[test]
    fn gaps_from_the_start_apply_whatever_the_outcome() {
        let mut limiter = gap(1000, From::Start, Of::Attempts);
        assert_eq!(wait(&limiter, 0, 0), 0);
        limiter.on_sent(ms(0), &view(0, 0));
        assert_eq!((wait(&limiter, 0, 1), wait(&limiter, 999, 1), wait(&limiter, 1000, 1)), (1000, 1, 0));
        limiter.on_ended(ms(700), &ended(0, 1), &OK);
        assert_eq!(wait(&limiter, 700, 1), 300);
    }

    #[test]
    fn what_the_server_had_no_room_for_leaves_no_gap() {
        let mut limiter = gap(1000, From::Start, Of::Attempts);
        limiter.on_sent(ms(0), &view(0, 0));
        limiter.on_sent(ms(1000), &view(0, 1));
        limiter.on_ended(ms(1000), &ended(1, 2), &Outcome::plain(Status::Deferred));
        assert_eq!(wait(&limiter, 1000, 1), 0);
    }
}
