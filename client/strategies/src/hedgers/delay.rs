//! `hedging`: sends copies of an attempt at fixed intervals, until one of the attempts succeeds.
//!
//! Source: grpc/proposal `A6-client-retries.md`, "Hedging Policy". The options of gRPC correspond to parameters of this
//! crate: `hedgingDelay` to `delay`, `maxAttempts` to `copies + 1`, and `nonFatalStatusCodes` to `retry-on`. After a
//! failure with a status that `retry-on` selects, the next copy is sent at once. The server's push-back header sets the
//! instant of the next copy, or forbids more copies. App-vNext/Polly
//! `src/Polly.Core/Hedging/HedgingStrategyOptions.TResult.cs` (1 copy after 2 s) works in the same way but has no
//! push-back.
//!
//! If the retry throttle of gRPC does not admit a copy, the proposal A6 requires: "the hedged request is cancelled, and
//! if there are no other already-sent hedged RPCs the failure is returned". So copies never wait in a queue.

use std::time::Duration;

use vocabulary::parameters;

use crate::hedger::{AfterFailure, Copies, Hedger, MAX_COPIES};
use crate::part_config::part;
use crate::{Candidate, Instant};

parameters! {
    pub(crate) struct Hedging = "hedging" {
        delay: Duration = Duration::from_millis(500),
            "time between one copy and the next; 0 sends all copies at once";
        copies: u32 = 3, "maximum number of copies of an attempt", 1..=MAX_COPIES;
        after_failure: choice AfterFailure = AfterFailure::Next, "what happens when one of the attempts \
            fails: the next copy is sent at once, the client waits for the other attempts, or the op fails";
    }
    summary = "sends copies of an attempt that was not answered within a fixed time";
    rule = "while no attempt of the op has succeeded, a copy is sent every `delay`, at most `copies` of \
        them. The first success ends the other attempts. A copy that a limiter or budget does not admit at \
        its instant is not sent. When all attempts have failed, the retry policy decides. The mock server \
        draws the work time of an op once and uses it for all attempts of the op. So copies help against \
        slow networks, queues and lost messages, but not against long work";
    source = "gRPC proposal A6, hedging; App-vNext/Polly \
        src/Polly.Core/Hedging/HedgingStrategyOptions.TResult.cs";
}

part!(Hedging: Hedging, |config, _| config);

impl Hedger for Hedging {
    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Option<Copies> {
        Some(Copies { count: self.copies, delay: self.delay })
    }

    fn after_failure(&self) -> AfterFailure {
        self.after_failure
    }
}
