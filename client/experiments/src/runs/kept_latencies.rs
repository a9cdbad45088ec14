//! Op latencies that are kept of every completed run, as a compact histogram.

use std::time::Duration;

use hdrhistogram::serialization::{Serializer, V2Serializer};
use loadgen_core::Run;

/// Op latencies of a completed run, as an encoded histogram. They can be kept for every run, because the histogram is small: the encoding
/// spends no space on empty buckets.
pub struct KeptLatencies {
    /// Histogram of op latencies in the V2 encoding of `HdrHistogram`, uncompressed.
    pub encoded: Vec<u8>,
    /// Time from the start of the run to the end of its last op. If the run stalled later than that, time until the stall was detected.
    pub length: Duration,
}

impl KeptLatencies {
    pub fn new(run: &Run) -> Self {
        let measured = run.measurements();
        let mut encoded = Vec::new();
        V2Serializer::new()
            .serialize(&measured.op_latency.histogram(), &mut encoded)
            .expect("writing to memory cannot fail, and op counts need far less than 63 bits");
        let end = measured.last_end.max(run.stalled_at()).unwrap_or_default();
        Self { encoded, length: end.since(vocabulary::Instant::ORIGIN) }
    }
}
