//! Attempts for the tests of recorders.

use loadgen_core::Sample;
use tailback::Status;
use vocabulary::Instant;

/// Returns a success that was sent and ended at these milliseconds; its op arrived at zero.
pub(crate) fn sample(op: u64, attempt: u32, sent_ms: u64, ended_ms: u64) -> Sample {
    Sample {
        op,
        attempt,
        client: 0,
        serial: 0,
        arrived: Instant::ORIGIN,
        due: Instant::from_millis(sent_ms),
        sent: Instant::from_millis(sent_ms),
        is_sent: true,
        ended: Instant::from_millis(ended_ms),
        status: Status::Succeeded,
        cause: None,
        by_gateway: false,
        window: None,
    }
}

pub(super) fn rejected(sample: Sample) -> Sample {
    Sample { status: Status::Rejected, ..sample }
}
