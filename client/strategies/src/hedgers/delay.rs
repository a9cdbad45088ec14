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

use vocabulary::{Configurable, Parameter};

use crate::error::SpecError;
use crate::hedger::{AfterFailure, Copies, Hedger, MAX_COPIES};
use crate::part::{Part, PartKind};
use crate::part_config::{Context, PartConfig};
use crate::{Candidate, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Hedging {
    delay: Duration,
    copies: u32,
    after_failure: AfterFailure,
}

impl Default for Hedging {
    /// Returns the default settings, which are those of the example in gRPC's proposal A6.
    fn default() -> Self {
        Self { delay: Duration::from_millis(500), copies: 3, after_failure: AfterFailure::Next }
    }
}

impl Configurable for Hedging {
    const NAME: &'static str = "hedging";
    const SUMMARY: &'static str = "sends copies of an attempt that is not answered in time";
    const RULE: &'static str = "a copy each `delay` while no attempt of the op has succeeded, `copies` of them at most; the first \
                                success ends the others; limiters and budgets must let a copy go at its instant, else it is not \
                                sent; when all have failed, the retry policy decides. The mock server draws how long the work of \
                                an op takes once, for all its attempts: copies shorten ways, queues and losses, not work that is \
                                long by itself";
    const SOURCE: &'static str =
        "gRPC proposal A6, hedging; App-vNext/Polly src/Polly.Core/Hedging/HedgingStrategyOptions.TResult.cs";
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::duration("delay", "time until the next copy; 0 sends all at once", |config| {
            &mut config.delay
        }),
        Parameter::count("copies", "copies beside an attempt", (1, MAX_COPIES), |config| &mut config.copies),
        Parameter::choice(
            "after-failure",
            "after one fails: send the next copy at once, wait for the others, or fail the op",
            |config| &mut config.after_failure,
        ),
    ];
}

impl PartConfig for Hedging {
    const KIND: PartKind = PartKind::Hedging;

    fn build(self, _context: &mut Context) -> Result<Part, SpecError> {
        Ok(Part::Hedging(Box::new(self)))
    }
}

impl Hedger for Hedging {
    fn on_sent(&mut self, _now: Instant, _launch: &Candidate) -> Option<Copies> {
        Some(Copies { count: self.copies, delay: self.delay })
    }

    fn after_failure(&self) -> AfterFailure {
        self.after_failure
    }
}
