//! What the client is told of the answers of a plain cap: with each verdict nearly the same.

use loadgen_core::{AttemptKey, Completion, Input};
use mockserver_core::{Answer, CapServer, Config, RequestId, Verdict};
use tailback::Reading;
use vocabulary::Instant;

use crate::heard::Heard;

/// Made once, and filled in for every answer: a completion is large, and most of it stays.
#[derive(Debug)]
pub(crate) struct CapInputs {
    accepted: Input,
    rejected: Input,
    conflict: Input,
    deferred: Input,
}

impl CapInputs {
    pub(crate) fn new<T: Copy>(config: &Config, server: &CapServer<T>, reading: &Reading) -> Self {
        let of = |verdict| {
            let answer = Answer {
                id: RequestId(0),
                verdict,
                advice: server.advice(verdict),
                at: Instant::ORIGIN,
                busy: 0,
                cap: None,
                reply: None,
                version: 0,
                extras: None,
            };
            let Heard { outcome, cause, server, told } = Heard::plain(&answer, config, reading);
            Input::Ended(Completion {
                attempt: AttemptKey { slot: 0, serial: 0 },
                sent_at: Instant::ORIGIN,
                outcome,
                server,
                told,
                cause,
                by_gateway: false,
            })
        };
        Self {
            accepted: of(Verdict::Accepted),
            rejected: of(Verdict::Rejected),
            conflict: of(Verdict::Conflict),
            deferred: of(Verdict::Deferred),
        }
    }

    /// That an attempt, sent at an instant, ended with this verdict; and what was busy, and of how much.
    #[inline]
    pub(crate) fn ended(
        &mut self,
        verdict: Verdict,
        attempt: AttemptKey,
        sent_at: Instant,
        (busy, cap): (u32, u32),
    ) -> &Input {
        let input = match verdict {
            Verdict::Accepted => &mut self.accepted,
            Verdict::Conflict => &mut self.conflict,
            Verdict::Deferred => &mut self.deferred,
            // A plain cap knows no failures.
            Verdict::Rejected | Verdict::Failed => &mut self.rejected,
        };
        if let Input::Ended(completion) = input {
            (completion.attempt, completion.sent_at) = (attempt, sent_at);
            if let Some(seen) = &mut completion.server {
                // One by one: what was written just now in parts would be read again as a whole, for which the processor waits.
                seen.busy = busy;
                seen.cap = Some(cap);
            }
        }
        input
    }
}
