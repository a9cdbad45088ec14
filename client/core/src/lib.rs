//! Client side of an experiment: workload, client state machine, measurements. This crate does no I/O and reads no
//! clock. Callers pass in the current time (`now`) and the seeds.
//!
//! A driver, in real or virtual time, passes inputs to [`Run::handle_input`]. It then calls [`Run::poll_output`]
//! repeatedly, until the result is the instant of the next call. All decisions and all counts are made in this crate.
//! Drivers only send attempts to a server and return its answers.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod arrival_rate;
mod arrivals;
mod cause;
mod classify;
mod conservation;
mod lower_bound;
mod measure;
mod mix;
mod rejected_when;
mod requests;
mod run;
mod snapshot;
mod stall;
mod workload;

pub use arrival_rate::{ArrivalRate, ArrivalRateError, RateStage};
pub use arrivals::Arrivals;
pub use cause::{Cause, ErrorKind, FailureCounts, FailureResult, StatusCount};
pub use classify::{Classifier, SuccessStatuses, SuccessStatusesError};
pub use conservation::{Conservation, Mismatch};
pub use lower_bound::{LeastCosts, LowerBound, Pace};
pub use measure::{
    AdviceFigures, AttemptCounts, Bin, Bins, DrawnGauge, EXACT_LATENCIES, EarlyFigures, Excess,
    ExcessFigures, FairnessFigures, Gauge, GivenUp, GivenUpCounts, Latencies, LatencyBar, LatencyFigures,
    LatencySums, Measurements, OpCounts, Point, RATE_LIMIT, REMAINING, RateFigures, RateLaw, SERIES_POINTS,
    Series, SteadyRate, TOLERABLE_EXCESS, WindowFigures, histogram,
};
pub use mix::{HIGHEST_COST, MAX_KINDS, Mix, MixError, RequestKind};
pub use rejected_when::{MAX_SEARCHED, RejectedWhen, RejectedWhenError};
pub use requests::{MAX_API_KEYS, Requests, authorization};
pub use run::{
    AdvisedWait, AttemptKey, AttemptResult, Completion, Input, Output, Refusal, Run, RunLog, Sample,
    SampleSink, SentAttempt, ServerSeen, ServerVerdict,
};
pub use snapshot::{Phase, Snapshot};
pub use stall::PlannedOutages;
pub use tailback::GaugeKind;
pub use workload::{ArrivalProcess, Group, OperationKind, RunConfig, Workload};
