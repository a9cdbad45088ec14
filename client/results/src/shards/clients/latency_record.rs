//! Record of latencies in a shard's document: sums exact to the nanosecond, and a histogram in the standard format of `HdrHistogram`.
//! Merging the records of shards yields the same figures as recording all latencies together.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use loadgen_core::histogram::{MAX_ATTEMPTS_PER_OP, MAX_US, restored, with_bound};
use loadgen_core::{Latencies, LatencySums};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latencies of one kind, such as latencies of rejected attempts: their sums and their histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct LatencyRecord {
    #[serde(flatten)]
    pub sums: SumsRecord,
    pub histogram: String,
}

/// Sums of latencies in nanoseconds. A sum is written as text if it may exceed the range of JSON numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct SumsRecord {
    pub count: u64,
    /// Shortest recorded latency, in nanoseconds; null if no latency was recorded.
    pub min_ns: Option<u64>,
    /// Longest recorded latency, in nanoseconds; null if no latency was recorded.
    pub max_ns: Option<u64>,
    pub sum_ns: String,
    /// Sum of the squares of all recorded latencies, in square nanoseconds.
    pub sum_ns2: String,
}

impl SumsRecord {
    pub(super) fn new(sums: &LatencySums) -> Self {
        let any = sums.count > 0;
        Self {
            count: sums.count,
            min_ns: any.then_some(sums.min_nanos),
            max_ns: any.then_some(sums.max_nanos),
            sum_ns: sums.sum.to_string(),
            sum_ns2: sums.squares.to_string(),
        }
    }

    pub(super) fn read(&self) -> Option<LatencySums> {
        let none = LatencySums::default();
        Some(LatencySums {
            count: self.count,
            min_nanos: self.min_ns.unwrap_or(none.min_nanos),
            max_nanos: self.max_ns.unwrap_or(none.max_nanos),
            sum: self.sum_ns.parse().ok()?,
            squares: self.sum_ns2.parse().ok()?,
        })
    }
}

impl LatencyRecord {
    pub(super) fn new(latencies: &Latencies) -> Self {
        Self { sums: SumsRecord::new(&latencies.sums()), histogram: encoded(&latencies.histogram()) }
    }

    /// Parses the latencies. Returns `None` if the histogram is invalid or contradicts the sums.
    pub(super) fn read(&self) -> Option<Latencies> {
        Latencies::restored(&self.sums.read()?, decoded(&self.histogram)?)
    }
}

pub(super) fn attempts_per_op(histogram: &Histogram<u64>) -> String {
    encoded(&with_bound(histogram, MAX_ATTEMPTS_PER_OP))
}

pub(super) fn read_attempts_per_op(text: &str) -> Option<Histogram<u64>> {
    restored(decoded(text)?, MAX_ATTEMPTS_PER_OP)
}

fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // An error is impossible, because writing to memory does not fail and the histogram is small enough.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

/// Maximum length of an encoded histogram, in characters. It is sufficient, because histograms that `loadgen` writes have 28 672 buckets of
/// at most nine bytes.
const LONGEST: usize = 1 << 20;

/// Maximum size of a histogram in bytes after decompression.
const MAX_INFLATED: u64 = 1 << 20;

/// Number of bytes before the counts of a histogram. They contain the cookie, length, offset, digits, lowest value, highest value and
/// ratio.
const HEAD: usize = 40;

const COOKIE: u32 = 0x1c84_9313;

/// Decodes a histogram from an untrusted file, in which a few bytes could demand gigabytes of memory. Therefore, the declared length must
/// match the data. The histogram must also have no more buckets than histograms that `loadgen` writes.
fn decoded(text: &str) -> Option<Histogram<u64>> {
    let bytes = STANDARD.decode(text).ok().filter(|_| text.len() <= LONGEST)?;
    // The first 8 bytes of an encoded histogram are a cookie and a length. The compressed part follows.
    let deflated = bytes.get(8..)?;
    let mut inflated = Vec::new();
    ZlibDecoder::new(deflated).take(MAX_INFLATED).read_to_end(&mut inflated).ok()?;
    let (head, counts) = inflated.split_at_checked(HEAD)?;
    let length = u32::from_be_bytes(head[4..8].try_into().ok()?);
    let digits = u32::from_be_bytes(head[12..16].try_into().ok()?);
    let greatest = u64::from_be_bytes(head[24..32].try_into().ok()?);
    if head[..4] != COOKIE.to_be_bytes()
        || length as usize != counts.len()
        || digits != 3
        || greatest > MAX_US
    {
        return None;
    }
    Deserializer::new().deserialize(&mut inflated.as_slice()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    /// Returns a histogram of a few bytes that declares this many bytes of counts, these digits, and this maximum in microseconds.
    fn bomb(length: u32, digits: u32, greatest: u64) -> String {
        let mut head = [COOKIE, length, 0, digits].map(u32::to_be_bytes).concat();
        head.extend([1, greatest, 1_f64.to_bits()].map(u64::to_be_bytes).concat());
        let mut bytes = [0x1c84_9314_u32, 0].map(u32::to_be_bytes).concat();
        let mut deflater = ZlibEncoder::new(&mut bytes, Compression::best());
        deflater.write_all(&head).and_then(|()| deflater.write_all(&[0; 9])).unwrap();
        drop(deflater);
        STANDARD.encode(bytes)
    }

    #[test]
    fn histograms_that_need_more_memory_than_ours_are_refused() {
        assert!(decoded(&bomb(9, 3, MAX_US)).is_some());
        for (length, digits, greatest) in [(u32::MAX, 3, MAX_US), (9, 5, MAX_US), (9, 3, u64::MAX)] {
            assert!(decoded(&bomb(length, digits, greatest)).is_none(), "{length} {digits} {greatest}");
        }
        let mut zeros = [0x1c84_9314_u32, 0].map(u32::to_be_bytes).concat();
        let mut deflater = ZlibEncoder::new(&mut zeros, Compression::best());
        deflater.write_all(&vec![0; 64 << 20]).unwrap();
        drop(deflater);
        assert!(decoded(&STANDARD.encode(zeros)).is_none());
    }

    #[test]
    fn latencies_are_read_as_they_were_written_and_garbage_is_not() {
        let mut latencies = Latencies::default();
        for nanos in [0, 999, 1_234_567, 86_400_000_000_000, u64::MAX / 2] {
            latencies.record(Duration::from_nanos(nanos));
        }
        for latencies in [latencies, Latencies::default()] {
            let record = LatencyRecord::new(&latencies);
            let again = record.read().unwrap();
            assert_eq!((again.figures(), again.sums()), (latencies.figures(), latencies.sums()));
            assert_eq!(LatencyRecord::new(&again), record);
            let other = |histogram: &str| LatencyRecord { histogram: histogram.to_owned(), ..record.clone() };
            for wrong in ["", "!", "AAAA", &record.histogram[..20]] {
                assert!(other(wrong).read().is_none(), "{wrong}");
            }
            let count = record.sums.count + 1;
            let contradicts = SumsRecord { count, ..record.sums.clone() };
            assert!(LatencyRecord { sums: contradicts, ..record }.read().is_none());
        }
    }
}
